// Package archtest keeps the house in order. Its tests read the source of the
// whole program and fail on an import that a layer may not make, on a second
// writer of a table, on SQL that Postgres cannot prepare, and on files that
// grew beyond reading. It has no code of its own.
package archtest
