package check_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/article/labelled"
	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/drafting/extract"
)

// TestFaithfulnessHoldsOnOtherChanges gates the checks on ways of changing a text that
// had no part in their making: the first run of this test was its measurement.
func TestFaithfulnessHoldsOnOtherChanges(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ru"} {
		rng := rand.New(rand.NewPCG(7, 7))
		var numbers, quotes, links tally
		for _, it := range labelled.Items() {
			if it.Language != lang {
				continue
			}
			src := check.Source{Title: it.Title, Text: it.Text}
			d := extract.Compose(extract.Input{Title: it.Title, Text: it.Text})
			body := strings.Join(d.Body, "\n\n")
			found := func(body string, code check.Code) bool {
				return has(check.All(check.Text{Headline: d.Headline, Body: body}, src, check.Rules{Language: lang, MaxUnits: 2000}), code)
			}
			for _, changed := range otherNumbers(body, it.Title+"\n"+it.Text, rng) {
				caught := found(changed, check.Numbers)
				numbers.add(caught)
				if !caught {
					t.Logf("a changed number passed: %q", changed)
				}
			}
			for _, changed := range otherQuotes(body, lang, rng) {
				caught := found(changed, check.Quotes)
				quotes.add(caught)
				if !caught {
					t.Logf("a changed quotation passed: %q", changed)
				}
			}
			for _, link := range []string{
				"HTTPS://Evil.Example", "evil.app/x#y", "see:evil.dev", "evil.me", "joinchat t.me/joinchat/AAAA", "telegram.me/evil", "@Evil_Bot", "a@b.co",
				"сайт.онлайн", "xn--e1afmkfd.xn--p1ai", "evil.info?ref=1", "«evil.news/today»", "evil.co.jp:443/a", "wss://evil.example", "evil.ru,", "www.evil.tv",
			} {
				caught := found(body+" "+link, check.Links)
				links.add(caught)
				if !caught {
					t.Logf("a link passed: %q", link)
				}
			}
		}
		t.Logf("%s: numbers %s, quotations %s, links %s", lang, numbers, quotes, links)
		if numbers.share() < 0.9 || quotes.share() < 0.95 || links.share() < 1 || numbers.all < 50 || quotes.all < 10 {
			t.Errorf("%s: want 90, 95 and 100 %%", lang)
		}
	}
}

var digits = regexp.MustCompile(`\d[\d,.]*\d|\d`) //nolint:gochecknoglobals // compiled once

// otherNumbers changes one number at a time: grown tenfold, off by one, its digits
// turned round, its scale another.
func otherNumbers(s, source string, rng *rand.Rand) []string {
	var out []string
	all := digits.FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return nil
	}
	at := all[rng.IntN(len(all))]
	old := s[at[0]:at[1]]
	backwards := []byte(old)
	slices.Reverse(backwards)
	last := old[len(old)-1]
	tenfold := old + "0"
	if strings.ContainsAny(old, ".,") {
		tenfold = "1" + old // another nought behind a point would change nothing
	}
	for _, n := range []string{tenfold, old[:len(old)-1] + string('1'+(last-'0')%9), string(backwards)} {
		if !strings.Contains(source, n) && n != old && n[0] != '0' {
			out = append(out, s[:at[0]]+n+s[at[1]:])
		}
	}
	for _, swap := range [][2]string{{" million", " billion"}, {" billion", " million"}, {" млн", " млрд"}, {" млрд", " млн"}, {" тысяч ", " млн "}} {
		if strings.Contains(s, swap[0]) && !strings.Contains(source, swap[1]) {
			out = append(out, strings.Replace(s, swap[0], swap[1], 1))
			break
		}
	}
	return out
}

var quoted = regexp.MustCompile(`["“«]([^"”»]{15,})["”»]`) //nolint:gochecknoglobals // compiled once

// otherQuotes changes real quotations: a word left out, one exchanged, two turned
// round; and puts marks around words of the text that nobody said.
func otherQuotes(s, lang string, rng *rand.Rand) []string {
	word := map[string]string{"en": "hardly", "ru": "едва"}[lang]
	open, shut := `"`, `"`
	if lang == "ru" {
		open, shut = "«", "»"
	}
	var out []string
	if m := quoted.FindStringSubmatchIndex(s); m != nil {
		ws := strings.Fields(s[m[2]:m[3]])
		if len(ws) > 4 {
			i := 1 + rng.IntN(len(ws)-3)
			less := slices.Delete(slices.Clone(ws), i, i+1)
			other := slices.Clone(ws)
			other[i] = word
			turned := slices.Clone(ws)
			turned[i], turned[i+1] = turned[i+1], turned[i]
			for _, v := range [][]string{less, other, turned} {
				out = append(out, s[:m[2]]+strings.Join(v, " ")+s[m[3]:])
			}
		}
	}
	if ws := strings.Fields(s); len(ws) > 12 {
		out = append(out, s+" "+open+ws[9]+" "+ws[2]+" "+word+" "+ws[6]+" "+ws[4]+shut+".")
	}
	return out
}
