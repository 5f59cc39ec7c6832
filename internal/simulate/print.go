package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Print writes the costs side by side, and how much each grew from the first
// share to the last.
func Print(w io.Writer, costs []Cost) error {
	if len(costs) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(c Cost) string, value func(c Cost) float64) {
		fmt.Fprintf(t, "%s\t", name)
		for _, c := range costs {
			fmt.Fprintf(t, "%s\t", cell(c))
		}
		growth := ""
		if first := value(costs[0]); first > 0 && len(costs) > 1 {
			growth = fmt.Sprintf("× %.2f", value(costs[len(costs)-1])/first)
		}
		fmt.Fprintf(t, "%s\t\n", growth)
	}
	spent := func(name string, of func(c Cost) time.Duration) {
		row(name, func(c Cost) string { return fmt.Sprintf("%.2f ms", float64(of(c))/1e6) }, func(c Cost) float64 { return float64(of(c)) })
	}
	none := func(Cost) float64 { return 0 }
	row("share", func(c Cost) string { return fmt.Sprintf("%d %%", c.Share) }, none)
	row("sources", func(c Cost) string { return fmt.Sprint(c.Size.Sources) }, none)
	row("items", func(c Cost) string { return fmt.Sprint(c.Size.Items) }, none)
	spent("a poll, nothing new", func(c Cost) time.Duration { return c.Idle })
	spent("a poll, one new", func(c Cost) time.Duration { return c.Fresh })
	spent("an item, polled to scored", func(c Cost) time.Duration { return c.Chain })
	spent("the operator's figures", func(c Cost) time.Duration { return c.Figures })
	row("pages read an item", func(c Cost) string { return fmt.Sprintf("%.0f", c.Pages) }, func(c Cost) float64 { return c.Pages })
	row("items a second", func(c Cost) string { return fmt.Sprintf("%.0f", c.Through) }, func(c Cost) float64 { return c.Through })
	row("items a day at half of that", func(c Cost) string { return fmt.Sprintf("%.1f M", c.Headroom/1e6) }, none)
	row("database", func(c Cost) string { return fmt.Sprintf("%.2f GB", float64(c.Bytes)/1e9) }, none)
	row("bytes an item", func(c Cost) string { return fmt.Sprint(c.PerItem) }, func(c Cost) float64 { return float64(c.PerItem) })
	return t.Flush()
}
