package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// read takes the body up to the bound of decoded bytes. A body that ends early
// is returned as far as it came, marked as cut.
func (c *Client) read(resp *http.Response, u *url.URL, req Request) (*Response, error) {
	defer resp.Body.Close()
	limit := c.cfg.MaxBytes
	if req.MaxBytes > 0 {
		limit = req.MaxBytes
	}
	shown := *u
	shown.User = nil
	out := &Response{Status: resp.StatusCode, Header: resp.Header, FinalURL: shown.String()}
	if resp.StatusCode == http.StatusNotModified || resp.StatusCode == http.StatusNoContent {
		return out, nil
	}
	if resp.ContentLength > limit && resp.Header.Get("Content-Encoding") == "" {
		return nil, fail(CodeTooLarge, u, nil)
	}
	r, err := decoded(resp)
	if err != nil {
		return nil, fail(CodeEncoding, u, err)
	}
	size := int64(bytes.MinRead)
	if resp.ContentLength > 0 && resp.ContentLength < limit {
		size += resp.ContentLength
	}
	buf := bytes.NewBuffer(make([]byte, 0, size))
	_, err = buf.ReadFrom(io.LimitReader(r, limit+1))
	out.Body = buf.Bytes()
	switch {
	case int64(len(out.Body)) > limit:
		return nil, fail(CodeTooLarge, u, nil)
	case err == nil:
	case len(out.Body) > 0: // torn, or too slow: what came may still hold whole entries
		out.Cut = true
	default:
		return nil, classify(err, u)
	}
	return out, nil
}

// decoded undoes the Content-Encoding. Only gzip was asked for; deflate comes
// from servers that do not ask what they may send.
func decoded(resp *http.Response) (io.Reader, error) {
	switch enc := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); enc {
	case "", "identity", "none", "utf-8":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return lazyGzip(resp.Body)
	case "deflate":
		return inflate(resp.Body)
	default:
		return nil, errors.New("content encoding " + enc[:min(len(enc), 20)])
	}
}

// lazyGzip reads gzip, or the plain bytes of a server that only says so.
func lazyGzip(r io.Reader) (io.Reader, error) {
	head := make([]byte, 2)
	n, err := io.ReadFull(r, head)
	all := io.MultiReader(bytes.NewReader(head[:n]), r)
	if n < 2 || head[0] != 0x1F || head[1] != 0x8B {
		if err != nil && n == 0 && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return all, nil
	}
	return gzip.NewReader(all)
}

// inflate reads zlib, as the standard says, or raw deflate, as some do.
func inflate(r io.Reader) (io.Reader, error) {
	head := make([]byte, 2)
	n, _ := io.ReadFull(r, head)
	all := io.MultiReader(bytes.NewReader(head[:n]), r)
	if n == 2 && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(all)
	}
	return flate.NewReader(all), nil
}

// drain reads a little of a redirect's body, so that the connection can serve
// the next hop, and closes it.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}
