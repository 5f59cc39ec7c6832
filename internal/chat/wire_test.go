package chat_test

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/stories"
)

// wire builds the features behind the chat as app does, so that a conversation
// runs over the real way of an item.
func (b *bundle) wire(registry *queue.Registry) {
	b.t.Helper()
	web := fetch.New(fetch.Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	reader := sources.NewReader(web, b.stage.Base+"/s", b.now)
	people := channels.New(channels.Config{Pool: b.pool, Rights: channels.TelegramRights{Client: b.client}})
	plan := planning.New(b.now)
	drafts := drafting.Config{
		Pool: b.pool, Now: b.now, Logger: b.log, OnDraft: chat.DraftReadyTx, OnRewriteFailed: rewriteFailed,
		OnRefreshed: followCards, OnUnreadable: unreadable,
		Article: func(ctx context.Context, url string) (drafting.Article, error) {
			page, err := reader.Article(ctx, url)
			return drafting.Article{URL: url, Title: page.Title, Text: page.Text, Image: page.Image, Site: page.SiteName, Language: page.Language}, err
		},
	}
	if b.learn {
		drafts.KeepVoice = people.LearnVoice
	}
	draft := drafting.New(drafts)
	score := scoring.New(scoring.Config{Pool: b.pool, Now: b.now, Logger: b.log, OnProposal: func(ctx context.Context, tx pgx.Tx, o scoring.Proposal) error {
		_, err := draft.DraftTx(ctx, tx, drafting.DraftArgs{ChannelID: o.ChannelID, StoryID: o.StoryID, Score: o.Score, Explore: o.Explore})
		return err
	}})
	story := stories.New(stories.Config{Pool: b.pool, Logger: b.log, BaselineDone: people.BaselineDone, OnStory: func(ctx context.Context, tx pgx.Tx, o stories.Offer) error {
		return score.Story(ctx, tx, o.ChannelID, o.StoryID, o.Baseline)
	}})
	feeds := sources.New(sources.Config{Pool: b.pool, Reader: reader, Logger: b.log, OnNew: story.Items, OnBaseline: story.Baseline, OnMerged: people.MergeSource})
	post := b.publishing(people)
	b.drafts = draft
	b.desk = desk.New(desk.Config{
		Pool: b.pool, Now: b.now, Logger: b.log, Channels: people, Planning: plan, Sources: feeds, Stories: story, Scoring: score,
		Drafting: draft, Publishing: post, OnDecided: chat.DraftDecidedTx, Open: b.open, Registry: registry, OnImported: imported,
		Packs: []desk.PackView{{ID: "demo-en", Language: "en", Title: "Sample newsroom", Sources: []string{b.stage.Base + "/samples/gazette/feed.xml"}}},
	})
	b.desk.RegisterImports(registry)
	var err error
	b.chat, err = chat.New(chat.Config{Pool: b.pool, Desk: b.desk, Telegram: b.client, Username: "postonce_demo_bot", Billing: b.shop, Now: b.now, Logger: b.log})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, part := range []interface{ Register(*queue.Registry) }{feeds, story, score, draft, post, b.chat} {
		part.Register(registry)
	}
}

func followCards(ctx context.Context, tx pgx.Tx, draftID int64) error {
	d, err := drafting.Get(ctx, tx, draftID)
	if err != nil {
		return err
	}
	return chat.DraftChangedTx(ctx, tx, draftID, d.Transition)
}

// rewriteFailed and imported are app's notices of these occasions.
func rewriteFailed(ctx context.Context, tx pgx.Tx, draftID, personID int64, revision int, why string) error {
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key: fmt.Sprintf("rewrite:%d:%d", draftID, revision), Code: "notice.rewrite_failed", Args: map[string]any{"Draft": draftID},
		Codes: map[string]string{"Why": "rewrite_failed." + why}, Buttons: []chat.NoticeButton{{Code: "button.draft", Data: chat.DataDraft(draftID)}},
	}, personID)
}

func unreadable(ctx context.Context, tx pgx.Tx, channelID, personID int64, url, code string) error {
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key: fmt.Sprintf("own:%d:%s", channelID, url), Code: "notice.own_failed", Codes: map[string]string{"Why": "error.source." + code},
	}, personID)
}

func imported(ctx context.Context, tx pgx.Tx, jobID int64, r desk.ImportResult) error {
	if r.By == 7 { // the benchmark's backlog
		return nil
	}
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key: fmt.Sprintf("import:%d", jobID), Code: "notice.imported", Args: map[string]any{"Count": r.Added, "Known": r.Known, "Failed": r.Refused},
		Buttons: []chat.NoticeButton{{Code: "button.sources", Data: chat.DataSources(r.ChannelID)}},
	}, r.By)
}

func (b *bundle) publishing(people *channels.Service) *publishing.Service {
	follow := followCards
	return publishing.New(publishing.Config{
		Pool: b.pool, Telegram: b.client, Now: b.now, Logger: b.log,
		Change: func(ctx context.Context, tx pgx.Tx, c publishing.DraftChange) (int, bool, error) {
			res, err := drafting.Transition(ctx, tx, drafting.Change{DraftID: c.DraftID, From: c.From, Transition: c.Transition, To: c.To, Failure: c.Failure})
			return res.Draft.Transition, res.Done, err
		},
		Missed: func(context.Context, pgx.Tx, int64, int) error { return nil },
		ChannelState: func(ctx context.Context, tx pgx.Tx, id int64, s editorial.ChannelState, why string) error {
			_, err := people.SetState(ctx, tx, id, s, why)
			return err
		},
		MoveChat: func(ctx context.Context, tx pgx.Tx, from, to int64) error {
			_, err := people.MoveChat(ctx, tx, from, to)
			return err
		},
		KnowMessage: people.KnowMessage, OnPublished: follow, OnUnconfirmed: follow,
		OnFailed: func(ctx context.Context, tx pgx.Tx, draftID int64, _ string) error { return follow(ctx, tx, draftID) },
		OnChanged: func(ctx context.Context, tx pgx.Tx, draftID int64, code string) error {
			return chat.PostChangedTx(ctx, tx, draftID, fmt.Sprintf("%s:%d", code, b.now().UnixNano()))
		},
		PreviewURL: b.stage.Base + "/s",
	})
}
