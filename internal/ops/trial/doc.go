// Package trial has only tests: what becomes of work under load when Postgres
// is killed, frozen, out of disk, replaced by its standby, or behind a pooler.
// After each, everything that was accepted is in exactly one place, nothing
// outside was done twice, and nothing is lost without a row that says why.
package trial
