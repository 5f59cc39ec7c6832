package miniapp_test

import (
	"context"
	"net/http/httptest"
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// refusing is a desk whose caller is a stranger everywhere: what the fake lacks
// answers as the real desk does.
type refusing struct{ *fakeDesk }

func (refusing) PostNow(context.Context, int64, int64, int) (d desk.Decision, err error) {
	return d, notYours()
}

func (refusing) Retry(context.Context, int64, int64, int) (d desk.Decision, err error) {
	return d, notYours()
}

func (refusing) SkipBecause(context.Context, int64, int64, int, editorial.SkipReason) (d desk.Decision, err error) {
	return d, notYours()
}

func (refusing) Edit(context.Context, int64, int64, int, string) (d desk.Decision, err error) {
	return d, notYours()
}

func (refusing) EditPost(context.Context, int64, int64, string) (s desk.Submission, err error) {
	return s, notYours()
}

func (refusing) DeletePost(context.Context, int64, int64) (s desk.Submission, err error) {
	return s, notYours()
}

func (refusing) OwnDraft(context.Context, int64, int64, desk.OwnInput) (s desk.Submission, err error) {
	return s, notYours()
}
func (refusing) Pause(context.Context, int64, int64) (bool, error)  { return false, notYours() }
func (refusing) Resume(context.Context, int64, int64) (bool, error) { return false, notYours() }
func (refusing) Invite(context.Context, int64, int64, editorial.Role) (string, error) {
	return "", notYours()
}

func (refusing) RemoveMember(context.Context, int64, int64, int64) (bool, error) {
	return false, notYours()
}

func (refusing) SetRole(context.Context, int64, int64, int64, editorial.Role) error {
	return notYours()
}

func (refusing) AddSource(context.Context, int64, int64, string) (s desk.SourceView, err error) {
	return s, notYours()
}

func (refusing) AddPack(context.Context, int64, int64, string) (s desk.Submission, err error) {
	return s, notYours()
}

func (refusing) RemoveSource(context.Context, int64, int64, int64) (bool, error) {
	return false, notYours()
}

func (refusing) PauseSource(context.Context, int64, int64, int64) (bool, error) {
	return false, notYours()
}

func (refusing) ResumeSource(context.Context, int64, int64, int64) (bool, error) {
	return false, notYours()
}

func (refusing) RetrySource(context.Context, int64, int64, int64) (s desk.Submission, err error) {
	return s, notYours()
}

func (refusing) SetSource(context.Context, int64, int64, int64, desk.SourceChange) (s desk.SourceView, err error) {
	return s, notYours()
}

func (refusing) TestSource(context.Context, int64, int64, int64) (v desk.TestView, err error) {
	return v, notYours()
}

func (refusing) ImportOPML(context.Context, int64, int64, []byte) (s desk.Submission, err error) {
	return s, notYours()
}

func (refusing) ExportOPML(context.Context, int64, int64) ([]byte, error) { return nil, notYours() }

func (refusing) Rescue(context.Context, int64, int64, int64) (s desk.Submission, err error) {
	return s, notYours()
}

func (refusing) Activity(context.Context, int64, int64, time.Time, int) ([]desk.Event, error) {
	return nil, notYours()
}
