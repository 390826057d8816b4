package supervise_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// A command that is open for writing is started as soon as it is not.
func TestRun_OpenForWriting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "command")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	must.OK(t, err)
	if _, err := f.WriteString("#!/bin/sh\nexit 7\n"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { f.Close() })
	if exit := run(t, supervise.Spec{Path: path, Args: []string{"command"}}, nil); exit.Code != 7 {
		t.Errorf("%+v", exit)
	}
}
