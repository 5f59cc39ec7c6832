package sources

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/article/language"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/identity"
)

// ageGuard is how much older than the oldest entry of the baseline an unseen
// entry may be and still be news. What is older slid into the window.
const ageGuard = 48 * time.Hour

// keysKnownSQL finds which of a document's keys were seen before, with the
// fingerprint of the item as it stands.
const keysKnownSQL = `
SELECT k.key,
       k.item_id,
       coalesce(i.fingerprint, 0)
  FROM item_keys k
  LEFT JOIN items i ON i.id = k.item_id
 WHERE k.source_id = $1
   AND k.key = ANY ($2::bytea[])`

// itemsInsertSQL inserts items through the record of their keys: an item of
// which any key was taken meanwhile is not inserted. Numbers come from the
// sequence, in the order of the input.
const itemsInsertSQL = `
WITH input AS MATERIALIZED (
  SELECT nextval(pg_get_serial_sequence('items', 'id')) AS id,
         u.*
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                $10::timestamptz[], $11::text[], $12::bigint[]) WITH ORDINALITY
      AS u (url, canonical, title, body, author, image, enclosure, language, published_at, result, fingerprint, ord)
   ORDER BY u.ord
), wanted AS (
  SELECT k.key,
         input.id
    FROM unnest($13::bytea[], $14::bigint[]) AS k (key, ord)
    JOIN input ON input.ord = k.ord
), taken AS (
  INSERT INTO item_keys (source_id, key, item_id)
  SELECT $1,
         key,
         id
    FROM wanted
   ORDER BY key
      ON CONFLICT (source_id, key) DO NOTHING
  RETURNING item_id
)
INSERT INTO items (id, source_id, url, canonical, title, text, author, image, enclosure, language, published_at, first_seen_at, result, fingerprint)
OVERRIDING SYSTEM VALUE
SELECT input.id,
       $1,
       input.url,
       input.canonical,
       input.title,
       input.body,
       input.author,
       input.image,
       input.enclosure,
       input.language,
       input.published_at,
       $15,
       input.result,
       input.fingerprint
  FROM input
 WHERE (SELECT count(*) FROM taken WHERE taken.item_id = input.id) = (SELECT count(*) FROM wanted WHERE wanted.id = input.id)
 ORDER BY input.id
RETURNING id,
          result`

// keysAddSQL records further names of known items.
const keysAddSQL = `
INSERT INTO item_keys (source_id, key, item_id)
SELECT $1,
       u.key,
       u.item_id
  FROM unnest($2::bytea[], $3::bigint[]) AS u (key, item_id)
 ORDER BY u.key
    ON CONFLICT (source_id, key) DO NOTHING`

const itemEditSQL = `
UPDATE items
   SET title = $2,
       text = CASE WHEN purged_at IS NULL THEN $3 ELSE text END,
       image = $4,
       fingerprint = $5,
       updated_at = $6
 WHERE id = $1
   AND (title, text) IS DISTINCT FROM ($2, $3)
RETURNING id`

const itemFingerprintSQL = `
UPDATE items
   SET fingerprint = $2
 WHERE id = $1`

// sorting is one document on its way into the tables.
type sorting struct {
	s      *Service
	src    *row
	out    *outcome
	sums   [][][]byte         // by entry and key
	item   []int64            // the known item of an entry, 0 = unknown
	print  []int64            // fingerprint as stored, of known entries
	prints map[int64]int64    // fingerprint as stored, by item
	known  map[[16]byte]int64 // the item of each key that was seen before
	words  []int64            // fingerprint of each entry as it is in this document
	fresh  []int              // entries to insert, in the order of their numbers
}

func newSorting(s *Service, src *row, out *outcome) *sorting {
	o := &sorting{s: s, src: src, out: out, words: make([]int64, len(out.doc.Entries))}
	for i := range o.words {
		o.words[i] = fingerprint(&out.doc.Entries[i])
	}
	return o
}

