package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/postonce/postonce/internal/app"
)

// Stamped by the build: -ldflags "-X main.version=v1.2.3 -X main.commit=abc".
var (
	version = "dev"
	commit  = ""
)

// build is the version and the commit of this binary.
func build() (number, revision string) {
	revision = commit
	if info, ok := debug.ReadBuildInfo(); ok && revision == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if revision == "" {
		revision = "unknown"
	}
	return version, revision
}

func (p *program) version(_ context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("version takes no arguments")
	}
	schema, err := app.SchemaVersion()
	if err != nil {
		return err
	}
	v, rev := build()
	fmt.Fprintf(p.stdout, "postonce %s\ncommit %s\nschema %d\n", v, rev, schema)
	return nil
}
