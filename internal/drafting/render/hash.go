package render

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash is what an approval binds to: everything of a revision that readers see.
// Each part is preceded by its length, so that no two revisions share a hash by
// moving text from one part to another.
func Hash(html, link, image string) []byte {
	h := sha256.New()
	for _, part := range []string{html, link, image} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}
