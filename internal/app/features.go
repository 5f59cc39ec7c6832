package app

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/llm"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/stories"
)

// buildFeatures makes what the product consists of, in the order of an item's
// way, and registers its jobs. Each hands over to the next in its own
// transaction, through the functions given here.
func (p *parts) buildFeatures(a *App) error {
	web := fetch.New(fetch.Config{AllowNets: a.cfg.AllowNets, UserAgent: "postonce/" + a.process.Version})
	reader := sources.NewReader(web, a.cfg.PreviewURL, a.db.Clock.Now)
	p.channels = channels.New(channels.Config{
		Pool: a.db.Pool, Rights: channels.TelegramRights{Client: p.telegram}, MayLink: p.mayLink,
		LockHoldings: func(ctx context.Context, tx pgx.Tx, personID int64) error { return p.billing.Lock(ctx, tx, personID) },
		OnHoldings:   func(ctx context.Context, tx pgx.Tx, personID int64) error { return p.billing.Refit(ctx, tx, personID) },
	})
	p.planning = planning.New(a.db.Clock.Now)
	plans, providers, err := p.sells(a.cfg)
	if err != nil {
		return err
	}
	p.billing = billing.New(billing.Config{
		Pool: a.db.Pool, Plans: plans, Now: a.db.Clock.Now, Logger: a.log, Providers: providers,
		OnChanged: p.planChanged, Notify: p.notifyPlan, OnFinding: notifyFinding,
	})
	p.buildDrafting(a, reader)
	p.scoring = scoring.New(scoring.Config{Pool: a.db.Pool, Now: a.db.Clock.Now, Logger: a.log, OnProposal: p.propose})
	p.stories = stories.New(stories.Config{
		Pool: a.db.Pool, Logger: a.log, BaselineDone: p.channels.BaselineDone, OnItem: p.counters.item,
		OnStory: func(ctx context.Context, tx pgx.Tx, o stories.Offer) error {
			return p.scoring.Story(ctx, tx, o.ChannelID, o.StoryID, o.Baseline)
		},
		OnGrown: p.followUp,
		Best: func(ctx context.Context, tx pgx.Tx, channelID, sourceID int64, itemIDs []int64, n int) ([]int64, error) {
			return p.scoring.Best(ctx, tx, channelID, sourceID, itemIDs, n)
		},
	})
	p.sources = sources.New(sources.Config{
		Pool: a.db.Pool, Reader: reader, Clock: a.db.Clock.Now, Logger: a.log, MinInterval: a.cfg.PollMin, MaxInterval: a.cfg.PollMax, FullText: true,
		KeepTexts: days(a.cfg.KeepTextsDays),
		OnNew:     p.stories.Items, OnBaseline: p.stories.Baseline, OnMerged: p.channels.MergeSource,
		OnEdited:  p.drafting.EditedTx,
		OnTrouble: notifyTrouble, OnPoll: p.counters.poll,
	})
	p.buildPublishing(a, web)
	for _, part := range []interface{ Register(*queue.Registry) }{
		p.sources, p.stories, p.scoring, p.drafting, p.publishing, p.billing,
	} {
		part.Register(p.registry)
	}
	return nil
}

func (p *parts) buildDrafting(a *App, reader *sources.Reader) {
	cfg := drafting.Config{
		Pool: a.db.Pool, Now: a.db.Clock.Now, Logger: a.log, Metrics: a.metrics,
		BudgetDay: a.cfg.BudgetDay, BudgetChannelDay: a.cfg.BudgetChannel, Secret: []byte(a.cfg.BotToken),
		KeepAnswers: days(a.cfg.KeepAnswersDays),
		Article: func(ctx context.Context, url string) (drafting.Article, error) {
			page, err := reader.Article(ctx, url)
			return drafting.Article{
				URL: url, Title: page.Title, Text: page.Text, Image: page.Image, Site: page.SiteName, Language: page.Language,
			}, err
		},
		Posts: reader.Posts, KeepVoice: p.channels.LearnVoice,
		OnDraft: func(ctx context.Context, tx pgx.Tx, draftID int64, revision int) error {
			if err := p.desk.AutopilotTx(ctx, tx, draftID); err != nil {
				return err
			}
			return chat.DraftReadyTx(ctx, tx, draftID, revision)
		},
		OnRefreshed: func(ctx context.Context, tx pgx.Tx, draftID int64) error {
			if err := p.desk.AutopilotTx(ctx, tx, draftID); err != nil {
				return err
			}
			return cardsFollow(ctx, tx, draftID)
		},
		OnUnreadable: notifyUnreadable, OnRewriteFailed: notifyRewriteFailed,
		OnBudget: notifyBudget, Use: p.usePlan, OnPlan: p.notifySpent,
	}
	if a.cfg.LLMBaseURL != "" || a.cfg.LLMAPI == string(llm.Anthropic) && a.cfg.LLMModel != "" {
		cfg.Model = llm.New(llm.Config{
			API: llm.API(a.cfg.LLMAPI), BaseURL: a.cfg.LLMBaseURL, Key: a.cfg.LLMAPIKey, Model: a.cfg.LLMModel,
		})
	}
	p.drafting = drafting.New(cfg)
}

