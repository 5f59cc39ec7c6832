package fetch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter reads a Retry-After header, in seconds or as a date. It returns 0
// for what is absent, past, negative or no date: the caller's own back-off
// holds then.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(n) {
		return time.Duration(max(0, min(n, 365*24*3600)) * float64(time.Second))
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return max(0, t.Sub(now))
}

// MaxAge reads how long an answer stays fresh from Cache-Control, 0 when it
// does not say.
func MaxAge(h http.Header) time.Duration {
	for _, d := range strings.Split(strings.ToLower(h.Get("Cache-Control")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
		switch name {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			if n, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil && n > 0 {
				return time.Duration(min(n, 30*24*3600)) * time.Second
			}
		}
	}
	return 0
}
