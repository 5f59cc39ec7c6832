package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	_ "image/gif"  // formats that a photo may have
	_ "image/jpeg" // the same
	_ "image/png"  // the same
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/telegram/html"
)

const maxPhotoByURL = 5 << 20

// media resolves a file argument: an upload, attach://name, a file id, or an
// address, which is fetched as Telegram would.
func (s *Sandbox) media(a args, ref, field string, photo bool) (*file, *apiError) {
	if up := a.files[field]; up != nil && !strings.HasPrefix(ref, "attach://") {
		return s.keep(up.name, up.data, "", photo)
	}
	if name, ok := strings.CutPrefix(ref, "attach://"); ok {
		up := a.files[name]
		if up == nil {
			return nil, badRequest("there is no file \"" + name + "\" in the request")
		}
		return s.keep(up.name, up.data, "", photo)
	}
	if f := s.w.Files[ref]; f != nil {
		return f, nil
	}
	if html.CheckedLink(ref) == "" && !loopback(ref) {
		return nil, badRequest("wrong remote file identifier specified: Wrong character in the string")
	}
	for _, f := range s.w.Files {
		if f.Source == ref {
			return f, nil
		}
	}
	got, ok := a.fetched[ref]
	if !ok {
		return nil, badRequest("failed to get HTTP URL content")
	}
	if got.err != nil {
		return nil, got.err
	}
	return s.keep(path.Base(ref), got.data, ref, photo)
}

// fetched is what an address of a picture gave.
type fetched struct {
	data []byte
	err  *apiError
}

// prefetch loads the pictures that a call names by address. It runs before the
// world is locked: the address may be one of our own.
func (s *Sandbox) prefetch(ctx context.Context, a *args) {
	refs := []string{a.str("photo"), a.str("document")}
	var media []struct{ Media string }
	if m := a.str("media"); m != "" {
		if json.Unmarshal([]byte(m), &media) != nil {
			media = append(media, struct{ Media string }{})
			_ = json.Unmarshal([]byte(m), &media[0]) // what is neither is refused later
		}
	}
	for _, m := range media {
		refs = append(refs, m.Media)
	}
	for _, ref := range refs {
		if !strings.HasPrefix(ref, "http://") && !strings.HasPrefix(ref, "https://") {
			continue
		}
		if a.fetched == nil {
			a.fetched = map[string]fetched{}
		}
		data, e := s.fetchPhoto(ctx, ref)
		a.fetched[ref] = fetched{data, e}
	}
}

// fetchPhoto loads a picture as Telegram's servers do.
func (s *Sandbox) fetchPhoto(ctx context.Context, address string) ([]byte, *apiError) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, badRequest("failed to get HTTP URL content")
	}
	resp, err := s.cfg.Photos.Do(req)
	if err != nil {
		return nil, badRequest("failed to get HTTP URL content")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, badRequest("failed to get HTTP URL content")
	}
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "image/") {
		return nil, badRequest("wrong type of the web page content")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPhotoByURL+1))
	if err != nil || len(data) > maxPhotoByURL {
		return nil, badRequest("failed to get HTTP URL content")
	}
	return data, nil
}

func (s *Sandbox) keep(name string, data []byte, source string, photo bool) (*file, *apiError) {
	if len(data) == 0 {
		return nil, badRequest("file must be non-empty")
	}
	f := &file{Name: name, Mime: http.DetectContentType(data), Size: len(data), Source: source, data: data}
	if photo {
		cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return nil, badRequest("IMAGE_PROCESS_FAILED")
		}
		if f.Width, f.Height = cfg.Width, cfg.Height; f.Width+f.Height > 10000 {
			return nil, badRequest("PHOTO_INVALID_DIMENSIONS")
		}
	}
	s.w.NextFile++
	f.ID = "SBX" + strconv.FormatInt(1_000_000+s.w.NextFile, 36) + randomID(6)
	s.w.Files[f.ID] = f
	if err := s.saveFile(f); err != nil {
		s.log.Error().Err(err).Msg("sandbox: a file was not saved")
	}
	s.dirty = true
	return f, nil
}

func (s *Sandbox) getFile(a args) (any, *apiError) {
	if a.str("file_id") == "" {
		return nil, badRequest("file_id not specified")
	}
	f := s.w.Files[a.str("file_id")]
	if f == nil {
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	}
	return obj{"file_id": f.ID, "file_unique_id": "u" + f.ID, "file_size": f.Size, "file_path": "files/" + f.ID}, nil
}

// serveFile answers /file/bot<token>/files/<id>; the page asks with the token
// "page" for what it shows.
func (s *Sandbox) serveFile(w http.ResponseWriter, r *http.Request) {
	if bot := r.PathValue("bot"); bot != "page" && bot != "bot"+string(s.cfg.Token) {
		status, body := answerBody(nil, &apiError{Code: 401, Description: "Unauthorized"})
		writeJSON(w, status, body)
		return
	}
	s.mu.Lock()
	f := s.w.Files[path.Base(r.PathValue("path"))]
	s.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.Mime)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !strings.HasPrefix(f.Mime, "image/") {
		w.Header().Set("Content-Disposition", "attachment")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
}
