package drafting

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
)

// OwnArgs asks for a draft from what a person sent: a link, or a text. Exactly one
// of URL, Text and HTML is set; HTML is taken as the post itself.
type OwnArgs struct {
	ChannelID int64  `json:"channel_id"`
	By        int64  `json:"by"`
	URL       string `json:"url,omitempty"`
	Text      string `json:"text,omitempty"`
	HTML      string `json:"html,omitempty"`
	// Sent tells one sending from another of the same text: the update's number.
	Sent int64 `json:"sent,omitempty"`
}

func (a OwnArgs) subject() string {
	h := sha256.Sum256([]byte(a.URL + "\x00" + a.Text + "\x00" + a.HTML))
	id := hex.EncodeToString(h[:12])
	if a.Sent != 0 {
		id += fmt.Sprintf(":%d", a.Sent)
	}
	return "own:" + id
}

func (a OwnArgs) key() string { return fmt.Sprintf("%d:%s", a.ChannelID, a.subject()) }

// OwnTx asks for a draft of kind own in the caller's transaction.
func (s *Service) OwnTx(ctx context.Context, tx pgx.Tx, a OwnArgs) (queue.Submission, error) {
	return s.own.EnqueueTx(ctx, tx, a)
}

// ownMaterial is what a draft of kind own was written from, as it is stored.
type ownMaterial struct {
	URL    string `json:"url,omitempty"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"text,omitempty"`
	Image  string `json:"image,omitempty"`
	Source string `json:"source,omitempty"`
}

func (o ownMaterial) into(m *material) {
	m.item = editorial.Item{URL: o.URL, Title: o.Title, Text: o.Text, Image: o.Image}
	m.source = o.Source
}

// maxOwnText bounds what is stored of a text or page, in bytes.
const maxOwnText = 60000

func (s *Service) workOwn(ctx context.Context, job *queue.Job[OwnArgs]) error {
	a := job.Args
	if a.HTML != "" {
		return s.ownPost(ctx, job)
	}
	own := ownMaterial{Text: a.Text}
	if a.URL != "" {
		if s.cfg.Article == nil {
			return s.unreadable(ctx, job, "unsupported")
		}
		art, err := s.cfg.Article(ctx, a.URL)
		if err != nil {
			if job.Failures < 1 {
				return queue.Transient(fmt.Errorf("read the link: %w", err))
			}
			return s.unreadable(ctx, job, "unreadable")
		}
		own = ownMaterial{URL: art.URL, Title: art.Title, Text: art.Text, Image: art.Image, Source: art.Site}
		if !render.Address(own.URL) {
			own.URL = a.URL
		}
	}
	own.Text = strings.ReplaceAll(strings.ToValidUTF8(own.Text[:min(len(own.Text), maxOwnText)], ""), "\x00", "")
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		m, err := readChannel(ctx, tx, a.ChannelID)
		if err != nil {
			return ignoreGone(err)
		}
		own.into(&m)
		w, ok := m.offline()
		if !ok {
			return s.tellUnreadable(ctx, tx, a, "empty")
		}
		raw, err := json.Marshal(own)
		if err != nil {
			return err
		}
		_, err = s.create(ctx, tx, newDraft{
			channelID: a.ChannelID, kind: editorial.KindOwn, subject: a.subject(), by: a.By, material: raw, model: true,
		}, w)
		return s.tellPlan(ctx, tx, a, err)
	})
}

// tellPlan answers the person who asked for a draft beyond the plan.
func (s *Service) tellPlan(ctx context.Context, tx pgx.Tx, a OwnArgs, err error) error {
	if errors.Is(err, errPlan) {
		return s.tellUnreadable(ctx, tx, a, "plan")
	}
	return err
}

// ownPost takes a finished post: nothing is composed.
func (s *Service) ownPost(ctx context.Context, job *queue.Job[OwnArgs]) error {
	a := job.Args
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		html, err := normalise(a.HTML, render.TextLimit)
		if err != nil {
			return s.tellUnreadable(ctx, tx, a, "markup")
		}
		_, err = s.create(ctx, tx, newDraft{
			channelID: a.ChannelID, kind: editorial.KindOwn, subject: a.subject(), by: a.By,
		}, written{html: html, composer: "person", author: a.By})
		return s.tellPlan(ctx, tx, a, err)
	})
}

func (s *Service) unreadable(ctx context.Context, job *queue.Job[OwnArgs], code string) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.tellUnreadable(ctx, tx, job.Args, code) })
}

func (s *Service) tellUnreadable(ctx context.Context, tx pgx.Tx, a OwnArgs, code string) error {
	if s.cfg.OnUnreadable == nil {
		return nil
	}
	return s.cfg.OnUnreadable(ctx, tx, a.ChannelID, a.By, a.URL, code)
}
