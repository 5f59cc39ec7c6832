// Package node asks the small questions of parsed HTML that readers of pages
// share. It is pure and keeps nothing.
package node

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Attr returns the value of an attribute, or "".
func Attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// HasClass reports whether the element carries the class.
func HasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(Attr(n, "class")), class)
}
