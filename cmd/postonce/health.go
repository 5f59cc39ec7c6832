package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/postonce/postonce/internal/app/config"
)

const healthTimeout = 5 * time.Second

// health asks the running program's /readyz: the image has no shell and no
// curl to ask with.
func (p *program) health(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("health takes no arguments")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(cfg.HTTPAddr)
	if err != nil {
		return &config.Error{Variable: "HTTP_ADDR", Problem: "is no address: want host:port or :port"}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("not ready: nobody answers on %s: %w", cfg.HTTPAddr, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", body)
	}
	fmt.Fprintln(p.stdout, "ready")
	return nil
}
