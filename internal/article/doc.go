// Package article turns what the web serves into what a person reads: HTML
// into clean text, a page into its article, an address into its canonical
// form. It is pure: no network, no database, no clock.
package article
