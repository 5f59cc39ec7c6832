package desk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
)

// Finding is what a person saw in the channel when a publication is in doubt.
type Finding = publishing.Finding

// The findings of Settle.
const (
	FindingThere    = publishing.There    // It's there
	FindingNotThere = publishing.NotThere // Not there, post it
	FindingLeave    = publishing.Leave    // Leave it
)

// Settle says what a person saw of an unconfirmed publication; link may lead
// to the post. Not there posts it again, as a new effect that this decision
// asked for.
func (d *Desk) Settle(ctx context.Context, by, draftID int64, transition int, finding Finding, link string) (Decision, error) {
	switch finding {
	case FindingThere, FindingNotThere, FindingLeave:
	default:
		return Decision{}, fail(CodeUnknownFinding, nil)
	}
	return d.decide(ctx, by, draftID, transition, func(ctx context.Context, tx pgx.Tx, w wish) (editorial.Draft, error) {
		if w.draft.State != editorial.Unconfirmed {
			return w.draft, errAlready
		}
		message, err := messageOf(link, w.channel)
		if err != nil {
			return w.draft, err
		}
		err = d.publishing.SettleTx(ctx, tx, publishing.Settlement{DraftID: draftID, Finding: finding, By: by, MessageID: message})
		switch {
		case errors.Is(err, publishing.ErrNotUnconfirmed), errors.Is(err, publishing.ErrLeft):
			return w.draft, errAlready
		case errors.Is(err, publishing.ErrInFlight):
			return w.draft, fail(CodeBusy, err)
		case err != nil:
			return w.draft, err
		}
		if w.draft, err = readDraft(ctx, tx, draftID); err != nil || finding != FindingNotThere {
			return w.draft, err
		}
		w.transition = w.draft.Transition
		return d.postNow(ctx, tx, w, []editorial.DraftState{editorial.Failed})
	})
}

// messageOf reads the message id out of a link to a post of the channel; 0
// for no link.
func messageOf(link string, ch editorial.Channel) (int64, error) {
	if strings.TrimSpace(link) == "" {
		return 0, nil
	}
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return 0, fail(CodeLink, err)
	}
	parts := strings.Split(strings.Trim(strings.TrimPrefix(u.Path, "/s"), "/"), "/")
	id, err := strconv.ParseInt(parts[len(parts)-1], 10, 64)
	if err != nil || id <= 0 {
		return 0, fail(CodeLink, err)
	}
	public := len(parts) == 2 && ch.Username != "" && strings.EqualFold(parts[0], ch.Username)
	private := len(parts) == 3 && parts[0] == "c" && privateChatPrefix+parts[1] == fmt.Sprint(ch.ChatID)
	if !public && !private {
		return 0, fail(CodeLink, nil)
	}
	return id, nil
}
