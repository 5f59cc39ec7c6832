package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/internal/sandbox/play"
)

// questions is how often the person asks while both replicas run, and again
// when one of them is dead.
const questions = 15

const handledTwiceSQL = `
SELECT count(*)
  FROM (SELECT key
          FROM job_history
         WHERE kind = 'update'
         GROUP BY key
        HAVING count(*) > 1) twice`

const replicasSeenSQL = `
SELECT count(*)
  FROM workers
 WHERE stopped_at IS NULL`

// sideBySide plays a person against two replicas on one database: whatever they
// ask is answered once, an approved post is in the channel once, and when the
// one that dies is killed the other goes on.
func sideBySide(t *testing.T, tw *town, database string, pair [2]*replica, first int) {
	t.Helper()
	people, err := tw.stage.People(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ann := people[0]
	chats, err := ann.Chats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var channel play.Chat
	for _, c := range chats {
		if c.Mine && c.Type == "channel" {
			channel = c
		}
	}
	say(t, ann, "/start")
	pickChannel(t, ann, channel.ID)
	said := say(t, ann, tw.base+"/samples/gazette/")
	card := waitBot(t, tw.stage, ann, said, func(m play.Message) bool { _, ok := m.Button("Approve"); return ok })
	tap(t, ann, card, "Post now")
	post := waitIn(t, tw.stage, channel.ID, 0, func(m play.Message) bool { return m.Says() != "" })

	asking(t, tw, ann)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if n := one(t, conn, replicasSeenSQL); n != 2 {
		t.Errorf("%d replicas are known to the database", n)
	}

	// The lease that a week of measuring would come to: what the dead one held returns after ten seconds.
	if _, err := conn.Exec(t.Context(), `UPDATE job_kinds SET measured_lease = '10 s'`); err != nil {
		t.Fatal(err)
	}
	pair[first].kill()
	asking(t, tw, ann)
	if n := one(t, conn, handledTwiceSQL); n != 0 {
		t.Errorf("%d updates were handled twice", n)
	}
	list, _, err := tw.stage.Messages(t.Context(), channel.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range list {
		if m.Says() == post.Says() {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("the post is in the channel %d times", seen)
	}
}

func one(t *testing.T, conn *pgx.Conn, query string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// asking sends commands one after another and wants one answer to each.
func asking(t *testing.T, tw *town, p *play.Person) {
	t.Helper()
	last := 0
	for range questions {
		last = say(t, p, "/terms")
	}
	answers := func() (n int) {
		list, _, err := tw.stage.Messages(t.Context(), p.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if m.ID > last-questions && m.FromBot() && strings.HasPrefix(m.Says(), "Terms") {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(75 * time.Second); answers() < questions; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d questions were answered", answers(), questions)
		}
	}
	time.Sleep(time.Second) // what comes twice has time to
	if n := answers(); n != questions {
		t.Errorf("%d answers to %d questions", n, questions)
	}
}

func TestTwoReplicasPollAndOneTakesOver(t *testing.T) {
	t.Parallel()
	tw, database := newTown(t, nil), dbtest.URL(t)
	env := tw.env(database)
	pair := [2]*replica{serve(t, env...), serve(t, env...)}
	polls := regexp.MustCompile(`polling for updates`)
	holder := 0
	if !polls.MatchString(pair[0].log.String()) {
		holder = 1
	}
	if polls.MatchString(pair[1-holder].log.String()) {
		t.Error("both replicas poll")
	}
	sideBySide(t, tw, database, pair, holder)
	if !polls.MatchString(pair[1-holder].log.String()) {
		t.Error("the other one did not take the polling over")
	}
}

// With a webhook both take updates behind a balancer, each of which Telegram
// delivers twice here, to one and to the other; and both reach the database
// through pgbouncer in transaction mode, with the file that docs/deploy ships.
func TestTwoReplicasTakeWebhooksBehindAPooler(t *testing.T) {
	t.Parallel()
	front, turn, backends := &atomic.Pointer[http.Handler]{}, &atomic.Int64{}, [2]*atomic.Int64{{}, {}}
	balancer := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*front.Load()).ServeHTTP(w, r) }))
	t.Cleanup(balancer.Close)
	tw := newTown(t, balancer.Client())
	server, err := embedded.Start(t.Context(), dbtest.ServerDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	pooled := pooler(t, server.URL)

	var pair [2]*replica
	var dead atomic.Int64
	dead.Store(-1)
	var route http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := turn.Add(1) % 2
		if n == dead.Load() {
			n = 1 - n
		}
		target, err := url.Parse(pair[n].http)
		if err != nil {
			t.Error(err)
		}
		backends[n].Add(1)
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
	})
	wait := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	front.Store(&wait)
	env := append(tw.env(pooled), "DATABASE_DIRECT_URL="+server.URL, "TELEGRAM_UPDATES=webhook", "PUBLIC_URL="+balancer.URL)
	for i := range pair {
		pair[i] = serve(t, env...)
	}
	front.Store(&route)
	if !tw.stand.UpdateFault("redeliver", 2*questions) {
		t.Fatal("no such fault")
	}
	dead.Store(-1)
	kill := make(chan struct{})
	go func() { // the balancer stops asking the one that is gone, as its health checks tell it
		defer close(kill)
		for pair[0].cmd.Process.Signal(syscall.Signal(0)) == nil {
			time.Sleep(50 * time.Millisecond)
		}
		dead.Store(0)
	}()
	sideBySide(t, tw, server.URL, pair, 0)
	<-kill
	for i, n := range backends {
		if n.Load() == 0 {
			t.Errorf("replica %d took no update", i)
		}
	}
}

// pooler starts Debian's pgbouncer with the file of docs/deploy, with other
// places and without passwords, and returns the address behind it.
func pooler(t *testing.T, direct string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		if path = "/usr/sbin/pgbouncer"; exec.Command(path, "-V").Run() != nil {
			t.Skip("pgbouncer is not installed")
		}
	}
	shipped, err := os.ReadFile("../../docs/deploy/pgbouncer.ini")
	if err != nil {
		t.Fatal(err)
	}
	socket := regexp.MustCompile(`host=(\S+)`).FindStringSubmatch(direct)[1]
	dir := dbtest.ServerDir(t)
	text := strings.NewReplacer(
		"postonce = host=postgres port=5432", "postgres = host="+socket+" port=5432 user=postgres",
		"listen_addr = *", "listen_addr =", "auth_type = scram-sha-256", "auth_type = any", "auth_file = /etc/pgbouncer/userlist.txt", "",
	).Replace(string(shipped)) + fmt.Sprintf("\nunix_socket_dir = %s\nlogfile = %s\n", dir, filepath.Join(dir, "log"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-q", file)
	if os.Getuid() == 0 { // it refuses to run as root
		info, err := os.Stat(socket)
		if err != nil {
			t.Fatal(err)
		}
		owner, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			t.Skip("needs owners of files")
		}
		for _, f := range []string{dir, file} {
			if err := os.Chown(f, int(owner.Uid), int(owner.Gid)); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 200 {
		if _, err := os.Stat(filepath.Join(dir, ".s.PGSQL.6432")); err == nil {
			return fmt.Sprintf("host=%s port=6432 user=postgres dbname=postgres sslmode=disable", dir)
		}
		time.Sleep(50 * time.Millisecond)
	}
	said, _ := os.ReadFile(filepath.Join(dir, "log"))
	t.Fatalf("pgbouncer does not listen:\n%s", said)
	return ""
}
