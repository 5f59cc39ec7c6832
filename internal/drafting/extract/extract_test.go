package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComposeReadsLikeAPost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   Input
		want Draft
	}{
		"a feed entry with the usual clutter": {
			Input{
				Title: "Rocket Lab launches tenth satellite - The Daily Orbit", Source: "The Daily Orbit",
				Text: "WELLINGTON (Reuters) - Rocket Lab put its tenth radar satellite into orbit on Tuesday. Photo: NASA\nThe launch took place from Mahia at 09:15 local time. " +
					"Read more on our site https://example.org/x. Follow us on Twitter @orbit.\nThe post Rocket Lab launches tenth satellite appeared first on The Daily Orbit.",
			},
			Draft{Headline: "Rocket Lab launches tenth satellite", Body: []string{
				"Rocket Lab put its tenth radar satellite into orbit on Tuesday. The launch took place from Mahia at 09:15 local time.",
			}},
		},
		"a Russian agency": {
			Input{
				Title: "ЦБ сохранил ключевую ставку | РБК", Source: "РБК",
				Text: "МОСКВА, 5 июня — РИА Новости. Банк России сохранил ключевую ставку на уровне 16%. Фото: Александр Иванов\n\nРешение совпало с прогнозом аналитиков. Читайте также: курс рубля вырос. Подписывайтесь на наш канал!",
			},
			Draft{Headline: "ЦБ сохранил ключевую ставку", Body: []string{
				"Банк России сохранил ключевую ставку на уровне 16%. Решение совпало с прогнозом аналитиков.",
			}},
		},
		"a post of a Telegram channel has no title": {
			Input{Text: "⚡️ В Казани открыли новую станцию метро\n\nОна соединит центр с аэропортом. Строительство заняло четыре года.\n\n#казань #метро\n@kazan_news"},
			Draft{Headline: "В Казани открыли новую станцию метро", Body: []string{"Она соединит центр с аэропортом. Строительство заняло четыре года."}},
		},
		"a cut summary ends with a whole sentence": {
			Input{Title: "Go 1.26 is out", Text: "The Go team released Go 1.26 today. It brings a faster garbage collector. You can download it from the […]"},
			Draft{Headline: "Go 1.26 is out", Body: []string{"The Go team released Go 1.26 today. It brings a faster garbage collector."}},
		},
		"an echo of the headline is not repeated": {
			Input{Title: "Storm hits coast", Text: "Storm hits the coast. Thousands of homes lost power overnight, the grid operator reported."},
			Draft{Headline: "Storm hits coast", Body: []string{"Thousands of homes lost power overnight, the grid operator reported."}},
		},
		"a link list gives a headline alone": {
			Input{Title: "Show HN: A tiny database", Text: "Article URL: https://example.org/\n\nComments URL: https://news.example.org/item?id=1\n\nPoints: 5\n\n# Comments: 2"},
			Draft{Headline: "Show HN: A tiny database"},
		},
		"nothing gives nothing": {Input{}, Draft{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, Compose(c.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTitlesLoseWhatIsNotTheirs(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"Ky. Company Wins Grant (AP)", "", "Ky. Company Wins Grant"},
		{"Apple ships - a lot - of phones", "", "Apple ships - a lot - of phones"},
		{"Ставка ЦБ: что будет дальше — Ведомости", "", "Ставка ЦБ: что будет дальше"},
		{"Spider-Man — trailer", "Movie Blog", "Spider-Man — trailer"},
		{"News | World | The Site", "The Site", "News | World"},
		{"Breaking: see https://t.co/abc now", "", "Breaking: see now"},
	} {
		if got := Headline(c[0], c[1]); got != c[2] {
			t.Errorf("Headline(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func FuzzEverySentenceStandsInTheItem(f *testing.F) {
	f.Add("Title - Site", "LONDON (AP) - First. Second! @me @you https://e.org «да» #x\n\nEnd…")
	f.Fuzz(func(t *testing.T, title, text string) {
		d := Compose(Input{Title: title, Text: text})
		all := strings.Join(d.Body, " ")
		if strings.Contains(all, "://") || strings.Contains(all, "t.me/") {
			t.Errorf("an address in %q", all)
		}
	})
}
