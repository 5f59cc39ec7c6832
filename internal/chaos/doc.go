// Package chaos attacks the whole program: built binaries, several processes
// on one Postgres, a sandbox whose answers get lost, feeds that keep growing
// and people who tap, while processes are killed and frozen, the database is
// stopped hard and connections are cut. A checker then reads the sandbox and
// the database and looks for anything that happened twice or was lost without
// a row that says why. It has no code of its own beyond its test; a seed that
// failed plays the same orders again.
//
//	make chaos                                  # minutes
//	CHAOS_KILLS=5000 CHAOS_SEED=7 make chaos    # as long as it takes
package chaos
