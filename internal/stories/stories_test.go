package stories

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

// stage is a database with two channels and three sources.
type stage struct {
	pool   *pgxpool.Pool
	s      *Service
	mu     sync.Mutex
	offers []Offer
}

func newStage(t *testing.T) *stage {
	t.Helper()
	st := &stage{pool: dbtest.New(t)}
	st.s = New(Config{
		Pool: st.pool,
		OnStory: func(_ context.Context, _ pgx.Tx, o Offer) error {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.offers = append(st.offers, o)
			return nil
		},
		BaselineDone: func(context.Context, pgx.Tx, int64, int64) (bool, error) { return true, nil },
	})
	for _, q := range []string{
		"INSERT INTO people (id) VALUES (1)",
		"INSERT INTO channels (chat_id, created_by) VALUES (-1, 1), (-2, 1)",
		"INSERT INTO subscriptions (channel_id, source_id, created_by) VALUES (1, 10, 1), (1, 11, 1), (2, 11, 1)",
	} {
		if _, err := st.pool.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func (st *stage) item(t *testing.T, source int64, canonical, title, text string) int64 {
	t.Helper()
	var id int64
	err := st.pool.QueryRow(t.Context(), "INSERT INTO items (source_id, canonical, title, text) VALUES ($1, $2, $3, $4) RETURNING id", source, canonical, title, text).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (st *stage) place(t *testing.T, id int64) int64 {
	t.Helper()
	var story placed
	err := postgres.InTx(t.Context(), st.pool, func(tx pgx.Tx) (err error) {
		if story, err = st.s.place(t.Context(), tx, id); err != nil {
			return err
		}
		return st.s.offer(t.Context(), tx, story, id)
	})
	if err != nil {
		t.Fatal(err)
	}
	return story.storyID
}

func TestItemsOfOneLinkTextOrHeadlineAreOneStory(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	long := strings.Repeat("The bridge in the harbour was closed on Monday after a crack was found. ", 4)
	lead := st.place(t, st.item(t, 10, "wire.example/bridge", "Harbour bridge closed after crack found", long))
	for _, tt := range []struct {
		name                   string
		source                 int64
		canonical, title, text string
		same                   bool
	}{
		{"the same link", 11, "wire.example/bridge", "Something else entirely said here", "short", true},
		{"the same text", 11, "other.example/1", "Another headline about other things", long, true},
		{"the same words in the headline", 11, "other.example/2", "Crack found: harbour bridge closed", "short", true},
		{"another story", 11, "other.example/3", "Council votes on tram line nine", "short", false},
		{"a shared stock title", 11, "other.example/4", "Photo", "short", false},
		{"the same stock title again", 11, "other.example/5", "Photo", "short", false},
	} {
		got := st.place(t, st.item(t, tt.source, tt.canonical, tt.title, tt.text))
		if (got == lead) != tt.same {
			t.Errorf("%s: story %d, the first is %d", tt.name, got, lead)
		}
	}
	if again := st.place(t, 1); again != lead {
		t.Errorf("an item placed twice moved to story %d", again)
	}
}

func TestStoriesGoToTheChannelsThatFollow(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.place(t, st.item(t, 10, "a.example/1", "Only the first channel follows this", ""))
	st.place(t, st.item(t, 11, "b.example/1", "Council votes on tram line nine", ""))
	got := fmt.Sprint(st.offers)
	if got != "[{1 1 false} {1 2 false} {2 2 false}]" {
		t.Errorf("offers %s", got)
	}
}

func TestItemsThatComeAtOnceFindEachOther(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	found := map[int64]int{}
	for i := range 12 {
		id := st.item(t, 11, "wire.example/one", fmt.Sprintf("Headline number %d of the story", i), "")
		wg.Go(func() {
			story := st.place(t, id)
			mu.Lock()
			defer mu.Unlock()
			found[story]++
		})
	}
	wg.Wait()
	if len(found) != 1 {
		t.Errorf("one link became %d stories: %v", len(found), found)
	}
}

func TestBaselineProposesTheFreshestFew(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	for i := range 10 {
		id := st.item(t, 10, fmt.Sprintf("a.example/%d", i), fmt.Sprintf("Headline of entry number %d", i), strings.Repeat("text ", 30))
		if _, err := st.pool.Exec(t.Context(), "UPDATE items SET published_at = now() - make_interval(hours => $2) WHERE id = $1", id, i); err != nil {
			t.Fatal(err)
		}
	}
	err := postgres.InTx(t.Context(), st.pool, func(tx pgx.Tx) error {
		return st.s.propose(t.Context(), tx, baselineArgs{ChannelID: 1, SourceID: 10}, baselineSome)
	})
	if err != nil || len(st.offers) != 3 || !st.offers[0].Baseline {
		t.Errorf("offers %v, %v", st.offers, err)
	}
	st.s.cfg.Best = func(_ context.Context, _ pgx.Tx, _, _ int64, ids []int64, n int) ([]int64, error) {
		if len(ids) != 10 || n != baselineSome {
			t.Errorf("asked for %d of %v", n, ids)
		}
		return ids[4:6], nil // what fits, not what is freshest
	}
	st.offers = nil
	err = postgres.InTx(t.Context(), st.pool, func(tx pgx.Tx) error {
		return st.s.propose(t.Context(), tx, baselineArgs{ChannelID: 2, SourceID: 10}, baselineSome)
	})
	if err != nil || len(st.offers) != 2 || st.offers[0].ChannelID != 2 {
		t.Errorf("offers %v, %v", st.offers, err)
	}
}

func TestLikeNewsIsGroupedAndAGrownStoryIsTold(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	var grown []int64
	st.s.cfg.OnGrown = func(_ context.Context, _ pgx.Tx, _, storyID int64) error {
		grown = append(grown, storyID)
		return nil
	}
	lead := st.place(t, st.item(t, 10, "a.example/1", "Rocket Lab launches tenth radar satellite from Mahia", "Rocket Lab put its tenth radar satellite into orbit on Tuesday."))
	more := strings.Repeat("Engineers praised the ground crew. Insurance partners, weather briefings, harbour closures and telemetry archives were reviewed in Auckland. ", 4)
	joined := st.place(t, st.item(t, 11, "b.example/2", "Tenth radar satellite launched by Rocket Lab", "The company Rocket Lab launched from Mahia on Tuesday. "+more))
	if joined != lead {
		t.Fatalf("like news opened story %d beside %d", joined, lead)
	}
	var how string
	var certain bool
	if err := st.pool.QueryRow(t.Context(), "SELECT how, certain FROM story_items WHERE item_id = (SELECT max(item_id) FROM story_items)").Scan(&how, &certain); err != nil {
		t.Fatal(err)
	}
	if how != "likeness" || certain {
		t.Errorf("joined by %s, certain %t", how, certain)
	}
	if len(grown) == 0 || grown[0] != lead {
		t.Errorf("grown: %v", grown)
	}
	for _, other := range []string{"Rocket Lab reports a loss for the third quarter", "Rocket Lab launches eleventh radar satellite 11 from Wallops"} {
		if id := st.place(t, st.item(t, 10, "a.example/"+other, other, "")); id == lead {
			t.Errorf("%q joined the story of the tenth launch", other)
		}
	}
}
