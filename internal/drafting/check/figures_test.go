package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/postonce/postonce/internal/article/labelled"
	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/drafting/extract"
)

// TestFaithfulnessIsChecked gates the checks on texts out of the labelled set:
// untouched, and with one thing changed.
func TestFaithfulnessIsChecked(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ru"} {
		rng := rand.New(rand.NewPCG(1, 2))
		var untouched, links, numbers, quotes tally
		for _, it := range labelled.Items() {
			if it.Language != lang {
				continue
			}
			src := check.Source{Title: it.Title, Text: it.Text}
			d := extract.Compose(extract.Input{Title: it.Title, Text: it.Text})
			body := strings.Join(d.Body, "\n\n")
			found := func(body string) []check.Finding {
				return check.All(check.Text{Headline: d.Headline, Body: body}, src, check.Rules{Language: lang, MaxUnits: 2000})
			}
			fs := found(body)
			untouched.add(!check.Passes(fs))
			if !check.Passes(fs) {
				t.Logf("false alarm %v on %q", fs, body)
			}
			for _, link := range foreign() {
				links.add(has(found(body+" "+link), check.Links))
			}
			if changed, ok := changeNumber(body, rng); ok {
				caught := has(found(changed), check.Numbers)
				numbers.add(caught)
				if !caught {
					t.Logf("a changed number passed: %q", changed)
				}
			}
			for _, q := range invented(lang) {
				quotes.add(has(found(body+" "+q), check.Quotes))
			}
		}
		t.Logf("%s: false alarms %s, links %s, numbers %s, quotations %s", lang, untouched, links, numbers, quotes)
		if untouched.share() > 0.015 || links.share() < 1 || numbers.share() < 0.9 || quotes.share() < 0.95 {
			t.Errorf("%s: want at most 1.5 %%, then 100, 90 and 95 %%", lang)
		}
	}
}

type tally struct{ yes, all int }

func (t *tally) add(yes bool) {
	t.all++
	if yes {
		t.yes++
	}
}

func (t tally) share() float64 { return float64(t.yes) / float64(max(1, t.all)) }

func (t tally) String() string { return fmt.Sprintf("%d of %d", t.yes, t.all) }

func has(fs []check.Finding, code check.Code) bool {
	for _, f := range fs {
		if f.Code == code {
			return true
		}
	}
	return false
}

func foreign() []string {
	return []string{
		"https://evil.example/x", "http://1.2.3.4/", "evil.com", "www.evil.org", "t.me/evil", "@evil_channel", "bob@evil.org", "tg://resolve?domain=evil",
		"пример.рф", "Подробнее:evil.ru", "(evil.co.uk)", "«evil.io»", "ftp://evil.net/a", "evil.com/free?x=1", "EVIL.COM", "t.me/+AbCdEf",
	}
}

func invented(lang string) []string {
	if lang == "ru" {
		return []string{"«Мы никогда такого не видели», — сказал он.", "По его словам, это „большая победа для всех“ участников.", "«Цены вырастут вдвое уже завтра», — считают эксперты."}
	}
	return []string{`"We have never seen anything like it," he said.`, "He called it “a great victory for everybody”.", "They said it was 'the end of an era' for all."}
}

// changeNumber turns one digit of one number into another.
func changeNumber(s string, rng *rand.Rand) (string, bool) {
	var at []int
	for i, r := range s {
		if r >= '1' && r <= '9' && (i == 0 || !unicode.IsDigit(rune(s[i-1]))) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return s, false
	}
	i := at[rng.IntN(len(at))]
	digit := byte('1' + (int(s[i]-'1')+1+rng.IntN(8))%9)
	return s[:i] + string(digit) + s[i+1:], true
}
