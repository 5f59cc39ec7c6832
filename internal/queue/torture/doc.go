// Package torture attacks the queue with real processes: they are killed and frozen at every failpoint, their
// connections are cut on both sides of every statement, Postgres ends their sessions and is itself stopped at
// once. A checker then verifies every invariant. A control run without ledger and fencing must fail, or the
// attack proves nothing. The short run is part of the normal test; TORTURE_JOBS makes a long one:
//
//	TORTURE_JOBS=12500 go test -run TestTorture -timeout 60m -v ./internal/queue/torture
//
// The package has no code of its own and writes no table of the product.
package torture
