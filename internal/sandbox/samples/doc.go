// Package samples is a small newsroom that never sleeps: three sites with
// pages, pictures and a feed each (RSS, Atom, JSON Feed), in two languages.
//
// Everything follows from the clock: the same moment always shows the same
// entries, so a restart or a second process changes nothing, and no state is
// kept. It is for the demo and for tests.
package samples
