package article

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"titles and initials do not end a sentence": {
			"Mr. Smith met J. K. Rowling. They talked for 2.5 hours.",
			[]string{"Mr. Smith met J. K. Rowling.", "They talked for 2.5 hours."},
		},
		"a country's initials stay in one piece": {
			"The U.S. Senate voted on Monday. It passed.",
			[]string{"The U.S. Senate voted on Monday.", "It passed."},
		},
		"Russian abbreviations": {
			"Завод им. Кирова выпустил 5 тыс. машин, т.е. вдвое больше. План выполнен.",
			[]string{"Завод им. Кирова выпустил 5 тыс. машин, т.е. вдвое больше.", "План выполнен."},
		},
		"Russian initials": {
			"Поэт А. С. Пушкин родился в Москве. Он писал стихи.",
			[]string{"Поэт А. С. Пушкин родился в Москве.", "Он писал стихи."},
		},
		"a quotation is kept whole": {
			"Он сказал: «Мы готовы. Мы идём». Все ушли.",
			[]string{"Он сказал: «Мы готовы. Мы идём».", "Все ушли."},
		},
		"an unclosed bracket does not swallow the article": {
			"It began (as ever. " + strings.Repeat("Then it went on for a while. ", 40),
			nil,
		},
		"paragraphs and hard-wrapped lines": {
			"A headline without a stop\n\nFirst line of the text,\nwhich goes on. Second!\nThird?",
			[]string{"A headline without a stop", "First line of the text, which goes on.", "Second!", "Third?"},
		},
		"a year's abbreviation ends a sentence before a capital": {
			"Это было в 2025 г. Потом стало лучше и т.д. Конец.",
			[]string{"Это было в 2025 г.", "Потом стало лучше и т.д.", "Конец."},
		},
		"nothing": {" \n\t", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Sentences(c.text)
			if c.want == nil && c.text != " \n\t" {
				if len(got) < 10 {
					t.Errorf("only %d sentences", len(got))
				}
				return
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzSentencesLoseNoWord(f *testing.F) {
	f.Add("Mr. Smith (of the U.S. Senate) said: «Да. Нет». Then he left…\n\nBye")
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.Join(strings.Fields(text), " ")
		got := strings.Join(Sentences(text), " ")
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%q became %q", text, got)
		}
	})
}
