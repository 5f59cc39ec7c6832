// Package html reads and writes the HTML dialect of the Telegram Bot API and
// counts lengths as Telegram counts them.
//
// Parse follows Telegram's own parser byte for byte, its error texts and
// offsets included, so that what passes here is accepted there. Offsets and
// lengths are UTF-16 code units. The package is pure: no network, no clock, no
// tables.
package html
