package app

import (
	"context"
	"errors"

	"github.com/postonce/postonce/internal/app/config"
)

// DemoOptions are the demo's flags.
type DemoOptions struct {
	Addr    string // where the chat page listens
	DataDir string // empty: DATA_DIR, or ./data/demo
	Browser bool   // open the page
}

// Demo runs the whole product against the sandbox.
func Demo(context.Context, config.Config, DemoOptions, Process) error {
	return errors.New("not wired yet")
}
