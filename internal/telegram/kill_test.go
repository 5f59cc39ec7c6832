package telegram_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/sandbox/play"
	"github.com/postonce/postonce/internal/telegram"
)

// TestMain turns this test binary into the child that gets killed.
func TestMain(m *testing.M) {
	if os.Getenv("INTAKE_CHILD_DB") != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const handledSQL = `INSERT INTO handled (update_id, text) VALUES ($1, $2)`

// child is a whole process: intake, queue and a handler that notes each update
// in the completing transaction and answers it through the ledger.
func child() error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("INTAKE_CHILD_DB"))
	if err != nil {
		return err
	}
	client, err := telegram.New(telegram.Config{Token: sandbox.DefaultToken, BaseURL: os.Getenv("INTAKE_CHILD_API")})
	if err != nil {
		return err
	}
	cfg := telegram.IntakeConfig{
		Client: client, Pool: pool, Logger: zerolog.Nop(), LongPoll: time.Second,
		Handle: func(ctx context.Context, job *queue.Job[telegram.UpdateArgs], u *models.Update) error {
			_, err := job.Perform(ctx, queue.Effect{
				Key: fmt.Sprintf("reply:%d", u.ID), Request: []byte(u.Message.Text), Timeout: 5 * time.Second,
				Call: func(ctx context.Context) queue.Outcome {
					return telegram.SentToQueue(client.SendMessage(ctx, &bot.SendMessageParams{ChatID: u.Message.Chat.ID, Text: "re " + u.Message.Text}))
				},
			})
			if err != nil {
				return err
			}
			return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, handledSQL, u.ID, u.Message.Text)
				return err
			})
		},
	}
	if address := os.Getenv("INTAKE_CHILD_HOOK"); address != "" {
		cfg.Mode, cfg.WebhookURL = telegram.Webhook, "http://"+address+"/telegram/webhook"
	}
	in, err := telegram.NewIntake(cfg)
	if err != nil {
		return err
	}
	r := queue.NewRegistry()
	in.Register(r)
	if err := queue.New(queue.Config{Pool: pool, Registry: r, Logger: zerolog.Nop()}).Start(ctx); err != nil {
		return err
	}
	if err := in.Start(ctx); err != nil {
		return err
	}
	if address := os.Getenv("INTAKE_CHILD_HOOK"); address != "" {
		return http.ListenAndServe(address, in)
	}
	select {}
}

// TestKilledProcessesLoseAndRepeatNoUpdate sends 400 messages of several people
// while the only process is killed again and again.
func TestKilledProcessesLoseAndRepeatNoUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; run without -short")
	}
	t.Parallel()
	for _, mode := range []telegram.Mode{telegram.Polling, telegram.Webhook} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			killing(t, mode, 400)
		})
	}
}

func killing(t *testing.T, mode telegram.Mode, total int) {
	t.Helper()
	b := newBench(t)
	url := dbtest.URL(t)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), "CREATE TABLE handled (update_id bigint, text text)"); err != nil {
		t.Fatal(err)
	}
	// A dead process is noticed when its lease runs out: the lease of a kind whose measured p99 is short.
	if _, err := pool.Exec(t.Context(), "ALTER TABLE job_kinds ALTER measured_lease SET DEFAULT '10 s'"); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "INTAKE_CHILD_DB="+url, "INTAKE_CHILD_API="+b.url)
	if mode == telegram.Webhook {
		env = append(env, "INTAKE_CHILD_HOOK="+freeAddress(t))
	}
	calm, stop, killed := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() { killed <- killLoop(t, env, calm, stop) }()
	people := crowd(t, b, 10) // a chat takes an answer a second
	for i := range total - len(people) {
		post(t, b.url+fmt.Sprintf("/sandbox/api/people/%d/send", people[i%len(people)]), fmt.Sprintf(`{"text":"m%d"}`, i))
		if i%10 == 0 {
			time.Sleep(1200 * time.Millisecond) // the load goes on while processes die
		}
	}
	close(calm)
	deadline := time.Now().Add(4 * time.Minute)
	settled := func() int {
		return count(t, pool, "SELECT (SELECT count(*) FROM handled) + (SELECT count(*) FROM job_archive WHERE kind = 'update')")
	}
	for settled() < total && time.Now().Before(deadline) {
		time.Sleep(200 * time.Millisecond)
	}
	close(stop)
	t.Logf("%d processes were killed", <-killed)
	checkAfterKills(t, b, pool, total)
}

// crowd is n people who have written to the bot once.
func crowd(t *testing.T, b *bench, n int) []int64 {
	t.Helper()
	people, stage := []int64{b.person}, play.New(b.url)
	for len(people) < n {
		p, err := stage.NewPerson(t.Context(), fmt.Sprintf("Person %d", len(people)), "en")
		if err == nil {
			_, err = p.Send(t.Context(), "/start")
		}
		if err != nil {
			t.Fatal(err)
		}
		people = append(people, p.ID)
	}
	return people
}

// checkAfterKills: every update is a row and either handled once or visible in
// the archive; no reply exists twice.
func checkAfterKills(t *testing.T, b *bench, pool *pgxpool.Pool, total int) {
	t.Helper()
	if n := count(t, pool, "SELECT count(*) FROM updates"); n != total {
		t.Errorf("%d updates kept, want %d", n, total)
	}
	if n := count(t, pool, "SELECT count(*) - count(DISTINCT update_id) FROM handled"); n != 0 {
		t.Errorf("%d updates were handled twice", n)
	}
	missing := count(t, pool, `SELECT count(*) FROM updates u WHERE NOT EXISTS (SELECT FROM handled h WHERE h.update_id = u.update_id)
		AND NOT EXISTS (SELECT FROM job_archive a WHERE a.job_id = u.job_id)`)
	if missing != 0 {
		t.Errorf("%d updates are lost: neither handled nor in the archive", missing)
	}
	archived := count(t, pool, "SELECT count(*) FROM job_archive WHERE kind = 'update'")
	if archived > total/10 {
		t.Errorf("%d of %d ended in the archive", archived, total)
	}
	replies := map[string]int{}
	for _, c := range b.sand.Calls(0, "sendmessage") {
		if c.Applied {
			replies[string(c.Params)]++
		}
	}
	for text, n := range replies {
		if n != 1 && !strings.Contains(text, "re /start") {
			t.Errorf("the reply %s was sent %d times", text, n)
		}
	}
	t.Logf("%d handled, %d in the archive, %d replies", count(t, pool, "SELECT count(*) FROM handled"), archived, len(replies))
}

// killLoop starts the child and kills it after a random time, over and over
// until calm; the last one lives until stop.
func killLoop(t *testing.T, env []string, calm, stop <-chan struct{}) (killed int) {
	t.Helper()
	for {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env, cmd.Stderr = env, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return killed
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		life := time.After(time.Duration(300+rand.IntN(3000)) * time.Millisecond)
		select {
		case <-calm:
			life = nil
		default:
		}
		select {
		case <-life:
		case <-stop:
			_ = cmd.Process.Kill()
			<-ended
			return killed
		case err := <-ended:
			t.Errorf("the child ended by itself: %v", err)
			return killed
		}
		_ = cmd.Process.Kill()
		<-ended
		killed++
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