// propose makes a draft of a story that is worth one.
func (p *parts) propose(ctx context.Context, tx pgx.Tx, o scoring.Proposal) error {
	_, err := p.drafting.DraftTx(ctx, tx, drafting.DraftArgs{
		ChannelID: o.ChannelID, StoryID: o.StoryID, Score: o.Score, Explore: o.Explore,
	})
	return err
}

// followUp makes the one marked follow-up of a story that grew after its post.
func (p *parts) followUp(ctx context.Context, tx pgx.Tx, channelID, storyID int64) error {
	_, err := p.drafting.FollowUpTx(ctx, tx, channelID, storyID)
	return err
}

func (p *parts) buildPublishing(a *App, web *fetch.Client) {
	p.publishing = publishing.New(publishing.Config{
		Pool: a.db.Pool, Telegram: p.telegram, Now: a.db.Clock.Now, Logger: a.log, Metrics: a.metrics,
		Change: changeDraft,
		Missed: func(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error {
			return p.desk.MissedTx(ctx, tx, draftID, transition)
		},
		ChannelState: p.channelState,
		Held: func(ctx context.Context, tx pgx.Tx, channelID int64) (bool, error) {
			return p.restores.Held(ctx, tx, channelID)
		},
		MoveChat: func(ctx context.Context, tx pgx.Tx, from, to int64) error {
			_, err := p.channels.MoveChat(ctx, tx, from, to)
			return err
		},
		KnowMessage:   p.channels.KnowMessage,
		OnPublished:   cardsFollow,
		OnFailed:      notifyFailed,
		OnUnconfirmed: notifyDoubt,
		OnChanged:     chat.PostChangedTx,
		PreviewURL:    a.cfg.PreviewURL,
		Get: func(ctx context.Context, url string) ([]byte, error) {
			res, err := web.Get(ctx, fetch.Request{URL: url})
			if err != nil {
				return nil, err
			}
			return res.Body, nil
		},
		LogChatID: a.cfg.LogChatID,
	})
}

// changeDraft is drafting's Transition in publishing's words.
func changeDraft(ctx context.Context, tx pgx.Tx, c publishing.DraftChange) (int, bool, error) {
	res, err := drafting.Transition(ctx, tx, drafting.Change{
		DraftID: c.DraftID, From: c.From, Transition: c.Transition, To: c.To, Failure: c.Failure,
	})
	return res.Draft.Transition, res.Done, err
}

// cardsFollow edits the cards of a draft whose state the program changed.
func cardsFollow(ctx context.Context, tx pgx.Tx, draftID int64) error {
	d, err := drafting.Get(ctx, tx, draftID)
	if err != nil {
		return err
	}
	return chat.DraftChangedTx(ctx, tx, draftID, d.Transition)
}

// channelState records what the bot may do in a channel and tells its people
// when that is less than it was.
func (p *parts) channelState(ctx context.Context, tx pgx.Tx, channelID int64, state editorial.ChannelState, why string) error {
	changed, err := p.channels.SetState(ctx, tx, channelID, state, why)
	if err != nil || !changed || state == editorial.ChannelActive {
		return err
	}
	return notifyLost(ctx, tx, channelID, state)
}

// sells reads the plans and returns who sells them: the provider that BILLING
// names first, and the other one for what was sold through it before.
func (p *parts) sells(cfg config.Config) (billing.Catalogue, []billing.Provider, error) {
	if cfg.Billing == "off" {
		return billing.Catalogue{}, nil, nil
	}
	if cfg.BillingPlans == "" {
		return billing.Catalogue{}, nil, &config.Error{Variable: "BILLING_PLANS", Problem: "is empty: BILLING=" + cfg.Billing + " needs the file that names the plans"}
	}
	plans, err := billing.LoadCatalogue(cfg.BillingPlans)
	if err != nil {
		return plans, nil, wrongPlans(cfg, err)
	}
	providers := []billing.Provider{
		billing.Stars{Telegram: p.telegram},
		billing.Cards{Telegram: p.telegram, Token: cfg.ProviderToken, Money: plans.Currency},
	}
	if cfg.Billing == "cards" {
		if cfg.ProviderToken == "" {
			return plans, nil, &config.Error{Variable: "PAYMENT_PROVIDER_TOKEN", Problem: "is not set: BILLING=cards needs the token that @BotFather gives under Payments"}
		}
		slices.Reverse(providers)
	}
	if err := plans.SoldBy(providers[0]); err != nil {
		return plans, nil, wrongPlans(cfg, err)
	}
	return plans, providers, nil
}

func wrongPlans(cfg config.Config, err error) error {
	return &config.Error{Variable: "BILLING_PLANS", Problem: "names " + cfg.BillingPlans + ": " + err.Error()}
}

// days are settings; everything within counts in durations.
func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
