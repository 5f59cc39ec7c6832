package telegram

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Lane orders who goes first when the bot as a whole is near its limit.
type Lane int

// Taps are answers to something a person just did; Posts go to channels at
// their time; Cards are everything the bot says by itself.
const (
	Cards Lane = iota
	Posts
	Taps
)

// Telegram's limits (core.telegram.org/bots/faq#my-bot-is-hitting-limits): 30
// messages a second in all, about one a second in a chat with short bursts, 20
// a minute in a group or channel. It states no more than that; the rest is
// learned from its 429s. A person who taps fast is such a burst: the answers
// have a longer one of their own, and what the bot says by itself waits for it
// to pass.
const (
	allPerSecond   = 30
	cardsPerSecond = 22 // leaves room for taps and posts
	chatBurst      = 3
	tapBurst       = 12
	groupPerMinute = 20
	groupBurst     = 5
	maxWait        = 5 * time.Second
	forgetAfter    = 10 * time.Minute
)

var errTooLong = errors.New("the limits of the chat leave no turn in time")

// Limits keeps a process within Telegram's rates, per chat and in all. It is
// shared by all users of one token in the process and safe for concurrent use.
type Limits struct {
	now   func() time.Time
	all   *rate.Limiter
	cards *rate.Limiter

	mu    sync.Mutex
	chats map[string]*chatLimit // guarded by mu
	swept time.Time             // guarded by mu
}

type chatLimit struct {
	lim   *rate.Limiter
	taps  *rate.Limiter // answers to taps; each also takes a turn in lim, without waiting for it
	base  rate.Limit
	until time.Time // closed until then, by a 429
	used  time.Time
}

// NewLimits takes the clock; nil is the system's.
func NewLimits(now func() time.Time) *Limits {
	if now == nil {
		now = time.Now
	}
	return &Limits{
		now:   now,
		all:   rate.NewLimiter(allPerSecond, allPerSecond),
		cards: rate.NewLimiter(cardsPerSecond, cardsPerSecond),
		chats: map[string]*chatLimit{},
	}
}

// wait blocks until the call may be made. If that takes longer than maxWait or
// than half of what is left of the context, it returns at once with the delay.
func (l *Limits) wait(ctx context.Context, chat string, lane Lane) (time.Duration, error) {
	if chat == "" {
		return 0, nil
	}
	longest := maxWait
	if deadline, ok := ctx.Deadline(); ok {
		longest = min(longest, time.Until(deadline)/2)
	}
	now := l.now()
	delay, cancel := l.reserve(now, chat, lane)
	if delay > longest {
		cancel()
		return max(delay, time.Second), errTooLong
	}
	if delay <= 0 {
		return 0, nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0, nil
	case <-ctx.Done():
		cancel()
		return time.Second, ctx.Err()
	}
}

// reserve takes a turn in every bucket that counts and returns the longest
// delay among them.
func (l *Limits) reserve(now time.Time, chat string, lane Lane) (time.Duration, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	c := l.chat(chat)
	c.used = now
	if closed := c.until.Sub(now); closed > 0 {
		return closed, func() {}
	}
	buckets := []*rate.Limiter{c.lim, l.all}
	var turns []*rate.Reservation
	switch lane {
	case Taps:
		buckets[0] = c.taps
		turns = append(turns, c.lim.ReserveN(now, 1))
	case Cards:
		buckets = append(buckets, l.cards)
	case Posts:
	}
	var delay time.Duration
	for _, b := range buckets {
		r := b.ReserveN(now, 1)
		turns = append(turns, r)
		delay = max(delay, r.DelayFrom(now))
	}
	return delay, func() {
		for _, r := range turns {
			r.CancelAt(now)
		}
	}
}

// learn closes a chat for the time that Telegram asked for, and slows it down;
// a chat that is left alone for a while starts afresh.
func (l *Limits) learn(chat string, after time.Duration) {
	if chat == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c, now := l.chat(chat), l.now()
	c.used = now
	c.until = now.Add(after)
	for _, b := range []*rate.Limiter{c.lim, c.taps} {
		b.SetLimitAt(now, max(c.base/4, b.Limit()*3/4))
	}
	// That burst was too long for Telegram: what comes next in this chat has none.
	c.taps.SetBurstAt(now, chatBurst)
}

// chat returns the bucket of a chat; the caller holds mu.
func (l *Limits) chat(chat string) *chatLimit {
	c := l.chats[chat]
	if c == nil {
		c = &chatLimit{base: 1, lim: rate.NewLimiter(1, chatBurst), taps: rate.NewLimiter(1, tapBurst)}
		if isGroup(chat) {
			c.base = rate.Limit(groupPerMinute / 60.0)
			c.lim = rate.NewLimiter(c.base, groupBurst)
			c.taps = rate.NewLimiter(c.base, groupBurst)
		}
		l.chats[chat] = c
	}
	return c
}

// sweep forgets chats that nobody wrote to; the caller holds mu.
func (l *Limits) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for id, c := range l.chats {
		if now.Sub(c.used) > forgetAfter && now.After(c.until) {
			delete(l.chats, id)
		}
	}
}

// isGroup: ids of groups and channels are negative; @names are channels too.
func isGroup(chat string) bool { return strings.HasPrefix(chat, "-") || strings.HasPrefix(chat, "@") }

// ClosedFor is how long a 429 keeps the chat closed; 0 if it is open.
func (l *Limits) ClosedFor(chat string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chats[chat]
	if c == nil {
		return 0
	}
	return max(0, c.until.Sub(l.now()))
}
