package samples

import "github.com/postonce/postonce/internal/sandbox"

// Preview tells the stand-in's chat page what is behind a link of the newsroom;
// it fits sandbox.Config.Preview.
func (n *Newsroom) Preview(address string) (sandbox.LinkPreview, bool) {
	s, e, ok := n.Find(address)
	if !ok {
		return sandbox.LinkPreview{}, false
	}
	return sandbox.LinkPreview{Site: s.Name, Title: e.Title, Description: e.Body[0], Image: e.Image}, true
}
