package sandbox

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// args are the parameters of one call, each as a string: strings bare, all else
// as JSON, which is how the Bot API server sees them too.
type args struct {
	values  map[string]string
	files   map[string]*upload
	fetched map[string]fetched
}

type upload struct {
	name string
	data []byte
}

const maxRequest = 50 << 20

// readArgs merges the query with a JSON, urlencoded or multipart body.
func readArgs(r *http.Request) (args, *apiError) {
	a := args{values: map[string]string{}, files: map[string]*upload{}}
	for k, v := range r.URL.Query() {
		a.values[k] = v[0]
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		return a, a.readJSON(r)
	case "multipart/form-data":
		return a, a.readMultipart(r)
	case "application/x-www-form-urlencoded":
		if err := r.ParseForm(); err != nil {
			return a, badRequest("can't parse form")
		}
		for k, v := range r.PostForm {
			a.values[k] = v[0]
		}
	}
	return a, nil
}

func (a args) readJSON(r *http.Request) *apiError {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return badRequest("can't read request")
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return &apiError{Code: 400, Description: "Bad Request: can't parse JSON object"}
	}
	for k, v := range fields {
		var s string
		switch {
		case string(v) == "null":
		case json.Unmarshal(v, &s) == nil:
			a.values[k] = s
		default:
			a.values[k] = string(v)
		}
	}
	return nil
}

func (a args) readMultipart(r *http.Request) *apiError {
	if err := r.ParseMultipartForm(maxRequest); err != nil {
		return badRequest("can't parse multipart form")
	}
	for k, v := range r.MultipartForm.Value {
		a.values[k] = v[0]
	}
	for k, list := range r.MultipartForm.File {
		f, err := list[0].Open()
		if err != nil {
			return badRequest("can't read the file")
		}
		data, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return badRequest("can't read the file")
		}
		a.files[k] = &upload{name: list[0].Filename, data: data}
	}
	return nil
}

func (a args) str(name string) string { return a.values[name] }

func (a args) boolean(name string) bool {
	switch strings.ToLower(a.values[name]) {
	case "true", "yes", "1":
		return true
	}
	return false
}

// integer clamps like the server: what is absent or not a number is the default.
func (a args) integer(name string, def, lo, hi int64) int64 {
	n, err := strconv.ParseInt(a.values[name], 10, 64)
	if err != nil {
		n = def
	}
	return min(max(n, lo), hi)
}

func (a args) has(name string) bool { return a.values[name] != "" || a.files[name] != nil }

// apiError is a refusal in the Bot API's words.
type apiError struct {
	Code        int
	Description string
	RetryAfter  int
	MigrateTo   int64
}

func badRequest(text string) *apiError {
	return &apiError{Code: 400, Description: "Bad Request: " + text}
}

func forbidden(text string) *apiError {
	return &apiError{Code: 403, Description: "Forbidden: " + text}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}

func answerBody(result any, e *apiError) (int, obj) {
	if e == nil {
		return http.StatusOK, obj{"ok": true, "result": result}
	}
	o := obj{"ok": false, "error_code": e.Code, "description": e.Description}
	params := obj{}
	if e.RetryAfter > 0 {
		params["retry_after"] = e.RetryAfter
	}
	if e.MigrateTo != 0 {
		params["migrate_to_chat_id"] = e.MigrateTo
	}
	if len(params) > 0 {
		o["parameters"] = params
	}
	return e.Code, o
}
