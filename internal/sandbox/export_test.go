package sandbox

import (
	"maps"
	"slices"
)

// Methods lists what the stand-in offers, by lower-case name.
func Methods() []string {
	return append(slices.Sorted(maps.Keys(methods())), "getupdates")
}
