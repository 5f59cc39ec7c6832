package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// Code names why nothing was fetched; stable, for texts and logs.
type Code string

// The codes.
const (
	CodeBadAddress  Code = "bad_address"
	CodePrivate     Code = "private_address"
	CodePort        Code = "unusual_port"
	CodeNoHost      Code = "no_such_host"
	CodeDNS         Code = "dns"
	CodeRefused     Code = "refused"
	CodeUnreachable Code = "unreachable"
	CodeTimeout     Code = "timeout"
	CodeTLS         Code = "tls"
	CodeConnection  Code = "connection"
	CodeLoop        Code = "redirect_loop"
	CodeTooManyHops Code = "too_many_redirects"
	CodeTooLarge    Code = "too_large"
	CodeEncoding    Code = "bad_encoding"
)

// Error is a fetch that brought no answer. Its text holds the host, never the
// rest of the address, nor what our own network looks like (the resolver, the
// private address that a name leads to): whoever added the source reads it.
type Error struct {
	Code Code
	Host string
	Err  error
}

func (e *Error) Error() string {
	s := "fetch"
	if e.Host != "" {
		s += " from " + e.Host
	}
	s += ": " + string(e.Code)
	if dns, ok := errors.AsType[*net.DNSError](e.Err); ok {
		return s + ": " + dns.Err
	}
	if e.Err != nil && e.Code != CodePrivate {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Local reports whether the fault may lie on our side of the network: a whole
// outage fails this way for every source at once.
func (e *Error) Local() bool {
	return e.Code == CodeDNS || e.Code == CodeUnreachable || e.Code == CodeTimeout || e.Code == CodeConnection || e.Code == CodeRefused
}

func fail(code Code, u *url.URL, err error) error { return &Error{Code: code, Host: u.Host, Err: err} }

// classify turns an error of the transport into a code.
func classify(err error, u *url.URL) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // its text repeats the whole address
	}
	return &Error{Code: codeOf(err), Host: u.Host, Err: err}
}

func codeOf(err error) Code {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, ssrf.ErrProhibitedPort):
		return CodePort
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork), errors.Is(err, ssrf.ErrInvalidHostPort):
		return CodePrivate
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return CodeNoHost
		}
		return CodeDNS
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &name), errors.As(err, &record), errors.As(err, &alert),
		strings.Contains(err.Error(), "tls:"), strings.Contains(err.Error(), "x509:"):
		return CodeTLS
	case isTimeout(err), errors.Is(err, context.Canceled):
		return CodeTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return CodeRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return CodeUnreachable
	}
	return CodeConnection
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

// Redact shows an address without what may be secret in it: user, password and
// the values of the query.
func Redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(address)"
	}
	u.User = nil
	u.Fragment = ""
	if u.RawQuery != "" {
		var kept []string
		for _, p := range strings.Split(u.RawQuery, "&") {
			name, _, found := strings.Cut(p, "=")
			if found {
				name += "=…"
			} else {
				name = "…"
			}
			kept = append(kept, name)
		}
		u.RawQuery = ""
		return fmt.Sprintf("%s?%s", u.String(), strings.Join(kept, "&"))
	}
	return u.String()
}
