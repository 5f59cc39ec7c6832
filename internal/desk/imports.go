package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/sources/opml"
)

const (
	maxImport     = 1 << 20 // bytes of a list
	maxImportRows = 2000
)

// importArgs is the payload of kind import: a list of feeds for a channel.
type importArgs struct {
	ChannelID int64          `json:"channel_id"`
	By        int64          `json:"by"`
	Digest    string         `json:"digest"` // of the list: importing it twice is one job
	Outlines  []opml.Outline `json:"outlines"`
	Bad       int            `json:"bad"` // lines that were none
}

// ImportResult is what became of a list.
type ImportResult struct {
	ChannelID int64
	By        int64
	Added     int
	Known     int // followed before
	Refused   int // no usable address, or beyond the plan
}

func (d *Desk) importKind() queue.Kind[importArgs] {
	return queue.Kind[importArgs]{
		Name: "import", Tier: queue.Bulk,
		Key:  func(a importArgs) string { return fmt.Sprintf("%d:%s", a.ChannelID, a.Digest) },
		Work: d.workImport,
	}
}

// RegisterImports adds the jobs that read lists of sources.
func (d *Desk) RegisterImports(r *queue.Registry) { queue.Register(r, d.importKind()) }

// ImportOPML follows every feed of an OPML file, by a job.
func (d *Desk) ImportOPML(ctx context.Context, by, channelID int64, file []byte) (Submission, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return Submission{}, err
	}
	if err := d.slowly(d.rates.imports, by); err != nil {
		return Submission{}, err
	}
	if len(file) > maxImport {
		return Submission{}, &Error{Code: CodeSource + "too_large", Args: map[string]any{"detail": "1 MB"}}
	}
	outlines, bad, err := sources.ReadList(file)
	if err != nil || len(outlines) == 0 {
		return Submission{}, fail(CodeSource+"not_opml", err)
	}
	return d.importList(ctx, by, channelID, outlines[:min(len(outlines), maxImportRows)], len(bad))
}

func (d *Desk) importList(ctx context.Context, by, channelID int64, outlines []opml.Outline, bad int) (Submission, error) {
	h := sha256.New()
	for _, o := range outlines {
		fmt.Fprintf(h, "%+v\n", o)
	}
	a := importArgs{ChannelID: channelID, By: by, Digest: hex.EncodeToString(h.Sum(nil)[:8]), Outlines: outlines, Bad: bad}
	var sub queue.Submission
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		sub, err = d.importKind().EnqueueTx(ctx, tx, a)
		return err
	})
	return Submission{JobID: sub.JobID, Fresh: sub.Fresh}, err
}

// workImport takes the whole list in the completing transaction: a crash
// before it leaves nothing half done.
func (d *Desk) workImport(ctx context.Context, job *queue.Job[importArgs]) error {
	a := job.Args
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		role, err := channels.RoleOf(ctx, tx, a.ChannelID, a.By)
		if err != nil || !role.May(editorial.Editor) {
			return err // no longer an editor: nothing is done
		}
		result := ImportResult{ChannelID: a.ChannelID, By: a.By, Refused: a.Bad}
		for _, o := range a.Outlines {
			if err := d.importLine(ctx, tx, a, o, &result); err != nil {
				return err
			}
		}
		if d.onImported == nil {
			return nil
		}
		return d.onImported(ctx, tx, job.ID, result)
	})
}

func (d *Desk) importLine(ctx context.Context, tx pgx.Tx, a importArgs, o opml.Outline, r *ImportResult) error {
	err := d.allowSource(ctx, tx, a.ChannelID)
	if CodeOf(err) == CodeLimit {
		r.Refused++
		return nil
	}
	if err != nil {
		return err
	}
	line, err := d.sources.ImportLine(ctx, tx, o)
	if err != nil {
		return err
	}
	if line.Code != "" {
		r.Refused++
		return nil
	}
	fresh, err := d.follow(ctx, tx, a.By, a.ChannelID, line.Added.ID, listBaseline(len(a.Outlines), r.Added))
	if fresh {
		r.Added++
	} else {
		r.Known++
	}
	return err
}

// listBaseline is what one source of a list is proposed of at first, when added
// of its list are followed already: a list of three hundred must not send nine
// hundred cards, so the first few give one each and the rest is remembered.
func listBaseline(length, added int) string {
	const few = 5
	switch {
	case length == 1, length == 2 && added == 0:
		return baselineSome
	case added < few:
		return baselineLatest
	}
	return baselineNone
}

// allowSource asks the plan of the channel's owner for one more source.
func (d *Desk) allowSource(ctx context.Context, tx pgx.Tx, channelID int64) error {
	if d.billing == nil || !d.billing.Enabled() {
		return nil
	}
	payer, err := channels.Payer(ctx, tx, channelID)
	if err != nil {
		return err
	}
	err = d.billing.Allow(ctx, tx, payer, billing.MeterSources, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		_, n, err := channels.Holdings(ctx, tx, payer)
		return n, err
	})
	return limitError(err)
}

// draftsLeft tells a person early that the plan's drafts of the month are used
// up; what counts is the draft's own transaction.
func (d *Desk) draftsLeft(ctx context.Context, q postgres.Querier, channelID int64) error {
	if d.billing == nil || !d.billing.Enabled() {
		return nil
	}
	payer, err := channels.Payer(ctx, q, channelID)
	if err != nil {
		return err
	}
	return limitError(d.billing.Spent(ctx, q, payer, billing.MeterDrafts))
}

// limitError turns a plan's limit into words for people.
func limitError(err error) error {
	if l, ok := errors.AsType[*billing.LimitError](err); ok {
		return &Error{Code: CodeLimit, Args: map[string]any{"what": l.Meter, "limit": l.Limit}, Cause: err}
	}
	return err
}

// Packs lists the suggested sources of a language; with none of its own, all.
func (d *Desk) Packs(ctx context.Context, by int64, language string) ([]PackView, error) {
	if err := d.admitted(ctx, d.pool, by); err != nil {
		return nil, err
	}
	var list []PackView
	for _, p := range d.packs {
		if p.Language == language || language == "" {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		list = d.packs
	}
	return list, nil
}

// AddPack lets a channel follow all sources of a pack, by a job.
func (d *Desk) AddPack(ctx context.Context, by, channelID int64, pack string) (Submission, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Editor); err != nil {
		return Submission{}, err
	}
	if err := d.slowly(d.rates.imports, by); err != nil {
		return Submission{}, err
	}
	for _, p := range d.packs {
		if p.ID != pack {
			continue
		}
		outlines := make([]opml.Outline, len(p.Sources))
		for i, address := range p.Sources {
			outlines[i] = opml.Outline{URL: address}
		}
		return d.importList(ctx, by, channelID, outlines, 0)
	}
	return Submission{}, notYours()
}
