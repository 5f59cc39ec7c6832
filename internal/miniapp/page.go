package miniapp

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
)

//go:embed page/index.html page/style.css page/js/*.js
var pageFS embed.FS

// contentPolicy lets the page load its own files and Telegram's script, show
// images of posts, and be framed by Telegram's web clients; nothing else.
// The one script inside of the page, which asks for the session while the others
// are on their way, is named by its digest.
const contentPolicy = "default-src 'none'; script-src 'self' 'sha256-%s' https://telegram.org; style-src 'self'; " +
	"img-src 'self' https: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'self' https://web.telegram.org https://*.telegram.org; object-src 'none'"

// asset is a file of the page, ready to send.
type asset struct {
	kind       string
	plain, zip []byte
	immutable  bool
	etag       string
}

// assets serves the page. Its files live under a folder named by the digest of
// them all and may be kept for ever; the page itself is asked for each time.
type assets struct {
	files  map[string]asset // by path under /app/
	policy string
}

// loadAssets reads the embedded files, joins the modules and packs each file once.
func loadAssets() (*assets, error) {
	sum := sha256.New()
	raw := map[string][]byte{}
	var names []string
	err := fs.WalkDir(pageFS, "page", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := pageFS.ReadFile(p)
		name := strings.TrimPrefix(p, "page/")
		raw[name] = b
		names = append(names, name)
		fmt.Fprintf(sum, "%s %d\n", name, len(b))
		sum.Write(b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the page's files: %w", err)
	}
	slices.Sort(names)
	folder := "a/" + hex.EncodeToString(sum.Sum(nil))[:12]
	a := &assets{files: map[string]asset{}}
	script, err := join(raw)
	if err != nil {
		return nil, err
	}
	a.files[folder+"/page.js"] = pack("page.js", script, true)
	a.files[folder+"/style.css"] = pack("style.css", bareStyle(raw["style.css"]), true)
	_, inside, _ := bytes.Cut(raw["index.html"], []byte("<script>"))
	inside, _, _ = bytes.Cut(inside, []byte("</script>"))
	digest := sha256.Sum256(inside)
	a.policy = fmt.Sprintf(contentPolicy, base64.StdEncoding.EncodeToString(digest[:]))
	a.files[""] = pack("index.html", bytes.ReplaceAll(raw["index.html"], []byte("{{assets}}"), []byte(folder)), false)
	return a, nil
}

func pack(name string, plain []byte, immutable bool) asset {
	kinds := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
	sum := sha256.Sum256(plain)
	a := asset{kind: kinds[path.Ext(name)] + "; charset=utf-8", plain: plain, immutable: immutable, etag: `"` + hex.EncodeToString(sum[:10]) + `"`}
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // the level is one of its own
	// Each language of the texts begins a block of its own: it has its own letters.
	for i, part := range bytes.SplitAfter(plain, []byte("`,`")) {
		if i > 0 {
			_ = z.Flush()
		}
		_, _ = z.Write(part) // a buffer takes everything
	}
	_ = z.Close()
	a.zip = buf.Bytes()
	return a
}

// ServeHTTP serves /app/ and what is below it.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(r.URL.Path, "/app/")
	file, ok := a.files[name]
	head := w.Header()
	head.Set("Content-Security-Policy", a.policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "read only", http.StatusMethodNotAllowed)
		return
	}
	head.Set("ETag", file.etag)
	head.Set("Vary", "Accept-Encoding")
	head.Set("Cache-Control", "no-cache")
	if file.immutable {
		head.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(r.Header.Get("If-None-Match"), file.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", file.kind)
	body := file.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		head.Set("Content-Encoding", "gzip")
		body = file.zip
	}
	head.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the reader went away: nobody to tell
	}
}

// weight is what all files of the page are together on the wire, in bytes.
func (a *assets) weight() int {
	n := 0
	for _, f := range a.files {
		n += len(f.zip)
	}
	return n
}
