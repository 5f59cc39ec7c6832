// Package e2e holds the tests of the whole program: the built binary as a
// process, spoken to through the sandbox's public face as a person would. It
// has no code of its own.
package e2e
