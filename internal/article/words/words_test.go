package words

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestFormsOfOneWordMeet(t *testing.T) {
	t.Parallel()
	for _, forms := range [][]string{
		{"launch", "launches", "launched", "launching"},
		{"study", "studies", "studied", "studying"},
		{"make", "makes", "making"},
		{"stop", "stopped", "stopping", "stops"},
		{"company", "companies"},
		{"match", "matches"},
		{"ракета", "ракеты", "ракетами", "ракет", "ракете"},
		{"новый", "новая", "нового", "новыми"},
		{"запустил", "запустила", "запустили", "запустить"},
		{"экономика", "экономики", "экономику"},
		{"кредит", "кредиты", "кредитов", "кредитам"},
		{"учёный", "ученые", "учёных"},
		{"возможность", "возможности", "возможностями"},
	} {
		first := Stem(Fold(forms[0]))
		for _, f := range forms[1:] {
			if got := Stem(Fold(f)); got != first {
				t.Errorf("Stem(%q) = %q, want %q as for %q", f, got, first, forms[0])
			}
		}
	}
}

func TestDifferentWordsStayApart(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"universe", "university"}, {"bus", "but"}, {"king", "kin"}, {"red", "read"}, {"мир", "мера"}, {"война", "воин"}, {"банк", "банкрот"},
	} {
		if a, b := Stem(pair[0]), Stem(pair[1]); a == b {
			t.Errorf("%q and %q both stem to %q", pair[0], pair[1], a)
		}
	}
}

func TestTermsLeaveOutWhatCarriesNothing(t *testing.T) {
	t.Parallel()
	got := Terms("The rockets of 2026 were launched, and GPT-4o isn't a rocket. Ракеты — это не 5G!")
	want := []string{"rocket", "launch", "gpt", "4o", "rocket", "ракет", "5g"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"rocket", "launch", "gpt", "4o", "ракет", "5g"}, Set("rockets launched gpt 4o rocket ракеты 5G")); d != "" {
		t.Error(d)
	}
}

func FuzzScanReportsSlicesOfTheText(f *testing.F) {
	f.Add("Hello, мир! naïve e\u0301 1,5")
	f.Add("\xff\xfe junk \x00")
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		Scan(text, func(w Word) bool {
			if w.Start < end || text[w.Start:w.Start+len(w.Surface)] != w.Surface {
				t.Fatalf("word %q at %d does not stand in the text", w.Surface, w.Start)
			}
			if utf8.ValidString(w.Surface) && !utf8.ValidString(w.Stem) {
				t.Fatalf("stem %q of %q is cut inside a letter", w.Stem, w.Surface)
			}
			end = w.Start + len(w.Surface)
			return true
		})
	})
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("Компания запустила новую ракету с космодрома. The company launched a new rocket from its site. ", 5)
	b.ReportAllocs()
	for b.Loop() {
		Terms(text)
	}
}
