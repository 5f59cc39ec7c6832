package scoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring/bayes"
	"github.com/postonce/postonce/internal/scoring/keywords"
)

// workScore scores one story for one channel and proposes it if it is worth it.
func (s *Service) workScore(ctx context.Context, job *queue.Job[scoreArgs]) error {
	a := job.Args
	sub, err := s.subjects.read(ctx, a.ChannelID, a.StoryID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // the channel does not follow the source any more
	}
	if err != nil {
		return err
	}
	f := featuresOf(sub.item)
	counts, totals, err := s.models.counts(ctx, s.cfg.Pool, a.ChannelID, sub.taught, &f)
	if err != nil {
		return err
	}
	v := judge(sub, f, s.topics.of(sub), counts, totals, s.cfg.Now(), a.Baseline)
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := explore(ctx, tx, a.ChannelID, &v); err != nil {
			return err
		}
		fresh, err := keep(ctx, tx, a, sub, f.terms, v)
		if err != nil || !fresh || !v.proposed() {
			return err
		}
		return s.cfg.OnProposal(ctx, tx, Proposal{
			ChannelID: a.ChannelID, StoryID: a.StoryID, Score: v.score, Explore: v.verdict == verdictExplore,
		})
	})
}

// The verdicts, as the column spells them; Rescue makes one that was proposed below the threshold "rescued".
const (
	verdictProposed = "proposed"
	verdictExplore  = "explore"
	verdictBelow    = "below"
	verdictRuledOut = "ruled_out"
	verdictBaseline = "baseline"
)

// verdict is the outcome of the rule for one pair.
type verdict struct {
	score   int
	verdict string
	reasons []editorial.Reason
}

func (v verdict) proposed() bool {
	return v.verdict == verdictProposed || v.verdict == verdictExplore || v.verdict == verdictBaseline
}

const (
	// featureBytes bounds what of a text is learned from: the lead says what it is about.
	featureBytes = 2000
	// tooOld rules out what is no news; a baseline proposes the freshest whatever its age.
	tooOld = 7 * 24 * time.Hour
	// neutral is the score without topics and decisions, before freshness and source.
	neutral = 55
	// freshBonus is what an item of this hour gains; it halves every halfLife.
	freshBonus = 12
	halfLife   = 12 * time.Hour
	// exploreEvery makes one of so many proposals one from below the threshold.
	exploreEvery = 20
	// shownWords bounds the words that a reason names.
	shownWords = 4
)

// features are the words of an item, cut once for topics and lessons.
type features struct {
	doc      keywords.Doc
	terms    []string // the distinct ones, in the order of their first mention
	surfaces []string // how each of them is written there
}

func featuresOf(it editorial.Item) features {
	text := head(it.Text, featureBytes)
	most := (len(it.Title) + len(text)) / 7
	f := features{terms: make([]string, 0, most), surfaces: make([]string, 0, most)}
	all := make([]string, 0, most)
	seen := make(map[string]struct{}, most)
	see := func(w words.Word) bool {
		if !words.Carries(w) {
			return true
		}
		all = append(all, w.Stem)
		if _, dup := seen[w.Stem]; !dup {
			seen[w.Stem] = struct{}{}
			f.terms, f.surfaces = append(f.terms, w.Stem), append(f.surfaces, w.Surface)
		}
		return true
	}
	words.Scan(it.Title, see)
	title := len(all)
	words.Scan(text, see)
	f.doc = keywords.Doc{Title: all[:title:title], Text: all[title:]}
	return f
}

