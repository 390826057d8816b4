package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/state"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	fresh := filepath.Join(dir, "a", "b")
	if _, err := state.Open(fresh); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(fresh); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	shared := filepath.Join(dir, "shared")
	os.Mkdir(shared, 0o700)
	os.Chmod(shared, 0o777)
	if _, err := state.Open(shared); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a directory that others write to: %v", err)
	}
	t.Setenv("BELAY_STATE_DIR", "")
	t.Setenv("XDG_STATE_HOME", "/x")
	if got, _ := state.DefaultDir(); got != "/x/belay" {
		t.Errorf("%q", got)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/h")
	if got, _ := state.DefaultDir(); got != "/h/.local/state/belay" {
		t.Errorf("%q", got)
	}
}

const (
	oneSession   = "01234567-89ab-4def-8123-456789abcdef"
	otherSession = "11234567-89ab-4def-8123-456789abcdef"
)

func TestState_LastSession(t *testing.T) {
	s := &state.State{Dir: t.TempDir()}
	at := time.Now()
	for i, one := range []state.Session{
		{Profile: "claude", ID: oneSession, Dir: "/a", Updated: at},
		{Profile: "claude", ID: otherSession, Dir: "/a", Updated: at.Add(time.Second)},
		{Profile: "codex", ID: oneSession, Dir: "/a", Updated: at.Add(time.Minute)},
		{Profile: "claude", ID: strings.Replace(oneSession, "0", "2", 1), Dir: "/b", Updated: at.Add(time.Minute)},
		{Profile: "claude", ID: "../../etc/passwd", Dir: "/a", Updated: at.Add(time.Hour)},
	} {
		if err := s.SaveSession(one); err != nil {
			t.Fatal(i, err)
		}
	}
	last, ok := s.LastSession("claude", "/a")
	if !ok || last.ID != otherSession {
		t.Errorf("%+v, %v", last, ok)
	}
	if _, ok := s.LastSession("claude", "/c"); ok {
		t.Error("there is one where there is none")
	}
}
