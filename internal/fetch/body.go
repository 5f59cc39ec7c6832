package fetch

import (
	"bufio"
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
// from servers that do not ask what they may send, and names of no encoding (a
// charset, a type) from those that take the header for another.
func decoded(resp *http.Response) (io.Reader, error) {
	var r io.Reader = resp.Body
	layers := strings.Split(strings.ToLower(strings.Join(resp.Header.Values("Content-Encoding"), ",")), ",")
	if len(layers) > 4 {
		return nil, errors.New("content encoding of many layers")
	}
	for i := len(layers) - 1; i >= 0; i-- {
		var err error
		switch enc := strings.TrimSpace(layers[i]); enc {
		case "gzip", "x-gzip":
			r, err = lazyGzip(r)
		case "deflate":
			r, err = inflate(r)
		case "br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "aes128gcm":
			err = errors.New("content encoding " + enc)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
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
	packed := bufio.NewReader(all)
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{packed, z}, nil
}

// members reads the members of a gzip stream one after another. What stands
// behind them and is no member (a line break, a server's remark) ends it.
type members struct {
	packed *bufio.Reader
	z      *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.z.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if n > 0 {
		return n, nil
	}
	if m.z.Reset(m.packed) != nil {
		return 0, io.EOF
	}
	m.z.Multistream(false)
	return m.z.Read(p)
}

// inflate reads zlib, as the standard says, or raw deflate, as some do, or the
// plain markup or JSON of a server that only says so.
func inflate(r io.Reader) (io.Reader, error) {
	head := make([]byte, 2)
	n, _ := io.ReadFull(r, head)
	all := io.MultiReader(bytes.NewReader(head[:n]), r)
	if n == 2 && (head[0] == '<' || head[0] == '{' || head[0] == '[' && head[1] == '{' || head[0] == 0xEF && head[1] == 0xBB) {
		return all, nil
	}
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