// recordEntries sorts the entries of a document into known and new, inserts
// the new ones and returns the numbers of those that are news.
func (s *Service) recordEntries(ctx context.Context, tx pgx.Tx, src *row, out *outcome) ([]int64, error) {
	o := newSorting(s, src, out)
	out.tally = tally{entries: len(out.doc.Entries)}
	if err := o.lookUp(ctx, tx); err != nil {
		return nil, err
	}
	if err := o.judgePositions(ctx, tx); err != nil {
		return nil, err
	}
	if err := o.lookUpTexts(ctx, tx); err != nil {
		return nil, err
	}
	o.judgeRotation()
	o.count()
	ids, err := o.insert(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := o.addNames(ctx, tx); err != nil {
		return nil, err
	}
	return ids, o.edits(ctx, tx)
}

// lookUp asks for all keys of the document at once.
func (o *sorting) lookUp(ctx context.Context, tx pgx.Tx) error {
	n := len(o.out.ids)
	o.sums, o.item, o.print = make([][][]byte, n), make([]int64, n), make([]int64, n)
	o.known, o.prints = make(map[[16]byte]int64, 3*n), make(map[int64]int64, n)
	all := make([][]byte, 0, 3*n)
	owner := make(map[[16]byte][]int, 3*n)
	for i, e := range o.out.ids {
		for _, k := range e.Keys {
			sum := k.Sum()
			o.sums[i] = append(o.sums[i], sum[:])
			if owner[sum] == nil {
				all = append(all, sum[:])
			}
			owner[sum] = append(owner[sum], i)
		}
	}
	return o.ask(ctx, tx, all, owner)
}

// ask marks the entries whose keys are known.
func (o *sorting) ask(ctx context.Context, tx pgx.Tx, all [][]byte, owner map[[16]byte][]int) error {
	if len(all) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, keysKnownSQL, o.src.id, all)
	if err != nil {
		return err
	}
	var key []byte
	var item, print int64
	_, err = pgx.ForEachRow(rows, []any{&key, &item, &print}, func() error {
		o.known[[16]byte(key)], o.prints[item] = item, print
		for _, i := range owner[[16]byte(key)] {
			if o.item[i] == 0 || item < o.item[i] {
				o.item[i], o.print[i] = item, print
			}
		}
		return nil
	})
	return err
}

// lookUpTexts asks for the text of entries that no other key knows: their id
// and link may both have changed. A text that belongs to an item which is in
// this document under its own name is another entry with the same words.
func (o *sorting) lookUpTexts(ctx context.Context, tx pgx.Tx) error {
	var all [][]byte
	owner := map[[16]byte][]int{}
	here := map[int64]bool{}
	short := map[int]bool{} // entries that are looked for by path and words
	for i := range o.out.ids {
		if o.item[i] != 0 {
			here[o.item[i]] = true
		}
		if o.item[i] != 0 || o.out.ids[i].Same >= 0 || len(o.out.ids[i].Keys) == 0 {
			continue
		}
		k, ok := identity.ContentKey(&o.out.doc.Entries[i])
		if !ok {
			k, ok = identity.WordsKey(&o.out.doc.Entries[i], o.out.ids[i].Keys)
			short[i] = ok
		}
		if ok {
			sum := k.Sum()
			all = append(all, sum[:])
			owner[sum] = append(owner[sum], i)
		}
	}
	for sum, set := range owner {
		if len(set) > 1 { // the same words under several names: no evidence
			delete(owner, sum)
		}
	}
	before, stand := slices.Clone(o.item), len(short) > 0 && o.queriesStand()
	if err := o.ask(ctx, tx, all, owner); err != nil {
		return err
	}
	for i := range o.item {
		if before[i] == 0 && o.item[i] != 0 && (here[o.item[i]] || stand && short[i]) {
			o.item[i] = 0
		}
	}
	for sum, set := range owner {
		if i := set[0]; o.item[i] == 0 && o.known[sum] == 0 { // the words of another item are no name of this one
			o.sums[i] = append(o.sums[i], slices.Clone(sum[:]))
		}
	}
	return nil
}

// queriesStand reports whether a link or an id with a query is known as it
// stands: the queries of this source do not change from one fetch to the next.
func (o *sorting) queriesStand() bool {
	for _, e := range o.out.ids {
		for _, k := range e.Keys {
			if (k.Class == identity.Link || k.Class == identity.ID) && strings.Contains(k.Value, "?") && o.known[k.Sum()] != 0 {
				return true
			}
		}
	}
	return false
}

