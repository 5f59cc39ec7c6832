package restore

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes what is held, as a table or as JSON.
func Print(w io.Writer, holds []Hold, asJSON bool) error {
	if asJSON {
		if holds == nil {
			holds = []Hold{}
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(holds)
	}
	if len(holds) == 0 {
		_, err := fmt.Fprintln(w, "no channel is held")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHANNEL\tTITLE\tHELD SINCE\tFOUND POSTED\tSKIPPED\tRETURNED\tWAITS FOR")
	for _, h := range holds {
		waits := "its first look"
		if h.Looks > 0 {
			waits = "a person: " + h.Note
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%d\t%d\t%s\n", h.ChannelID, h.Title,
			h.HeldAt.UTC().Format("2006-01-02 15:04Z"), h.Found, h.Alike, h.Returned, waits)
	}
	return t.Flush()
}
