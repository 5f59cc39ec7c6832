package chat

import "github.com/postonce/postonce/internal/telegram"

// blockedError means that a person blocked the bot or is gone: nothing is sent
// until they write again. It is an errUndeliverable.
type blockedError struct{ kind telegram.Kind }

func (b *blockedError) Error() string { return "chat: the person cannot be reached: " + string(b.kind) }

// Is makes it an errUndeliverable.
func (b *blockedError) Is(target error) bool { return target == errUndeliverable }

// undeliverable sorts a refusal for good.
func undeliverable(kind telegram.Kind) error {
	if kind == telegram.Blocked || kind == telegram.CannotStart {
		return &blockedError{kind}
	}
	return errUndeliverable
}
