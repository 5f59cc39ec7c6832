package queue

import "time"

// leases are the lease of most kinds of a tier and the exceptions from it. A claim carries them in this form because
// the server searches the exceptions for every job that it leases.
type leases struct {
	usual   time.Duration
	other   map[string]time.Duration // the kinds whose lease is not the usual one
	names   []string                 // of other
	lengths []time.Duration          // parallel to names
}

func newLeases(of map[string]time.Duration) *leases {
	l := &leases{usual: defaultLease, other: map[string]time.Duration{}, names: []string{}, lengths: []time.Duration{}}
	times := map[time.Duration]int{}
	for _, d := range of {
		times[d]++
		if times[d] > times[l.usual] || times[d] == times[l.usual] && d > l.usual {
			l.usual = d
		}
	}
	for name, d := range of {
		if d != l.usual {
			l.other[name] = d
			l.names, l.lengths = append(l.names, name), append(l.lengths, d)
		}
	}
	return l
}

func (l *leases) of(kind string) time.Duration {
	if d, ok := l.other[kind]; ok {
		return d
	}
	return l.usual
}