// judgeRotation notices ids, or links, that change at every fetch: their keys
// would tell nothing and grow without end.
func (o *sorting) judgeRotation() {
	known, ids, links := 0, 0, 0
	for i, e := range o.out.ids {
		if o.item[i] == 0 {
			continue
		}
		known++
		if o.strange(e, identity.ID, identity.IDPath) {
			ids++
		}
		if o.strange(e, identity.Link, identity.LinkFrag) {
			links++
		}
	}
	if known >= 3 && 2*ids > known {
		o.src.distrustIDs = true
	}
	if known >= 3 && 2*links > known {
		o.src.distrustLinks = true
	}
}

// strange reports whether an entry has keys of these classes, none of them known.
func (o *sorting) strange(e identity.Entry, classes ...identity.Class) bool {
	has := false
	for _, k := range e.Keys {
		if slices.Contains(classes, k.Class) {
			has = true
			if o.known[k.Sum()] != 0 {
				return false
			}
		}
	}
	return has
}

// trusted are the keys of an entry worth recording: not those that rotate,
// unless it has no other.
func (o *sorting) trusted(i int) [][]byte {
	var kept [][]byte
	for j, sum := range o.sums[i] {
		if j < len(o.out.ids[i].Keys) {
			c := o.out.ids[i].Keys[j].Class
			if o.src.distrustIDs && (c == identity.ID || c == identity.IDPath) || o.src.distrustLinks && (c == identity.Link || c == identity.LinkFrag) {
				continue
			}
		}
		kept = append(kept, sum)
	}
	if len(kept) == 0 {
		return o.sums[i]
	}
	return kept
}

// count sorts out which entries are inserted.
func (o *sorting) count() {
	t := &o.out.tally
	for i, e := range o.out.ids {
		switch {
		case len(e.Keys) == 0:
			t.nameless++
		case e.Same >= 0:
			t.twins++
		case o.item[i] != 0:
			t.known++
		default:
			o.fresh = append(o.fresh, i)
		}
	}
	// Oldest first, so that numbers follow time; undated entries keep the
	// document's order, which is newest first.
	es := o.out.doc.Entries
	slices.Reverse(o.fresh)
	slices.SortStableFunc(o.fresh, func(a, b int) int {
		pa, pb := es[a].Published, es[b].Published
		if pa.IsZero() || pb.IsZero() {
			return 0
		}
		return pa.Compare(pb)
	})
}

// baseline reports whether the document is a start rather than news: the
// first one, the first after a resume or a long outage, or one of which most
// is unknown although the source was read not long ago and says that its
// entries are older than that.
func (o *sorting) baseline() bool {
	src := o.src
	if src.baselineAt == nil || src.lastSuccess == nil || o.out.at.Sub(*src.lastSuccess) > longOutage {
		return true
	}
	n, before := len(o.fresh), 0
	if n < 10 || 5*n < 4*len(o.out.doc.Entries) {
		return false
	}
	for _, i := range o.fresh {
		if p := o.out.doc.Entries[i].Published; p.IsZero() || p.Before(src.lastSuccess.Add(-time.Hour)) {
			before++
		}
	}
	return 2*before > n
}

// results says of each fresh entry what becomes of it.
func (o *sorting) results() []string {
	t := &o.out.tally
	res := make([]string, len(o.fresh))
	start := o.baseline()
	news := 0
	for j := len(o.fresh) - 1; j >= 0; j-- { // the newest first: the cap keeps them
		p := o.out.doc.Entries[o.fresh[j]].Published
		switch {
		case start:
			res[j] = "baseline"
			t.baseline++
		case !p.IsZero() && o.src.oldest != nil && p.Before(o.src.oldest.Add(-ageGuard)):
			res[j] = "old"
			t.old++
		case news >= o.s.cfg.PollCap:
			res[j] = "over_cap"
			t.overCap++
		default:
			res[j] = "new"
			t.fresh++
			news++
		}
	}
	return res
}

// columns are the items to insert, one slice a column.
type columns struct {
	url, canonical, title, text, author, image, enclosure, language, result []string
	published                                                               []*time.Time
	print                                                                   []int64
}

