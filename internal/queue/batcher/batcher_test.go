package batcher_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postonce/postonce/internal/queue/batcher"
)

// groups collects what is passed on; each flush takes as long as disk says.
type groups struct {
	disk time.Duration
	got  chan []int
}

func (g *groups) flush(items []int) {
	time.Sleep(g.disk)
	g.got <- items
}

func newGroups(cfg batcher.Config, disk time.Duration) (*groups, *batcher.Batcher[int]) {
	g := &groups{disk: disk, got: make(chan []int, 100)}
	return g, batcher.New(cfg, g.flush)
}

func add(b *batcher.Batcher[int], from, to int) {
	for i := from; i < to; i++ {
		b.Add(i)
	}
}

func TestAGroupGoesWhenItIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, b := newGroups(batcher.Config{Max: 3, Wait: time.Hour, Lanes: 1}, 0)
		start := time.Now()
		add(b, 0, 3)
		if got := <-g.got; !slices.Equal(got, []int{0, 1, 2}) || time.Since(start) != 0 {
			t.Errorf("got %v after %v", got, time.Since(start))
		}
	})
}

func TestARestGoesWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, b := newGroups(batcher.Config{Max: 3, Wait: 5 * time.Millisecond, Lanes: 1}, 0)
		start := time.Now()
		b.Add(1)
		if got := <-g.got; !slices.Equal(got, []int{1}) || time.Since(start) != 5*time.Millisecond {
			t.Errorf("got %v after %v", got, time.Since(start))
		}
		time.Sleep(time.Hour) // no group is ever empty
		if len(g.got) != 0 {
			t.Errorf("passed on %v", <-g.got)
		}
	})
}

func TestGroupsGrowWhileTheLaneIsBusyAndGoAsSoonAsItIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, b := newGroups(batcher.Config{Max: 2, Most: 5, Wait: time.Millisecond, Lanes: 1}, 10*time.Millisecond)
		start := time.Now()
		add(b, 0, 2)
		synctest.Wait()
		add(b, 2, 9) // seven come while the first two are written
		for i, want := range [][]int{{0, 1}, {2, 3, 4, 5, 6}, {7, 8}} {
			got := <-g.got
			if after := time.Duration(i+1) * 10 * time.Millisecond; !slices.Equal(got, want) || time.Since(start) != after {
				t.Errorf("group %d is %v after %v, want %v after %v", i, got, time.Since(start), want, after)
			}
		}
		add(b, 9, 11)
		synctest.Wait()
		b.Add(11) // too few for a group, and its time is over before the lane is free
		<-g.got
		if got := <-g.got; !slices.Equal(got, []int{11}) || time.Since(start) != 50*time.Millisecond {
			t.Errorf("the rest %v came after %v, want 50ms", got, time.Since(start))
		}
	})
}

func TestLanesWorkSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, b := newGroups(batcher.Config{Max: 1, Wait: time.Millisecond, Lanes: 2}, 10*time.Millisecond)
		start := time.Now()
		add(b, 0, 2)
		<-g.got
		<-g.got
		if d := time.Since(start); d != 10*time.Millisecond {
			t.Errorf("two groups took %v, want 10ms", d)
		}
	})
}

func TestFlushReturnsWhenNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, b := newGroups(batcher.Config{Max: 10, Wait: time.Hour, Lanes: 2}, 10*time.Millisecond)
		add(b, 0, 25)
		b.Flush()
		n := 0
		for len(g.got) > 0 {
			n += len(<-g.got)
		}
		if n != 25 {
			t.Errorf("%d of 25 were written when Flush returned", n)
		}
	})
}