// judge is the whole rule; it is pure.
func judge(sub subject, f features, topics keywords.Topics, counts []bayes.Count, totals bayes.Totals, now time.Time, baseline bool) verdict {
	if r, ruled := ruledOut(sub, now, baseline); ruled {
		return verdict{verdict: verdictRuledOut, reasons: []editorial.Reason{r}}
	}
	p, reasons := relevance(f, topics, counts, totals)
	score := p * 100
	age := max(0, now.Sub(sub.item.When()))
	fresh := freshBonus * (math.Exp2(-age.Hours()/halfLife.Hours()) - 0.5)
	score += fresh
	reasons = append(reasons, freshness(int(math.Round(fresh))))
	if sub.weight != 100 {
		gain := score * (float64(sub.weight)/100 - 1)
		score += gain
		reasons = append(reasons, editorial.Reason{Code: "source", Points: int(math.Round(gain))})
	}
	v := verdict{score: min(100, max(0, int(math.Round(score)))), reasons: reasons}
	switch {
	case v.score >= sub.threshold:
		v.verdict = verdictProposed
	case baseline:
		v.verdict = verdictBaseline
	default:
		v.verdict = verdictBelow
	}
	return v
}

func freshness(points int) editorial.Reason {
	code := "fresh"
	if points < 0 {
		code = "old"
	}
	return editorial.Reason{Code: code, Points: points}
}

// relevance blends the owner's topics with what decisions taught:
// P = w·NB + (1−w)·keywords, w = n/(n+50).
func relevance(f features, topics keywords.Topics, counts []bayes.Count, totals bayes.Totals) (float64, []editorial.Reason) {
	w := bayes.Trust(totals)
	if topics.Empty() && w == 0 {
		return neutral / 100., []editorial.Reason{{Code: "no_topics"}}
	}
	byTopics, hits := topics.Score(f.doc)
	if topics.Empty() {
		byTopics = neutral / 100.
	}
	reasons := hitReasons(hits, 1-w)
	p := (1 - w) * byTopics
	if w > 0 {
		var learned strongest
		p += w * bayes.Probability(totals, counts, learned.see)
		reasons = append(reasons, learned.reasons(f.surfaces, w)...)
	}
	return p, reasons
}

const scoreInsertSQL = `
INSERT INTO scores (channel_id, story_id, version, score, verdict, reasons, features, source_id)
VALUES ($1, $2, $3, $4, $5, $6, string_to_array($7, ' '), $8)
    ON CONFLICT (channel_id, story_id, version) DO NOTHING
RETURNING true`

// keep records the score; false when another execution had.
func keep(ctx context.Context, tx pgx.Tx, a scoreArgs, sub subject, terms []string, v verdict) (bool, error) {
	reasons, err := json.Marshal(v.reasons)
	if err != nil {
		return false, err
	}
	var fresh bool
	err = tx.QueryRow(ctx, scoreInsertSQL, a.ChannelID, a.StoryID, Version, v.score, v.verdict, reasons, joined(terms), sub.item.SourceID).Scan(&fresh)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep score: %w", err)
	}
	return fresh, nil
}

// exploreDueSQL tells that the channel's last proposals, so many, hold none that
// explored.
const exploreDueSQL = `
SELECT count(*) = $2
       AND bool_and(verdict <> 'explore')
  FROM (SELECT verdict
          FROM scores
         WHERE channel_id = $1
           AND verdict IN ('proposed', 'explore')
         ORDER BY scored_at DESC
         LIMIT $2) AS latest`

// explore turns a story below the threshold into a proposal where one is due, so
// that taste is learned beyond what is known already: one in exploreEvery of all
// proposals. What the owner avoids, and what sources of no weight bring, is no question.
func explore(ctx context.Context, tx pgx.Tx, channelID int64, v *verdict) error {
	if v.verdict != verdictBelow || v.score == 0 || slices.ContainsFunc(v.reasons, func(r editorial.Reason) bool { return r.Code == "avoid" }) {
		return nil
	}
	var due *bool
	if err := tx.QueryRow(ctx, exploreDueSQL, channelID, exploreEvery-1).Scan(&due); err != nil {
		return fmt.Errorf("explore for channel %d: %w", channelID, err)
	}
	if due != nil && *due {
		v.verdict = verdictExplore
		v.reasons = append(v.reasons, editorial.Reason{Code: "explore"})
	}
	return nil
}

// head cuts a text at a rune's boundary.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