func (o *sorting) insert(ctx context.Context, tx pgx.Tx) ([]int64, error) {
	if len(o.fresh) == 0 {
		return nil, nil
	}
	var c columns
	var keys [][]byte
	var ords []int64
	res := o.results()
	used := map[[16]byte]bool{}
	for j, i := range o.fresh {
		mine := 0
		for _, k := range o.trusted(i) {
			if !used[[16]byte(k)] {
				used[[16]byte(k)] = true
				keys, ords = append(keys, k), append(ords, int64(len(c.url)+1))
				mine++
			}
		}
		if mine > 0 { // else it is another entry of this document under the same names
			c.add(&o.out.doc.Entries[i], o.words[i], res[j], o.out.doc.Language)
		}
	}
	rows, err := tx.Query(ctx, itemsInsertSQL, o.src.id, c.url, c.canonical, c.title, c.text, c.author, c.image, c.enclosure, c.language,
		c.published, c.result, c.print, keys, ords, o.out.at)
	if err != nil {
		return nil, err
	}
	var news []int64
	var id int64
	var result string
	inserted := 0
	_, err = pgx.ForEachRow(rows, []any{&id, &result}, func() error {
		inserted++
		if result == "new" {
			news = append(news, id)
		}
		return nil
	})
	if err == nil && inserted != len(c.url) {
		// The source's row is locked, so no key can have been taken meanwhile.
		err = fmt.Errorf("%d of %d new entries inserted", inserted, len(c.url))
	}
	return news, err
}

func (c *columns) add(e *decode.Entry, print int64, result, lang string) {
	c.url = append(c.url, shown(e))
	c.canonical = append(c.canonical, canonicalOf(e))
	c.title = append(c.title, e.Title)
	text := e.Text()
	c.text = append(c.text, text)
	c.author = append(c.author, clipText(e.Author, 300))
	c.image = append(c.image, addressOrNone(e.Picture()))
	c.enclosure = append(c.enclosure, addressOrNone(e.Enclosure))
	c.language = append(c.language, language.Of(text, firstOf(e.Language, lang)))
	c.result = append(c.result, result)
	var at *time.Time
	if !e.Published.IsZero() {
		at = &e.Published
	}
	c.published = append(c.published, at)
	c.print = append(c.print, print)
}

// canonicalOf is the canonical link by which one story is found in several
// sources; a front page tells no story.
func canonicalOf(e *decode.Entry) string {
	c := article.Canonical(firstOf(e.Origin, e.Link))
	if article.IsHomeForm(c) {
		return ""
	}
	return address.Indexable(c)
}

// addressOrNone is an address that is kept if it can be one at all.
func addressOrNone(s string) string {
	if len(s) > 4096 {
		return ""
	}
	return s
}

// addNames records keys that known items are seen under for the first time.
func (o *sorting) addNames(ctx context.Context, tx pgx.Tx) error {
	var keys [][]byte
	var items []int64
	for i := range o.out.ids {
		if o.item[i] == 0 || o.out.ids[i].Same >= 0 {
			continue
		}
		for _, k := range o.trusted(i) {
			if o.known[[16]byte(k)] == 0 {
				keys, items = append(keys, k), append(items, o.item[i])
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, keysAddSQL, o.src.id, keys, items)
	return err
}

// edits writes what changed in known items. An edited entry is not new.
func (o *sorting) edits(ctx context.Context, tx pgx.Tx) error {
	var edited []int64
	done := map[int64]bool{}
	for i := range o.out.ids {
		id := o.item[i]
		e := &o.out.doc.Entries[i]
		fp := o.words[i]
		if id == 0 || done[id] || o.print[i] == 0 || o.print[i] == fp {
			continue
		}
		done[id] = true
		rows, err := tx.Query(ctx, itemEditSQL, id, e.Title, e.Text(), addressOrNone(e.Picture()), fp, o.out.at)
		if err != nil {
			return err
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		edited = append(edited, got...)
		if len(got) == 0 {
			if _, err := tx.Exec(ctx, itemFingerprintSQL, id, fp); err != nil {
				return err
			}
		}
	}
	o.out.tally.edited = len(edited)
	if len(edited) == 0 || o.s.cfg.OnEdited == nil {
		return nil
	}
	slices.SortFunc(edited, cmp.Compare[int64])
	if err := o.s.cfg.OnEdited(ctx, tx, edited); err != nil {
		return fmt.Errorf("tell of edits: %w", err)
	}
	return nil
}

// fingerprint tells an edit without reading the text; never 0.
func fingerprint(e *decode.Entry) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.Title))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(e.Body))
	return int64(h.Sum64() | 1)
}
