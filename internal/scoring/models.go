package scoring

import (
	"container/list"
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/scoring/bayes"
)

const (
	// modelWords bounds the words of all models that a process holds, about 30 bytes each.
	modelWords = 500_000
	// modelAge is how long a model is followed by what changed before it is read whole again.
	// It mends what no version can show: a database set back to an older day under a running process.
	modelAge = time.Hour
	// modelWorth is how many words are asked of the database before a model that was never held is read
	// whole: a channel that is scored once a day is not worth it.
	modelWorth = 1000
	// modelsAsked bounds the channels of which is known how much was asked.
	modelsAsked = 10_000
)

// stamp names a state of a channel's model: totals change with each lesson, and
// changed grows with each, across processes (totalsAddSQL).
type stamp struct {
	changed int64
	totals  bayes.Totals
}

// models is a cache: for the channels that are scored most it holds what their decisions taught, so
// that a score costs no read of its words. A model is only used at the stamp that the database
// shows, or at a later one; between two stamps only the words that changed are read. It is safe
// for concurrent use.
type models struct {
	seed  maphash.Seed
	now   func() time.Time
	limit int // words of all models

	mu    sync.Mutex
	held  map[int64]*list.Element // of *model, by channel
	order *list.List              // the one used last in front
	words int                     // in all that are held
	asked map[int64]asked         // channels that are not held
}

// asked is how many words of a channel were asked of the database since its
// model was last held, and how many its model had then.
type asked struct{ words, size int }

// model is what one channel's decisions taught: counts by the hash of the word, with no pointer in
// it that a garbage collection would have to follow. Of 500,000 words two share a hash of 64 bits
// once in 150 million processes; a score would then be off by one word.
type model struct {
	channelID int64
	readAt    time.Time
	size      int // words as counted in models.words; owned by models.mu

	mu     sync.RWMutex // guards what follows
	at     stamp
	counts map[uint64]count32
}

type count32 struct{ liked, disliked int32 }

func newModels(now func() time.Time) *models {
	return &models{seed: maphash.MakeSeed(), now: now, limit: modelWords, held: map[int64]*list.Element{}, order: list.New(), asked: map[int64]asked{}}
}

// counts returns what the channel's decisions taught of the terms of f, as of at or a later stamp: from
// memory where the model is held, else from the database. Call it with the pool, never in a transaction
// that teaches: what is not committed yet must not stay in memory.
func (m *models) counts(ctx context.Context, q postgres.Querier, channelID int64, at stamp, f *features) ([]bayes.Count, bayes.Totals, error) {
	if at.totals.Decisions() == 0 {
		return make([]bayes.Count, len(f.terms)), at.totals, nil
	}
	md, read := m.take(channelID, len(f.terms))
	if md == nil && !read {
		return readCounts(ctx, q, channelID, f.terms)
	}
	if md == nil {
		var err error
		if md, err = m.load(ctx, q, channelID); err != nil {
			return nil, bayes.Totals{}, err
		}
	} else if err := m.follow(ctx, q, md, at); err != nil {
		return nil, bayes.Totals{}, err
	}
	counts, totals := md.look(m.seed, f.terms)
	return counts, totals, nil
}

// take returns the model that is held, or whether it is worth reading.
func (m *models) take(channelID int64, terms int) (md *model, read bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.held[channelID]; e != nil {
		if md := e.Value.(*model); m.now().Sub(md.readAt) < modelAge {
			m.order.MoveToFront(e)
			return md, false
		}
		m.drop(e)
		return nil, true
	}
	if len(m.asked) >= modelsAsked {
		clear(m.asked)
	}
	a := m.asked[channelID]
	a.words += terms
	if read = a.words >= max(modelWorth, a.size) && a.size <= m.limit; read {
		a.words = 0 // one of those that score now reads it
	}
	m.asked[channelID] = a
	return nil, read
}

