package figures

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/postonce/postonce/internal/scoring/bayes"
	"github.com/postonce/postonce/internal/scoring/keywords"
)

// agNews reads test.csv of AG News (class, title, text) from POSTONCE_AGNEWS.
func agNews(t *testing.T) []newsItem {
	t.Helper()
	dir := os.Getenv("POSTONCE_AGNEWS")
	if dir == "" {
		t.Skip("POSTONCE_AGNEWS names no folder with AG News' test.csv (class, title, description): skipped")
	}
	f, err := os.Open(filepath.Join(dir, "test.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.LazyQuotes = true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	topics := map[string]string{"1": "world", "2": "sport", "3": "business", "4": "tech"}
	var items []newsItem
	for _, row := range rows {
		if topic, ok := topics[row[0]]; ok && len(row) > 2 {
			items = append(items, newsItem{Topic: topic, Title: row[1], Text: row[2]})
		}
	}
	return items
}

type newsItem struct {
	Topic, Title, Text string
}

// lookFor is what the owners of the four simulated channels wrote down.
func lookFor(topic string) []string {
	switch topic {
	case "world":
		return []string{"war", "president", "minister", "election", "Iraq", "Israel", "Palestinian", "Iran", "troops", "killed", "bomb", "UN", "peace", "rebels", "nuclear", "Afghanistan", "hostage", "police", "Darfur", "Russia"}
	case "sport":
		return []string{"game", "team", "season", "coach", "cup", "league", "win", "Olympic", "match", "champion", "football", "baseball", "NBA", "NFL", "tennis", "golf", "players", "victory", "Red Sox", "quarterback"}
	case "business":
		return []string{"shares", "stocks", "profit", "oil", "prices", "company", "market", "bank", "sales", "economy", "investors", "earnings", "quarter", "merger", "deal", "Wall Street", "jobs", "airline", "dollar", "billion"}
	case "tech":
		return []string{"software", "internet", "Microsoft", "Google", "computer", "web", "space", "NASA", "scientists", "phone", "wireless", "Apple", "IBM", "Linux", "security", "online", "search", "technology", "music", "virus"}
	}
	return ownTopics(topic)
}

// ownTopics are those of the channels that read the labelled set: a few words in
// both of its languages, written without looking at the items.
func ownTopics(topic string) []string {
	switch topic {
	case "space":
		return []string{"space", "rocket", "orbit", "satellite", "Moon", "Mars", "telescope", "astronaut", "космос", "ракета", "орбита", "спутник", "Луна", "Марс", "телескоп", "астронавт"}
	case "money":
		return []string{"bank", "shares", "profit", "prices", "oil", "dollar", "rates", "inflation", "банк", "акции", "прибыль", "цены", "нефть", "доллар", "ставка", "инфляция"}
	case "sport":
		return []string{"match", "goal", "final", "coach", "season", "win", "champion", "race", "матч", "гол", "финал", "тренер", "сезон", "победа", "чемпион", "гонка"}
	case "health":
		return []string{"doctors", "hospital", "patients", "vaccine", "disease", "study", "medicine", "health", "врачи", "больница", "пациент", "вакцина", "болезнь", "лекарство", "здоровье", "медицина"}
	}
	return nil
}

func curve(items []newsItem, topic string, look []string, seed uint64, steps []int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	order := rng.Perm(len(items))
	held := order[max(steps[len(steps)-1], len(order)-2000):]
	topics := keywords.New(look, nil)
	var totals bayes.Totals
	counts := map[string]bayes.Count{}
	var out []float64
	taught := 0
	for _, step := range steps {
		for ; taught < step; taught++ {
			it := items[order[taught]]
			keep := it.Topic == topic
			if keep {
				totals.Liked++
			} else {
				totals.Disliked++
			}
			for w := range distinct(keywords.NewDoc(it.Title, it.Text)) {
				c := counts[w]
				if keep {
					c.Liked++
				} else {
					c.Disliked++
				}
				counts[w] = c
			}
		}
		var judged []Judged
		for _, i := range held {
			d := keywords.NewDoc(items[i].Title, items[i].Text)
			p, _ := topics.Score(d)
			var cs []bayes.Count
			for w := range distinct(d) {
				cs = append(cs, counts[w])
			}
			w := bayes.Trust(totals)
			p = w*bayes.Probability(totals, cs, nil) + (1-w)*p
			judged = append(judged, Judged{P: p, Keep: items[i].Topic == topic})
		}
		out = append(out, AUC(judged))
	}
	return out
}

func distinct(d keywords.Doc) map[string]struct{} {
	set := map[string]struct{}{}
	for _, w := range d.Title {
		set[w] = struct{}{}
	}
	for _, w := range d.Text {
		set[w] = struct{}{}
	}
	return set
}

func TestAGNews(t *testing.T) {
	items := agNews(t)
	steps := []int{0, 50, 200, 800}
	mean := make([]float64, len(steps))
	for _, topic := range []string{"world", "sport", "business", "tech"} {
		m := make([]float64, len(steps))
		for seed := range uint64(5) {
			for i, v := range curve(items, topic, lookFor(topic), seed, steps) {
				m[i] += v / 5
				mean[i] += v / 20
			}
		}
		t.Logf("%-9s %.3f", topic, m)
	}
	t.Logf("mean      %.3f at %v decisions", mean, steps)
	for i, gate := range []float64{0.79, 0.87, 0.92, 0.945} {
		if mean[i] < gate {
			t.Errorf("AUC %.3f after %d decisions, want %.3f", mean[i], steps[i], gate)
		}
	}
}
