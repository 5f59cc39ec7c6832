package decode

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"unicode/utf8"
)

// unpack undoes what packs a feed that is stored as a packed file: gzip,
// twice at most, or deflate in either of its forms.
func unpack(body []byte, doc *Document) ([]byte, error) {
	for range 2 {
		if !bytes.HasPrefix(body, []byte{0x1F, 0x8B, 8}) {
			break
		}
		out, err := gunzip(body)
		if err != nil {
			return nil, err
		}
		doc.repair("gzip file")
		body = out
	}
	if out := inflate(body); out != nil {
		if len(out) > MaxBytes {
			return nil, fail(CodeTooComplex, "deflated file unpacks to more than 5 MB")
		}
		doc.repair("deflated file")
		body = out
	}
	return body, nil
}

// Unpacked is a document that may be stored as a gzip file; what cannot be
// unpacked is returned as it is.
func Unpacked(body []byte) []byte {
	if out, err := unpack(body, &Document{}); err == nil {
		return out
	}
	return body
}

// fileType names the type of a file that is certainly no text, "" of all others.
func fileType(body []byte) string {
	switch kind := http.DetectContentType(body); kind {
	case "application/pdf", "application/zip", "image/png", "image/jpeg", "image/gif", "image/webp", "video/mp4":
		return kind
	}
	return ""
}

// gunzip reads as much of a gzip file as is whole.
func gunzip(body []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fail(CodeBroken, "damaged gzip file")
	}
	out, err := io.ReadAll(io.LimitReader(z, MaxBytes+1))
	if len(out) > MaxBytes {
		return nil, fail(CodeTooComplex, "gzip file unpacks to more than 5 MB")
	}
	if err != nil && len(out) == 0 {
		return nil, fail(CodeBroken, "damaged gzip file")
	}
	return out, nil
}

// inflate unpacks bytes that are no text and become markup or JSON; nil when
// they do not.
func inflate(body []byte) []byte {
	if len(body) < 16 || utf8.Valid(body[:16]) && utf8.Valid(body) || bytes.IndexByte([]byte("<{[ \t\r\n\xEF\xFF\xFE\x00"), body[0]) >= 0 {
		return nil
	}
	var r io.Reader = flate.NewReader(bytes.NewReader(body))
	if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
		r = z
	}
	out, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil && len(out) <= MaxBytes {
		return nil
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(out, []byte("\uFEFF")), " \t\r\n")
	if len(start) == 0 || start[0] != '<' && start[0] != '{' && start[0] != '[' {
		return nil
	}
	return out
}
