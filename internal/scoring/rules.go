package scoring

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/scoring/bayes"
	"github.com/postonce/postonce/internal/scoring/keywords"
)

// ruledOut applies the hard rules of a subscription, which no number outweighs.
func ruledOut(sub subject, now time.Time, baseline bool) (editorial.Reason, bool) {
	text := strings.ToLower(sub.item.Title + "\n" + sub.item.Text)
	if w, ok := contained(text, sub.never); ok {
		return editorial.Reason{Code: "never", Words: []string{w}}, true
	}
	if len(sub.must) > 0 {
		if _, ok := contained(text, sub.must); !ok {
			return editorial.Reason{Code: "must", Words: sub.must}, true
		}
	}
	if sub.pattern != "" {
		// The pattern was compiled when it was set; one that no longer does rules nothing out.
		if re, err := regexp.Compile(sub.pattern); err == nil && !re.MatchString(sub.item.Title+"\n"+sub.item.Text) {
			return editorial.Reason{Code: "pattern", Words: []string{sub.pattern}}, true
		}
	}
	if !baseline && now.Sub(sub.item.When()) > tooOld {
		return editorial.Reason{Code: "too_old"}, true
	}
	if sub.item.Title == "" && sub.item.Text == "" {
		return editorial.Reason{Code: "too_short"}, true
	}
	return editorial.Reason{}, false
}

func contained(text string, list []string) (string, bool) {
	for _, w := range list {
		if w = strings.TrimSpace(w); w != "" && strings.Contains(text, strings.ToLower(w)) {
			return w, true
		}
	}
	return "", false
}

// entries cuts what an owner wrote into words and phrases: one a line, or
// separated by commas or semicolons.
func entries(s string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == ',' || r == ';' }),
		func(e string) bool { return strings.TrimSpace(e) == "" })
}

// hitReasons names the topics that stood in the text.
func hitReasons(hits []keywords.Hit, share float64) []editorial.Reason {
	look, avoid := editorial.Reason{Code: "look_for"}, editorial.Reason{Code: "avoid"}
	for _, h := range hits {
		r := &look
		if h.Weight < 0 {
			r = &avoid
		}
		r.Words = append(r.Words, strings.TrimSpace(h.Entry))
		r.Points += points(h.Weight * share)
	}
	return present(look, avoid)
}

// learnedReasons names the words that decisions taught, the strongest first.
func learnedReasons(learned []bayes.Evidence, terms []string, share float64) []editorial.Reason {
	slices.SortStableFunc(learned, func(a, b bayes.Evidence) int {
		return int(math.Copysign(1, math.Abs(b.Weight)-math.Abs(a.Weight)))
	})
	liked, disliked := editorial.Reason{Code: "liked_words"}, editorial.Reason{Code: "disliked_words"}
	for _, e := range learned {
		r := &liked
		if e.Weight < 0 {
			r = &disliked
		}
		if len(r.Words) < shownWords {
			r.Words = append(r.Words, terms[e.Index])
			r.Points += points(e.Weight * share)
		}
	}
	return present(liked, disliked)
}

// points turns log odds into what they move near the middle of the scale.
func points(logOdds float64) int { return int(math.Round(25 * logOdds)) }

func present(rs ...editorial.Reason) []editorial.Reason {
	return slices.DeleteFunc(rs, func(r editorial.Reason) bool { return len(r.Words) == 0 })
}
