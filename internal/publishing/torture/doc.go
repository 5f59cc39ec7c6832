// Package torture kills processes that publish between each pair of steps of a
// publication, before a Telegram that fails in every way that it can, and checks
// that no post exists twice and none is lost without a word.
// It has no code that anything imports.
package torture