// drop forgets a model; m.mu is held.
func (m *models) drop(e *list.Element) {
	md := m.order.Remove(e).(*model)
	delete(m.held, md.channelID)
	m.words -= md.size
	m.asked[md.channelID] = asked{size: md.size}
}

// keep holds a model and drops those used least where it is too many words. A model that is
// larger than all may be is used once and remembered as too large.
func (m *models) keep(md *model) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.held[md.channelID]; e != nil { // another score read it meanwhile
		m.drop(e)
	}
	md.size = len(md.counts)
	m.held[md.channelID] = m.order.PushFront(md)
	m.words += md.size
	delete(m.asked, md.channelID)
	for m.words > m.limit {
		m.drop(m.order.Back())
	}
}

// modelReadSQL reads a channel's model, or what of it changed after a stamp, in one row: the words in one
// piece, which costs the client a tenth of a list. No word holds a space.
const modelReadSQL = `
SELECT coalesce(string_agg(word, ' '), ''),
       coalesce(array_agg(liked), '{}'),
       coalesce(array_agg(disliked), '{}'),
       coalesce(max(changed), 0)
  FROM word_counts
 WHERE channel_id = $1
   AND changed > $2`

// load reads a channel's whole model and holds it.
func (m *models) load(ctx context.Context, q postgres.Querier, channelID int64) (*model, error) {
	md := &model{channelID: channelID, readAt: m.now(), at: stamp{changed: -1}, counts: map[uint64]count32{}}
	if err := md.read(ctx, q, m.seed); err != nil {
		return nil, err
	}
	m.keep(md)
	return md, nil
}

// follow brings a model to at least the stamp at.
func (m *models) follow(ctx context.Context, q postgres.Querier, md *model, at stamp) error {
	md.mu.RLock()
	fresh := md.at == at || md.at.changed > at.changed
	md.mu.RUnlock()
	if fresh {
		return nil
	}
	md.mu.Lock()
	if md.at.changed == at.changed && md.at != at { // somebody taught without a stamp: a process of an older version
		md.at.changed = -1
		clear(md.counts)
	}
	var err error
	if md.at.changed < at.changed { // else another score was faster
		err = md.read(ctx, q, m.seed)
	}
	size := len(md.counts)
	md.mu.Unlock()
	m.mu.Lock()
	if e := m.held[md.channelID]; e != nil && e.Value.(*model) == md {
		m.words += size - md.size
		md.size = size
	}
	m.mu.Unlock()
	return err
}

// read takes over what changed after the model's stamp; md.mu is held, or md is nobody else's yet.
func (md *model) read(ctx context.Context, q postgres.Querier, seed maphash.Seed) error {
	var text string
	var liked, disliked []int32
	var changed int64
	if err := q.QueryRow(ctx, modelReadSQL, md.channelID, md.at.changed).Scan(&text, &liked, &disliked, &changed); err != nil {
		return fmt.Errorf("model of channel %d: %w", md.channelID, err)
	}
	i := 0
	for word := range strings.SplitSeq(text, " ") {
		if i == len(liked) {
			break // nothing changed
		}
		if word == totalsWord {
			md.at.totals = bayes.Totals{Liked: int(liked[i]), Disliked: int(disliked[i])}
		} else {
			md.counts[maphash.String(seed, word)] = count32{liked[i], disliked[i]}
		}
		i++
	}
	md.at.changed = max(md.at.changed, changed)
	return nil
}

// look returns the counts of terms and the totals that belong to them.
func (md *model) look(seed maphash.Seed, terms []string) ([]bayes.Count, bayes.Totals) {
	counts := make([]bayes.Count, len(terms))
	md.mu.RLock()
	defer md.mu.RUnlock()
	for i, t := range terms {
		if c, ok := md.counts[maphash.String(seed, t)]; ok {
			counts[i] = bayes.Count{Liked: int(c.liked), Disliked: int(c.disliked)}
		}
	}
	return counts, md.at.totals
}
