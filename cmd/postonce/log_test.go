package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/app/config"
)

// TestForeignTextStaysOneLineOfTheLog writes names, addresses and errors that try
// to begin a line of their own, or to steer a terminal.
func TestForeignTextStaysOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	hostile := "Ann\n{\"level\":\"error\",\"message\":\"forged\"}\r\x1b[2J\u2028"
	for _, format := range []string{"json", "console"} {
		var b bytes.Buffer
		log := logger(&b, config.Config{LogLevel: "info", LogFormat: format})
		log.Info().Str("name", hostile).Err(errors.New(hostile)).Msg("said")
		out := b.String()
		if strings.Count(out, "\n") != 1 || strings.ContainsRune(strings.ReplaceAll(out, "\x1b[0m", ""), '\r') || strings.Contains(out, "\x1b[2J") {
			t.Errorf("%s: foreign text left its line:\n%q", format, out)
		}
		if format == "json" {
			var line struct{ Name, Level string }
			if err := json.Unmarshal(b.Bytes(), &line); err != nil || line.Name != hostile || line.Level != "info" {
				t.Errorf("json: %+v, %v", line, err)
			}
		}
	}
}
