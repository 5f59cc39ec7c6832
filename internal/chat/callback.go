package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxCallback is Telegram's limit for the data of a button, in bytes.
const maxCallback = 64

// data packs a verb and its arguments into the data of a button. Numbers are
// written in base 36: a draft, its transition and a time take 20 bytes.
func data(verb string, args ...any) string {
	parts := make([]string, 0, len(args)+1)
	parts = append(parts, verb)
	for _, a := range args {
		switch a := a.(type) {
		case int64:
			parts = append(parts, strconv.FormatInt(a, 36))
		case int:
			parts = append(parts, strconv.FormatInt(int64(a), 36))
		case time.Time:
			parts = append(parts, strconv.FormatInt(a.Unix(), 36))
		default:
			parts = append(parts, fmt.Sprint(a))
		}
	}
	return strings.Join(parts, ":")
}

// tapped is the data of a button that was pressed. What it holds was ours once
// but comes from outside: a missing or crooked argument reads as zero, and desk
// refuses what does not exist.
type tapped struct {
	verb string
	args []string
}

func parseTap(s string) tapped {
	parts := strings.Split(s, ":")
	return tapped{verb: parts[0], args: parts[1:]}
}

func (t tapped) text(i int) string {
	if i >= len(t.args) {
		return ""
	}
	return t.args[i]
}

func (t tapped) int64(i int) int64 {
	n, err := strconv.ParseInt(t.text(i), 36, 64)
	if err != nil {
		return 0
	}
	return n
}

func (t tapped) int(i int) int { return int(t.int64(i)) }

func (t tapped) time(i int) time.Time {
	n := t.int64(i)
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}
