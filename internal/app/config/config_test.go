package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/app/config"
)

// example reads config.example.env: names and values, commented out or not.
func example(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../../config.example.env")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#?([A-Z][A-Z0-9_]+)=(.*)$`).FindAllStringSubmatch(string(b), -1) {
		out[m[1]] = m[2]
	}
	return out
}

func TestExampleNamesEveryVariableWithItsDefault(t *testing.T) {
	t.Parallel()
	fields, err := env.GetFieldParams(&config.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range fields {
		want[f.Key] = f.DefaultValue
	}
	if diff := cmp.Diff(want, example(t)); diff != "" {
		t.Errorf("config.example.env and the Config struct differ (-struct +file):\n%s", diff)
	}
}

func TestLoadNamesTheVariableAndTheMend(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, env, want string }{
		{"a duration without a unit", "POLL_INTERVAL_MIN=5", `POLL_INTERVAL_MIN is "5": want a duration`},
		{"a word for a number", "WORKERS_BULK=many", `WORKERS_BULK is "many": want a whole number`},
		{"no workers", "WORKERS_CRITICAL=0", "WORKERS_CRITICAL is 0: want 1 to 1000"},
		{"texts that go before they are used", "KEEP_TEXTS_DAYS=1", "KEEP_TEXTS_DAYS is 1: want 7 to 36500 days"},
		{"a wrong choice", "ACCESS=everyone", `ACCESS is "everyone": want open or invite`},
		{"a token that is none", "TELEGRAM_BOT_TOKEN=hello", "TELEGRAM_BOT_TOKEN does not look like"},
		{"half a token", "TELEGRAM_BOT_TOKEN=123456:ABCDEFGHIJ", "TELEGRAM_BOT_TOKEN does not look like"},
		{"a token with something after it", "TELEGRAM_BOT_TOKEN=123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ # ours", "TELEGRAM_BOT_TOKEN does not look like"},
		{"a token in quotes", `TELEGRAM_BOT_TOKEN="123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ"`, "TELEGRAM_BOT_TOKEN has quotes"},
		{"a plain public address", "PUBLIC_URL=http://example.org", "PUBLIC_URL is"},
		{"a webhook nobody can reach", "TELEGRAM_UPDATES=webhook", "PUBLIC_URL is empty"},
		{"a network that is none", "FETCH_ALLOW_NETS=10.0.0.0/33", `FETCH_ALLOW_NETS is "10.0.0.0/33": want networks`},
		{"half a model", "LLM_BASE_URL=https://llm.example/v1", "LLM_MODEL and LLM_BASE_URL go together"},
		{"bounds crossed", "POLL_INTERVAL_MAX=1m", "POLL_INTERVAL_MAX is 1m0s, below"},
		{"a secret file that is not there", "LLM_API_KEY_FILE=/nowhere/key", "LLM_API_KEY_FILE names /nowhere/key, which is not there"},
		{"a secret file that is a folder", "LLM_API_KEY_FILE=/", "LLM_API_KEY_FILE names a file that cannot be read"},
		{"a secret file with nothing in it", "DATABASE_URL_FILE=/dev/null", "DATABASE_URL_FILE names /dev/null, which is empty"},
		{"operators that are no numbers", "OPERATOR_IDS=@ann", `OPERATOR_IDS is "@ann": want whole numbers`},
		{"an unknown level", "LOG_LEVEL=loud", `LOG_LEVEL is "loud"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load([]string{tt.env})
			if _, ok := errors.AsType[*config.Error](err); !ok || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want a config.Error that starts with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestLoadReadsListsAndSecretsByFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load([]string{"TELEGRAM_BOT_TOKEN_FILE=" + file, "OPERATOR_IDS=1,2", "FETCH_ALLOW_NETS=10.1.2.3/8,127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.BotToken != "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ" || !slices.Equal(cfg.OperatorIDs, []int64{1, 2}) {
		t.Errorf("got token %q, operators %v", cfg.BotToken, cfg.OperatorIDs)
	}
	if got := []string{cfg.AllowNets[0].String(), cfg.AllowNets[1].String()}; !slices.Equal(got, []string{"10.0.0.0/8", "127.0.0.1/32"}) {
		t.Errorf("networks %v", got)
	}
	both := []string{"TELEGRAM_BOT_TOKEN_FILE=" + file, "TELEGRAM_BOT_TOKEN=123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
	if _, err := config.Load(both); err == nil {
		t.Error("a secret by variable and by file at once was accepted")
	}
	spaced, err := config.Load([]string{"TELEGRAM_BOT_TOKEN= 123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ "})
	if err != nil || spaced.BotToken != "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		t.Errorf("spaces around a token: %q, %v", spaced.BotToken, err)
	}
	empty, err := config.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.NeedToken(); err == nil {
		t.Error("no token, and NeedToken is content")
	}
}
