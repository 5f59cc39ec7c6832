package simulate

import (
	"context"
	"fmt"
	"time"

	"github.com/postonce/postonce/internal/ops/watch"
)

// samples are what was measured of one world.
type samples struct {
	idle, fresh, chain, figures []time.Duration
	spent                       time.Duration // in rounds with news
	items                       int
	before, after               int64 // pages that were asked of the tables by then
}

// measure takes turns: each round is run on every size before the next one
// begins, so that what else the machine does falls on all of them alike.
func measure(ctx context.Context, cfg Config, worlds []*world) ([]Cost, error) {
	for _, w := range worlds {
		if err := w.open(ctx); err != nil {
			return nil, err
		}
		for range 2 { // what is cold after the load, and the pages that split first in packed indexes
			if _, err := w.round(ctx, true); err != nil {
				return nil, err
			}
		}
	}
	all := make([]samples, len(worlds))
	if err := eachPages(ctx, cfg, worlds, func(i int, p int64) { all[i].before = p }); err != nil {
		return nil, err
	}
	for round := range cfg.Rounds {
		for i := range worlds {
			at := (i + round) % len(worlds)
			if err := worlds[at].sample(ctx, &all[at]); err != nil {
				return nil, fmt.Errorf("at %d %%: %w", worlds[at].share, err)
			}
		}
	}
	if err := eachPages(ctx, cfg, worlds, func(i int, p int64) { all[i].after = p }); err != nil {
		return nil, err
	}
	var out []Cost
	for i, w := range worlds {
		c, err := w.cost(ctx, all[i])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// eachPages reads the counters once every connection has handed in its own,
// which an idle one does after ten seconds.
func eachPages(ctx context.Context, cfg Config, worlds []*world, take func(int, int64)) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(cfg.Settle):
	}
	for i, w := range worlds {
		var p int64
		if err := w.pool.QueryRow(ctx, pagesSQL).Scan(&p); err != nil {
			return err
		}
		take(i, p)
	}
	return nil
}

// sample runs one round of everything on one size.
func (w *world) sample(ctx context.Context, s *samples) error {
	began := w.now()
	news, err := w.round(ctx, true)
	if err != nil {
		return err
	}
	s.spent += w.now().Sub(began)
	s.items += w.cfg.Polled
	s.fresh = append(s.fresh, news.polls...)
	s.chain = append(s.chain, news.drain/time.Duration(w.cfg.Polled))
	nothing, err := w.round(ctx, false)
	if err != nil {
		return err
	}
	s.idle = append(s.idle, nothing.polls...)
	for range 3 {
		at := w.now()
		if _, err := watch.Read(ctx, w.pool); err != nil {
			return err
		}
		s.figures = append(s.figures, w.now().Sub(at))
	}
	return nil
}

func (w *world) cost(ctx context.Context, s samples) (Cost, error) {
	c := Cost{
		Share: w.share, Size: w.size, Load: w.loaded,
		Idle: median(s.idle), Fresh: median(s.fresh), Chain: median(s.chain), Figures: median(s.figures),
		Through: float64(s.items) / s.spent.Seconds(),
	}
	if w.cfg.Settle > 0 {
		c.Pages = float64(s.after-s.before) / float64(s.items)
	}
	c.Headroom = c.Through * 24 * 3600 / 2
	if err := w.pool.QueryRow(ctx, sizeSQL).Scan(&c.Bytes); err != nil {
		return c, err
	}
	c.PerItem = c.Bytes / int64(w.size.Items)
	return c, nil
}
