package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// actor is a person who decides about cards, at random, some of them twice and
// at the same time. It notes what Telegram took from it, so that the checker
// can ask whether the program knows.
type actor struct {
	stage   *play.Stage
	person  *play.Person
	channel play.Chat
	rng     *rand.Rand
	after   int // cards up to this message were decided

	mu   sync.Mutex
	said []int       // ids of own messages
	taps map[tap]int // taps that were taken
}

// tap is a button that was pressed.
type tap struct {
	message int
	data    string
}

func newActor(stage *play.Stage, p *play.Person, channel play.Chat, seed uint64) *actor {
	return &actor{stage: stage, person: p, channel: channel, rng: rand.New(rand.NewPCG(seed, 1)), taps: map[tap]int{}}
}

// link is the first minute: /start, and the channel picker.
func (a *actor) link(t *testing.T, ctx context.Context) {
	t.Helper()
	a.say(ctx, "/start")
	if err := a.person.PickWhenAsked(ctx, a.channel.ID); err != nil {
		t.Fatal(err)
	}
}

// say writes to the bot.
func (a *actor) say(ctx context.Context, text string) {
	m, err := a.person.Send(ctx, text)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said = append(a.said, m.ID)
}

// live decides until ctx ends. Whatever fails here fails because the program
// is being killed; what counts is what the checker finds.
func (a *actor) live(ctx context.Context) {
	for ctx.Err() == nil {
		list, _, err := a.stage.Messages(ctx, a.person.ID, a.after)
		if err == nil {
			for _, m := range list {
				if _, waits := m.Button("Approve"); waits {
					a.decide(ctx, m)
				}
				a.settle(ctx, m)
				a.after = max(a.after, m.ID)
			}
		}
		if a.rng.IntN(40) == 0 {
			a.say(ctx, "/status")
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// settle answers a doubt as a person would who looked into the channel.
func (a *actor) settle(ctx context.Context, m play.Message) {
	if _, doubt := m.Button("It's there"); doubt && a.rng.IntN(2) == 0 {
		a.press(ctx, m, "Leave it")
	}
}

func (a *actor) decide(ctx context.Context, m play.Message) {
	words := []string{"Post now", "Post now", "Post now", "Approve", "Skip"}[a.rng.IntN(5)]
	times := 1
	if a.rng.IntN(3) == 0 {
		times = 2 // a double tap, or two people at one button
	}
	var wg sync.WaitGroup
	for range times {
		wg.Go(func() { a.press(ctx, m, words) })
	}
	wg.Wait()
	if a.rng.IntN(4) == 0 { // a late tap on another button of the same card
		a.press(ctx, m, "Post now")
	}
}

func (a *actor) press(ctx context.Context, m play.Message, words string) {
	b, ok := m.Button(words)
	if !ok {
		return
	}
	if _, err := a.person.Tap(ctx, m.ID, words, 0); err != nil {
		return // the card was decided meanwhile: its buttons are gone
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taps[tap{m.ID, b.Data}]++
}

// unheard asks the program's own record for everything that Telegram took from
// this person.
func (a *actor) unheard(ctx context.Context, w *world) (problems []string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range a.said {
		var n int
		const heard = `SELECT count(*) FROM updates WHERE person_id = $1 AND body->'message'->>'message_id' = $2`
		if err := w.pool.QueryRow(ctx, heard, a.person.ID, fmt.Sprint(id)).Scan(&n); err != nil {
			return nil, err
		}
		if n == 0 {
			problems = append(problems, fmt.Sprintf("%s's message %d was lost", a.person.Name, id))
		}
	}
	for t, times := range a.taps {
		var n int
		const felt = `
SELECT count(*) FROM updates
 WHERE person_id = $1 AND body->'callback_query'->'message'->>'message_id' = $2 AND body->'callback_query'->>'data' = $3`
		if err := w.pool.QueryRow(ctx, felt, a.person.ID, fmt.Sprint(t.message), t.data).Scan(&n); err != nil {
			return nil, err
		}
		if n < times {
			problems = append(problems, fmt.Sprintf("%s tapped %s %d times, and %d arrived", a.person.Name, t.data, times, n))
		}
	}
	return problems, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
