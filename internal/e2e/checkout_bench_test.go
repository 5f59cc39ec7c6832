package e2e_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// backlogSQL fills the bulk tier with jobs of a kind that really does something.
const backlogSQL = `
  WITH named AS (
       INSERT INTO job_keys (job_id, kind, key, generation)
       SELECT nextval('job_id_seq'), 'lapse_plans', n::text, 0
         FROM generate_series(1, $1::int) n
    RETURNING job_id, kind, key
       )
INSERT INTO jobs (id, kind, tier, key, payload, generation, run_at)
SELECT job_id, kind, 'bulk', key, json_build_object('at', key::bigint), 0, clock_timestamp()
  FROM named`

// TestACheckoutIsDecidedAtOnce measures what a person waits between the tap on
// Pay and the bot's decision, by the stand-in's clock: with nothing else to do,
// and with 100,000 bulk jobs waiting, the two by turns. Telegram waits ten
// seconds; the aim is one. It runs where POSTONCE_BENCH is set.
func TestACheckoutIsDecidedAtOnce(t *testing.T) {
	if os.Getenv("POSTONCE_BENCH") == "" {
		t.Skip("measures where POSTONCE_BENCH is set")
	}
	const backlog, rounds = 100_000, 60
	type side struct {
		name string
		shop *shop
		p    *play.Person
		link string
		took []time.Duration
	}
	sides := []*side{{name: "nothing waiting"}, {name: "100,000 bulk jobs waiting"}}
	for _, one := range sides {
		one.shop = openShop(t)
		one.shop.open()
		p, err := one.shop.stage.NewPerson(t.Context(), "Payer", "en")
		if err != nil {
			t.Fatal(err)
		}
		say(t, p, "/start")
		one.p, one.link = p, one.shop.invoice(p)
	}
	busy := sides[1].shop
	conn := busy.connect()
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), backlogSQL, backlog); err != nil {
		t.Fatal(err)
	}
	for range rounds {
		for _, one := range sides {
			began := time.Now()
			c, err := one.shop.pay(one.p, one.link)
			if err != nil || !c.OK {
				t.Fatalf("%s: %+v, %v", one.name, c, err)
			}
			one.took = append(one.took, time.Since(began))
		}
	}
	var left int
	busy.look("SELECT count(*) FROM jobs WHERE kind = 'lapse_plans'", &left)
	for _, one := range sides {
		slices.Sort(one.took)
		t.Logf("%s: %d checkouts, p50 %s, p95 %s, worst %s", one.name, rounds, one.took[rounds/2].Round(time.Millisecond),
			one.took[rounds*95/100].Round(time.Millisecond), one.took[rounds-1].Round(time.Millisecond))
	}
	t.Logf("%d bulk jobs were left at the end", left)
	if worst := sides[1].took[rounds-1]; worst > time.Second || left == 0 {
		t.Errorf("the worst took %s, with %d bulk jobs left", worst, left)
	}
}
