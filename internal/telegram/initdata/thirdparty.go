package initdata

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Environment tells Telegram's two worlds apart.
type Environment string

// Telegram's public keys, one per environment
// (https://core.telegram.org/bots/webapps#validating-data-for-third-party-use).
const (
	Production Environment = "e7bf03a2fa4602af4580703d88dda5bb59f32ed8b02a56c187fe7d34caed242d"
	Test       Environment = "40055058a4ee38156a06562e52eece92a771bcd8346a8c4615cb7376eddf72ec"
)

// ValidateThirdParty proves the data by Telegram's own signature, without the
// bot's token. Errors are those of Validate.
func ValidateThirdParty(raw string, botID int64, env Environment, now time.Time, maxAge time.Duration) (Data, error) {
	fields, err := parse(raw)
	if err != nil {
		return Data{}, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(fields["signature"], "="))
	if err != nil || len(signature) != ed25519.SignatureSize {
		return Data{}, fmt.Errorf("%w: signature", ErrMalformed)
	}
	key, err := hex.DecodeString(string(env))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return Data{}, fmt.Errorf("%w: environment", ErrMalformed)
	}
	lines := make([]string, 0, len(fields))
	for k, v := range fields {
		if k != "hash" && k != "signature" {
			lines = append(lines, k+"="+v)
		}
	}
	slices.Sort(lines)
	text := fmt.Sprintf("%d:WebAppData\n%s", botID, strings.Join(lines, "\n"))
	if !ed25519.Verify(key, []byte(text), signature) {
		return Data{}, ErrSignature
	}
	return read(fields, now, maxAge)
}
