// Package peertest holds a bot written with grammY, a client library that
// nobody here wrote, and the test that runs it against the sandbox. It has no
// code that anything imports.
package peertest
