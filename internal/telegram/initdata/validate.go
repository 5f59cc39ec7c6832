package initdata

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxAge is how old initial data may be when a session is asked for.
const MaxAge = time.Hour

// leeway allows for a clock that runs a little behind Telegram's.
const leeway = 30 * time.Second

// The reasons for which initial data are refused.
var (
	ErrMalformed = errors.New("initial data are malformed")
	ErrSignature = errors.New("initial data are not signed for this bot")
	ErrExpired   = errors.New("initial data are too old")
	ErrFuture    = errors.New("initial data are dated in the future")
)

// User is the person who opened the Mini App.
type User struct {
	ID              int64  `json:"id"`
	IsBot           bool   `json:"is_bot,omitempty"`
	FirstName       string `json:"first_name"`
	LastName        string `json:"last_name,omitempty"`
	Username        string `json:"username,omitempty"`
	LanguageCode    string `json:"language_code,omitempty"`
	IsPremium       bool   `json:"is_premium,omitempty"`
	AllowsWriteToPM bool   `json:"allows_write_to_pm,omitempty"`
	PhotoURL        string `json:"photo_url,omitempty"`
}

// Data is what the initial data say once they are proven.
type Data struct {
	User       User
	AuthDate   time.Time
	QueryID    string
	StartParam string
	// Hash is the proof itself: the same hash again is the same opening, so it
	// can key what must happen once.
	Hash string
}

// Validate checks the signature in constant time, then the age. The error is
// one of the Err values, wrapped. now is the caller's clock; maxAge 0 means
// MaxAge.
func Validate(raw, token string, now time.Time, maxAge time.Duration) (Data, error) {
	fields, err := parse(raw)
	if err != nil {
		return Data{}, err
	}
	got, err := hex.DecodeString(fields["hash"])
	// In Telegram's spelling only: A for a would make of one opening several hashes.
	if err != nil || len(got) != sha256.Size || fields["hash"] != hex.EncodeToString(got) {
		return Data{}, fmt.Errorf("%w: hash", ErrMalformed)
	}
	if !hmac.Equal(got, sum(fields, token)) {
		return Data{}, ErrSignature
	}
	return read(fields, now, maxAge)
}

func read(fields map[string]string, now time.Time, maxAge time.Duration) (Data, error) {
	if maxAge <= 0 {
		maxAge = MaxAge
	}
	unix, err := strconv.ParseInt(fields["auth_date"], 10, 64)
	if err != nil || unix <= 0 {
		return Data{}, fmt.Errorf("%w: auth_date", ErrMalformed)
	}
	d := Data{AuthDate: time.Unix(unix, 0), QueryID: fields["query_id"], StartParam: fields["start_param"], Hash: fields["hash"]}
	switch age := now.Sub(d.AuthDate); {
	case age < -leeway:
		return Data{}, ErrFuture
	case age > maxAge:
		return Data{}, ErrExpired
	}
	if err := json.Unmarshal([]byte(fields["user"]), &d.User); err != nil || d.User.ID <= 0 {
		return Data{}, fmt.Errorf("%w: user", ErrMalformed)
	}
	return d, nil
}

// parse refuses a key that occurs twice: the readers of such data disagree on
// which one counts.
func parse(raw string) (map[string]string, error) {
	if raw == "" || len(raw) > 16<<10 {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(raw))
	}
	fields := map[string]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		k, v, ok := strings.Cut(pair, "=")
		key, err1 := url.QueryUnescape(k)
		value, err2 := url.QueryUnescape(v)
		if !ok || err1 != nil || err2 != nil || key == "" {
			return nil, fmt.Errorf("%w: a field is not key=value", ErrMalformed)
		}
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("%w: %q occurs twice", ErrMalformed, key)
		}
		if strings.Contains(value, "\n") {
			return nil, fmt.Errorf("%w: a line break in %q", ErrMalformed, key)
		}
		fields[key] = value
	}
	return fields, nil
}

func sum(fields map[string]string, token string) []byte {
	lines := make([]string, 0, len(fields))
	for k, v := range fields {
		if k != "hash" {
			lines = append(lines, k+"="+v)
		}
	}
	slices.Sort(lines)
	return mac(mac([]byte("WebAppData"), token), strings.Join(lines, "\n"))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text))
	return h.Sum(nil)
}

// Sign makes initial data as Telegram makes them. start may be empty.
func Sign(u User, token string, at time.Time, queryID, start string) (string, error) {
	user, err := json.Marshal(u)
	if err != nil {
		return "", fmt.Errorf("sign initial data: %w", err)
	}
	fields := map[string]string{"user": string(user), "auth_date": strconv.FormatInt(at.Unix(), 10)}
	if queryID != "" {
		fields["query_id"] = queryID
	}
	if start != "" {
		fields["start_param"] = start
	}
	q := url.Values{}
	for k, v := range fields {
		q.Set(k, v)
	}
	q.Set("hash", hex.EncodeToString(sum(fields, token)))
	return q.Encode(), nil
}
