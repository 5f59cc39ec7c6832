package initdata_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/casetest"

	peer "github.com/telegram-mini-apps/init-data-golang"

	"github.com/postonce/postonce/internal/telegram/initdata"
)

const token = "123456789:AAE-a-token-that-is-made-up-for-tests1"

func TestValidateAcceptsRealData(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(casetest.Dir(t, "telegram"), "initdata_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Token, Env string
		InitData         string `json:"init_data"`
		BotID            int64  `json:"bot_id"`
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			q, _ := url.ParseQuery(v.InitData)
			at := atOf(t, q.Get("auth_date"))
			// The token published with V3 is another bot's; its proof is the Ed25519 signature.
			if v.Token != "" && !strings.HasPrefix(v.Name, "V3") {
				got, err := initdata.Validate(v.InitData, v.Token, at.Add(time.Minute), 0)
				if err != nil || got.User.ID != 279058397 {
					t.Fatalf("Validate = %+v, %v", got, err)
				}
			}
			if q.Get("signature") != "" {
				env := initdata.Production
				if v.Env == "test" {
					env = initdata.Test
				}
				if _, err := initdata.ValidateThirdParty(v.InitData, v.BotID, env, at.Add(time.Minute), 0); err != nil {
					t.Errorf("ValidateThirdParty: %v", err)
				}
				if _, err := initdata.ValidateThirdParty(v.InitData, v.BotID+1, env, at, 0); !errors.Is(err, initdata.ErrSignature) {
					t.Errorf("for another bot: %v, want ErrSignature", err)
				}
			}
		})
	}
}

func atOf(t *testing.T, unix string) time.Time {
	t.Helper()
	var n int64
	if err := json.Unmarshal([]byte(unix), &n); err != nil {
		t.Fatal(err)
	}
	return time.Unix(n, 0)
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	good, err := initdata.Sign(initdata.User{ID: 7, FirstName: "Ann & <Bo> + ü"}, token, now, "q", "draft_7")
	if err != nil {
		t.Fatal(err)
	}
	got, err := initdata.Validate(good, token, now.Add(59*time.Minute), 0)
	if err != nil || got.User.FirstName != "Ann & <Bo> + ü" || got.StartParam != "draft_7" {
		t.Fatalf("Validate = %+v, %v", got, err)
	}
	if err := peer.Validate(good, token, 0); err != nil {
		t.Errorf("the peer library refuses what we sign: %v", err)
	}
	tests := []struct {
		name, raw, token string
		at               time.Time
		want             error
	}{
		{"another token", good, token + "x", now, initdata.ErrSignature},
		{"a changed user", strings.Replace(good, "Ann", "Eve", 1), token, now, initdata.ErrSignature},
		{"a key twice", good + "&user=%7B%22id%22%3A8%7D", token, now, initdata.ErrMalformed},
		{"a hash twice", good + "&hash=00", token, now, initdata.ErrMalformed},
		{"an added field", good + "&is_admin=1", token, now, initdata.ErrSignature},
		{"no hash", "user=%7B%22id%22%3A8%7D&auth_date=1", token, now, initdata.ErrMalformed},
		{"a short hash", "auth_date=1&hash=abcd", token, now, initdata.ErrMalformed},
		{"older than an hour", good, token, now.Add(time.Hour + time.Second), initdata.ErrExpired},
		{"from the future", good, token, now.Add(-time.Minute), initdata.ErrFuture},
		{"nothing", "", token, now, initdata.ErrMalformed},
		{"its hash in capitals", capitalHash(good), token, now, initdata.ErrMalformed},
		{"a line break that shifts fields", strings.Replace(good, "query_id=q", "query_id=q%0Ax=1", 1), token, now, initdata.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := initdata.Validate(tt.raw, tt.token, tt.at, 0); !errors.Is(err, tt.want) {
				t.Errorf("Validate error = %v, want %v", err, tt.want)
			}
		})
	}
}

// capitalHash spells the same hash in another way.
func capitalHash(raw string) string {
	fields, _ := url.ParseQuery(raw)
	fields.Set("hash", strings.ToUpper(fields.Get("hash")))
	return fields.Encode()
}

func FuzzValidateAgreesWithThePeer(f *testing.F) {
	now := time.Now()
	good, _ := initdata.Sign(initdata.User{ID: 7, FirstName: "A"}, token, now, "q", "")
	f.Add(good)
	f.Add("a=b&hash=00")
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := initdata.Validate(raw, token, now, 0); err == nil {
			if err := peer.Validate(raw, token, 0); err != nil {
				t.Fatalf("we accept %q, the peer says %v", raw, err)
			}
		}
	})
}
