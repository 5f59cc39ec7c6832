package decode

import "strings"

// refuseBridge recognises a feed generator that reports its own failure as an
// entry, with a new id every day: posting it would put an error into a channel.
func refuseBridge(d *Document) error {
	if len(d.Entries) == 0 {
		if d.Title == "undefined" {
			return fail(CodeBridge, "the generator returned nothing")
		}
		return nil
	}
	kept := d.Entries[:0]
	for _, e := range d.Entries {
		if isBridgeError(e.Title) {
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) == 0 {
		return fail(CodeBridge, "the generator reports: "+d.Entries[0].Title)
	}
	if len(kept) < len(d.Entries) {
		d.repair("error reports of the generator left out")
	}
	d.Entries = kept
	return nil
}

func isBridgeError(title string) bool {
	t := strings.ToLower(title)
	for _, p := range []string{
		"bridge returned error", "bridge encountered an unexpected", "rss-bridge", "rsshub error", "looks like rsshub",
		"feed generation failed", "error generating feed", "unable to generate feed", "rss.app: feed", "this feed has expired", "fetchrss: ",
	} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return false
}
