//go:build !failpoints

// Package failpoint marks the places where the torture test kills, freezes or cuts off a process. In a normal
// build every call is empty and inlined away; the build tag `failpoints` gives them teeth. It holds no state
// outside that tag and must never be asked for anything but testing.
package failpoint

// Enabled tells whether this binary was built for torture.
const Enabled = false

// Control switches fencing and the ledger off in a torture build, to show that the test bites.
const Control = false

// Hit marks a point that the program passes.
func Hit(string) {}
