package telegram

import (
	"context"
	"time"
)

// Wait shows wait to the tests.
func (l *Limits) Wait(ctx context.Context, chat string, lane Lane) (time.Duration, error) {
	return l.wait(ctx, chat, lane)
}

// Learn shows learn to the tests.
func (l *Limits) Learn(chat string, after time.Duration) { l.learn(chat, after) }
