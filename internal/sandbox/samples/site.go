package samples

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
)

func (n *Newsroom) routes() {
	n.mux = http.NewServeMux()
	n.mux.HandleFunc("GET /{$}", n.serveIndex)
	n.mux.HandleFunc("GET /{slug}/{$}", n.serveFront)
	n.mux.HandleFunc("GET /{slug}/{name}", n.serveNamed)
	n.mux.HandleFunc("GET /{slug}/images/{name}", n.serveImage)
}

// ServeHTTP expects paths relative to Base: mount it with http.StripPrefix.
func (n *Newsroom) ServeHTTP(w http.ResponseWriter, r *http.Request) { n.mux.ServeHTTP(w, r) }

func (n *Newsroom) serveIndex(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	b.WriteString(head("Sample sources", "en", "", ""))
	b.WriteString("<h1>Sample sources</h1><ul>")
	for _, s := range n.sources {
		fmt.Fprintf(&b, `<li><a href="%s">%s</a> (%s)</li>`, n.Site(s), html.EscapeString(s.Name), s.Format)
	}
	b.WriteString("</ul></body></html>")
	writeHTML(w, b.String())
}

func (n *Newsroom) serveFront(w http.ResponseWriter, r *http.Request) {
	s := n.source(r.PathValue("slug"))
	if s == nil {
		http.NotFound(w, r)
		return
	}
	kind := map[string]string{"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}[s.Format]
	link := fmt.Sprintf(`<link rel="alternate" type="%s" title="%s" href="%s">`, kind, html.EscapeString(s.Name), s.FeedPath)
	var b strings.Builder
	b.WriteString(head(s.Name, s.Lang, link, s.About))
	fmt.Fprintf(&b, "<header><h1>%s</h1><p>%s</p></header><main>", html.EscapeString(s.Name), html.EscapeString(s.About))
	for _, e := range n.Entries(s) {
		fmt.Fprintf(&b, `<article><h2><a href="%s">%s</a></h2><p>%s</p></article>`, e.URL, html.EscapeString(e.Title), html.EscapeString(e.Body[0]))
	}
	b.WriteString("</main></body></html>")
	writeHTML(w, b.String())
}

func (n *Newsroom) serveNamed(w http.ResponseWriter, r *http.Request) {
	s := n.source(r.PathValue("slug"))
	if s == nil {
		http.NotFound(w, r)
		return
	}
	if r.PathValue("name") == s.FeedPath {
		n.serveFeed(w, r, s)
		return
	}
	_, e, ok := n.Find(n.Site(s) + r.PathValue("name"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	n.serveArticle(w, s, e)
}

// serveFeed answers conditional requests by a digest of what it would send.
func (n *Newsroom) serveFeed(w http.ResponseWriter, r *http.Request, s *Source) {
	list := n.Entries(s)
	sum := sha256.Sum256([]byte(s.Slug + strconv.FormatInt(list[0].N, 10) + n.cfg.Base))
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Last-Modified", list[0].Published.Format(http.TimeFormat))
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	write := map[string]func(http.ResponseWriter, *Source, []Entry) error{"rss": n.writeRSS, "atom": n.writeAtom, "json": n.writeJSON}[s.Format]
	_ = write(w, s, list) // the reader went away: nothing to tell anybody
}

func (n *Newsroom) serveArticle(w http.ResponseWriter, s *Source, e Entry) {
	meta := fmt.Sprintf(`<link rel="canonical" href="%s"><meta property="og:type" content="article"><meta property="og:title" content="%s"><meta property="og:description" content="%s"><meta property="og:site_name" content="%s"><meta property="article:published_time" content="%s">`,
		e.URL, html.EscapeString(e.Title), html.EscapeString(e.Body[0]), html.EscapeString(s.Name), e.Published.Format("2006-01-02T15:04:05Z07:00"))
	if e.Image != "" {
		meta += fmt.Sprintf(`<meta property="og:image" content="%s">`, e.Image)
	}
	var b strings.Builder
	b.WriteString(head(e.Title+" · "+s.Name, s.Lang, meta, e.Body[0]))
	fmt.Fprintf(&b, `<nav><a href="%s">%s</a></nav><main><article><h1>%s</h1><p class="meta"><time datetime="%s">%s</time> · %s</p>`,
		n.Site(s), html.EscapeString(s.Name), html.EscapeString(e.Title), e.Published.Format("2006-01-02T15:04:05Z07:00"),
		e.Published.Format("2 January 2006, 15:04"), html.EscapeString(strings.Join(e.Tags, ", ")))
	if e.Image != "" {
		fmt.Fprintf(&b, `<img src="%s" alt="" width="800" height="450">`, e.Image)
	}
	for _, p := range e.Body {
		b.WriteString("<p>" + html.EscapeString(p) + "</p>")
	}
	b.WriteString("</article></main></body></html>")
	writeHTML(w, b.String())
}

func (n *Newsroom) serveImage(w http.ResponseWriter, r *http.Request) {
	s := n.source(r.PathValue("slug"))
	k, err := strconv.ParseInt(strings.TrimSuffix(r.PathValue("name"), ".jpg"), 10, 64)
	if s == nil || err != nil {
		http.NotFound(w, r)
		return
	}
	var buf bytes.Buffer
	if err := drawLandscape(&buf, s.seed, k); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "max-age=86400")
	_, _ = w.Write(buf.Bytes())
}

func head(title, lang, extra, about string) string {
	return fmt.Sprintf(`<!DOCTYPE html><html lang="%s"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title><meta name="description" content="%s">%s<style>%s</style></head><body>`,
		lang, html.EscapeString(title), html.EscapeString(about), extra, style)
}

const style = `body{font:18px/1.6 Georgia,serif;max-width:720px;margin:0 auto;padding:24px;color:#222;background:#fdfcfa}
h1{line-height:1.2}h2{font-size:1.15em;margin:0}article{margin:0 0 28px}img{width:100%;height:auto;border-radius:6px}
a{color:#0b5cad;text-decoration:none}.meta{color:#777;font-size:.85em}@media(prefers-color-scheme:dark){body{background:#17191c;color:#ddd}a{color:#7db8f0}}`

func writeHTML(w http.ResponseWriter, s string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(s))
}
