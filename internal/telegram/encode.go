package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"reflect"
	"strings"

	"github.com/go-telegram/bot/models"
)

// payload is a request's body, whole in memory: only then can a request that
// was not written whole be told from one that was.
type payload struct {
	contentType string
	body        []byte
}

type upload struct {
	field, name string
	data        io.Reader
}

// encode writes parameters as JSON, or as a form when files go with them.
// params is nil, a map, or a pointer to one of go-telegram/bot's Params.
func encode(params any) (payload, error) {
	if params == nil {
		return payload{contentType: "application/json", body: []byte("{}")}, nil
	}
	v := reflect.Indirect(reflect.ValueOf(params))
	if v.Kind() != reflect.Struct {
		body, err := json.Marshal(params)
		return payload{contentType: "application/json", body: body}, err
	}
	fields, files, err := flatten(v)
	if err != nil {
		return payload{}, err
	}
	if len(files) > 0 {
		return encodeForm(fields, files)
	}
	body, err := json.Marshal(fields)
	return payload{contentType: "application/json", body: body}, err
}

func flatten(v reflect.Value) (map[string]json.RawMessage, []upload, error) {
	fields := map[string]json.RawMessage{}
	var files []upload
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || (strings.Contains(options, "omitempty") && v.Field(i).IsZero()) {
			continue
		}
		raw, up, err := encodeField(name, v.Field(i).Interface())
		if err != nil {
			return nil, nil, fmt.Errorf("encode %s: %w", name, err)
		}
		files = append(files, up...)
		if raw != nil {
			fields[name] = raw
		}
	}
	return fields, files, nil
}

// encodeField knows the library's types whose own JSON is wrong or incomplete:
// files (an address with a quote breaks), and media with their attachments.
func encodeField(name string, value any) (json.RawMessage, []upload, error) {
	switch value := value.(type) {
	case *models.InputFileUpload:
		return nil, []upload{{name, value.Filename, value.Data}}, nil
	case *models.InputFileString:
		raw, err := json.Marshal(value.Data)
		return raw, nil, err
	case models.InputMedia:
		raw, err := value.MarshalInputMedia()
		return raw, attachment(value), err
	case []models.InputMedia:
		return encodeMedia(value)
	}
	raw, err := json.Marshal(value)
	return raw, nil, err
}

func encodeMedia(list []models.InputMedia) (json.RawMessage, []upload, error) {
	parts := make([]json.RawMessage, 0, len(list))
	var files []upload
	for _, m := range list {
		raw, err := m.MarshalInputMedia()
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, raw)
		files = append(files, attachment(m)...)
	}
	raw, err := json.Marshal(parts)
	return raw, files, err
}

func attachment(m models.InputMedia) []upload {
	name, ok := strings.CutPrefix(m.GetMedia(), "attach://")
	if !ok || m.Attachment() == nil {
		return nil
	}
	return []upload{{name, name, m.Attachment()}}
}

func encodeForm(fields map[string]json.RawMessage, files []upload) (payload, error) {
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	for name, raw := range fields {
		// In a form a string stands bare, everything else as JSON.
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		if err := form.WriteField(name, text); err != nil {
			return payload{}, err
		}
	}
	for _, f := range files {
		w, err := form.CreateFormFile(f.field, f.name)
		if err != nil {
			return payload{}, err
		}
		if _, err := io.Copy(w, f.data); err != nil {
			return payload{}, fmt.Errorf("read the file %q: %w", f.name, err)
		}
	}
	if err := form.Close(); err != nil {
		return payload{}, err
	}
	return payload{contentType: form.FormDataContentType(), body: buf.Bytes()}, nil
}
