package app

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDataDirIsNamedInOneLine(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("private postgres: initdb: exit status 1\nFATAL:  could not write to file \"base/4/1247\": No space left on device\nchild process exited"),
		&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.ENOSPC},
	} {
		got := explainEmbedded(err, "/data").Error()
		if strings.Contains(got, "\n") || !strings.Contains(got, "DATA_DIR /data: its disk is full: make room for 100 MB") {
			t.Errorf("%v is told as %q", err, got)
		}
	}
}
