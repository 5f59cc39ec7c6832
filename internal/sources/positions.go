package sources

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sources/identity"
)

// judgePositions notices ids that only count the entries of the document, so
// that a new entry takes over the id of an older one: "item-0" or "1" at the
// top. Their shape tells nothing, for a site's own numbers look alike; what
// became of known items does: an id that is known stands at another entry,
// while its item, by its link or word for word, is in the document elsewhere.
// From then on the source's ids are no names.
func (o *sorting) judgePositions(ctx context.Context, tx pgx.Tx) error {
	if o.src.distrustIDs {
		return nil
	}
	claims := o.claims()
	words, links := o.present()
	left, kept := 0, 0
	for i, c := range claims {
		switch {
		case c.item == 0:
		case o.isItem(i, c):
			kept++
		case words[c.words] || links[c.item]: // in the document, and not here
			left++
		}
	}
	if left <= kept {
		return nil
	}
	o.src.distrustIDs = true
	o.out.ids = identity.Of(o.out.doc, identityOptions(o.out, true))
	if err := o.lookUp(ctx, tx); err != nil {
		return err
	}
	o.findByWords(claims)
	return nil
}

// claim is the item that an entry's id was the name of.
type claim struct {
	item  int64 // 0: the id is unknown
	words int64 // the item's fingerprint as it is kept
}

// claims lists what the ids of the document say.
func (o *sorting) claims() []claim {
	out := make([]claim, len(o.out.ids))
	for i, e := range o.out.ids {
		for _, k := range e.Keys {
			if k.Class != identity.ID {
				continue
			}
			if item := o.known[k.Sum()]; item != 0 && e.Same < 0 {
				out[i] = claim{item, o.prints[item]}
			}
		}
	}
	return out
}

// isItem reports whether entry i is what its id says, by its link or its words.
func (o *sorting) isItem(i int, c claim) bool { return o.words[i] == c.words || o.linkOf(i) == c.item }

// present lists what stands in the document: fingerprints, and known items by
// their links.
func (o *sorting) present() (words, links map[int64]bool) {
	words, links = make(map[int64]bool, len(o.words)), make(map[int64]bool, len(o.words))
	for i, e := range o.out.ids {
		if e.Same < 0 {
			words[o.words[i]], links[o.linkOf(i)] = true, true
		}
	}
	return words, links
}

// linkOf is the known item that has the link of entry i, 0 when none has.
func (o *sorting) linkOf(i int) int64 {
	for _, k := range o.out.ids[i].Keys {
		if k.Class == identity.Link || k.Class == identity.LinkFrag {
			if item := o.known[k.Sum()]; item != 0 {
				return item
			}
		}
	}
	return 0
}

// findByWords finds the known items among entries that had no other name than
// their ids. An entry without a link below one of them is no news either: what
// is new comes in front, and this one was edited.
func (o *sorting) findByWords(claims []claim) {
	of := make(map[int64]int64, len(claims))
	for _, c := range claims {
		if c.item != 0 && c.words != 0 {
			of[c.words] = c.item
		}
	}
	below := false
	for i := range o.out.ids {
		if o.item[i] == 0 {
			if item := of[o.words[i]]; item != 0 {
				o.item[i], o.print[i] = item, o.words[i]
			} else if below && claims[i].item != 0 && o.out.doc.Entries[i].Link == "" {
				o.item[i], o.print[i] = claims[i].item, o.words[i]
			}
		}
		below = below || o.item[i] != 0
	}
}
