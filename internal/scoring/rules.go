package scoring

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/scoring/bayes"
	"github.com/postonce/postonce/internal/scoring/keywords"
)

// ruledOut applies the hard rules of a subscription, which no number outweighs.
func ruledOut(sub subject, now time.Time, baseline bool) (editorial.Reason, bool) {
	if l := primary(sub.item.Language); l != "" && len(sub.languages) > 0 && !slices.ContainsFunc(sub.languages, func(w string) bool { return primary(w) == l }) {
		return editorial.Reason{Code: "language", Words: []string{l}}, true
	}
	text := ""
	if len(sub.never)+len(sub.must) > 0 {
		text = strings.ToLower(sub.item.Title + "\n" + sub.item.Text)
	}
	if w, ok := contained(text, sub.never); ok {
		return editorial.Reason{Code: "never", Words: []string{w}}, true
	}
	if len(sub.must) > 0 {
		if _, ok := contained(text, sub.must); !ok {
			return editorial.Reason{Code: "must", Words: sub.must}, true
		}
	}
	if sub.pattern != "" {
		// It compiled when it was set; a pattern that no longer does rules nothing out.
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

// primary is the language of a tag without its region: "pt-BR" is "pt".
func primary(tag string) string {
	tag, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	return tag
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

// topicsCache keeps the topics of channels ready to be matched, by what their owners
// wrote. It is safe for concurrent use.
type topicsCache struct {
	mu   sync.RWMutex
	made map[[2]string]keywords.Topics
}

// topicsKept bounds the topics that are kept ready.
const topicsKept = 1000

func (t *topicsCache) of(sub subject) keywords.Topics {
	key := [2]string{sub.lookFor, sub.avoid}
	t.mu.RLock()
	topics, ok := t.made[key]
	t.mu.RUnlock()
	if ok {
		return topics
	}
	topics = topicsOf(sub)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made == nil || len(t.made) >= topicsKept {
		t.made = map[[2]string]keywords.Topics{}
	}
	t.made[key] = topics
	return topics
}

func topicsOf(sub subject) keywords.Topics {
	return keywords.New(entries(sub.lookFor), entries(sub.avoid))
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

// strongest keeps the words that spoke loudest for and against.
type strongest struct {
	liked, disliked []bayes.Evidence // at most shownWords each, the strongest first
}

func (s *strongest) see(e bayes.Evidence) {
	list := &s.liked
	if e.Weight < 0 {
		list = &s.disliked
	}
	at := len(*list)
	for at > 0 && math.Abs((*list)[at-1].Weight) < math.Abs(e.Weight) {
		at--
	}
	if at < shownWords {
		*list = slices.Insert(*list, at, e)[:min(len(*list)+1, shownWords)]
	}
}

// reasons names the words that decisions taught as people read them in the item, the
// strongest first.
func (s *strongest) reasons(surfaces []string, share float64) []editorial.Reason {
	liked, disliked := editorial.Reason{Code: "liked_words"}, editorial.Reason{Code: "disliked_words"}
	for r, list := range map[*editorial.Reason][]bayes.Evidence{&liked: s.liked, &disliked: s.disliked} {
		for _, e := range list {
			r.Words = append(r.Words, surfaces[e.Index])
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
