package fetch

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// guard decides about an address in the moment it is dialled: after name
// resolution, once per attempt, so that a name which changes its answer gains
// nothing.
type guard struct {
	allow  []netip.Prefix
	safe   *ssrf.Guardian
	dialed func(string, error)
}

func newGuard(cfg Config) *guard {
	return &guard{allow: cfg.AllowNets, safe: ssrf.New(ssrf.WithPorts(80, 443)), dialed: cfg.Dialed}
}

// control has the signature of net.Dialer.ControlContext.
func (g *guard) control(_ context.Context, network, address string, c syscall.RawConn) error {
	err := g.check(network, address, c)
	if g.dialed != nil {
		g.dialed(address, err)
	}
	return err
}

func (g *guard) check(network, address string, c syscall.RawConn) error {
	if ap, err := netip.ParseAddrPort(address); err == nil {
		ip := ap.Addr().Unmap().WithZone("")
		for _, p := range g.allow {
			if p.Contains(ip) {
				return nil
			}
		}
		// An IPv4 address written as IPv6 is judged as the IPv4 address that
		// the kernel would connect to.
		if err := g.safe.SafeAddr(ip); err != nil {
			return fmt.Errorf("dial %s: %w", ip, err)
		}
	}
	return g.safe.Safe(network, address, c)
}
