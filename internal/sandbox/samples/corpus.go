package samples

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

//go:embed corpus
var corpusFiles embed.FS

// template is one kind of news; text in braces is chosen anew for each entry:
// {n:low-high} a number, {word} one of the corpus's list.
type template struct {
	title string
	tags  []string
	body  []string
}

type corpus struct {
	words     map[string][]string
	templates []template
}

// readCorpus reads a file of word lists ("@name = a|b") and templates ("# title").
func readCorpus(name string) (corpus, error) {
	raw, err := corpusFiles.ReadFile("corpus/" + name + ".txt")
	if err != nil {
		return corpus{}, fmt.Errorf("samples: %w", err)
	}
	c := corpus{words: map[string][]string{}}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "@"):
			key, list, _ := strings.Cut(line[1:], "=")
			c.words[strings.TrimSpace(key)] = strings.Split(strings.TrimSpace(list), "|")
		case strings.HasPrefix(line, "# "):
			c.templates = append(c.templates, template{title: line[2:]})
		case len(c.templates) == 0:
			return c, fmt.Errorf("samples: %s: text before the first title", name)
		case strings.HasPrefix(line, "tags:"):
			last := &c.templates[len(c.templates)-1]
			for tag := range strings.SplitSeq(line[5:], ",") {
				last.tags = append(last.tags, strings.TrimSpace(tag))
			}
		default:
			last := &c.templates[len(c.templates)-1]
			last.body = append(last.body, line)
		}
	}
	if len(c.templates) == 0 {
		return c, fmt.Errorf("samples: %s has no templates", name)
	}
	return c, nil
}

var slot = regexp.MustCompile(`\{[^{}]+\}`)

// write makes entry n: the templates in turn, each round in another order.
func (c corpus) write(seed uint64, n int64) (title string, tags, body []string) {
	round, place := n/int64(len(c.templates)), int(n%int64(len(c.templates)))
	order := rand.New(rand.NewPCG(seed, uint64(round))).Perm(len(c.templates))
	t := c.templates[order[place]]
	r := rand.New(rand.NewPCG(seed^0x9e3779b97f4a7c15, uint64(n)))
	chosen := map[string]string{}
	fill := func(s string) string {
		return slot.ReplaceAllStringFunc(s, func(m string) string { return c.choose(r, chosen, m[1:len(m)-1]) })
	}
	title = sentence(fill(t.title))
	for _, p := range t.body {
		body = append(body, fill(p))
	}
	return title, t.tags, body
}

// choose keeps a choice for the whole entry, so that a title and its text speak
// of the same ship and the same number.
func (c corpus) choose(r *rand.Rand, chosen map[string]string, key string) string {
	if v, ok := chosen[key]; ok {
		return v
	}
	v := key
	if bounds, ok := strings.CutPrefix(key, "n:"); ok {
		lo, hi, _ := strings.Cut(bounds, "-")
		a, _ := strconv.Atoi(lo)
		b, _ := strconv.Atoi(hi)
		v = strconv.Itoa(a + r.IntN(b-a+1))
	} else if list := c.words[key]; len(list) > 0 {
		v = list[r.IntN(len(list))]
	}
	chosen[key] = v
	return v
}

// sentence capitalises a first letter that a slot wrote.
func sentence(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}
