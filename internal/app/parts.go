package app

import (
	"context"
	"errors"
	"net/http"

	"github.com/postonce/postonce/internal/httpd"
)

// parts are the built components of the program.
type parts struct{}

func build(context.Context, *App) (*parts, error) { return &parts{}, nil }

func (p *parts) start(context.Context) error { return nil }

func (p *parts) stop(context.Context) {}

func (a *App) publicFace(rest http.Handler) httpd.Public {
	return httpd.Public{
		Checks: []httpd.Check{
			{Name: "database", Run: func(ctx context.Context) error {
				if err := a.db.Pool.Ping(ctx); err != nil {
					return errors.New("cannot be reached")
				}
				return nil
			}},
			{Name: "schema", Run: a.db.current},
		},
		Rest: rest,
	}
}
