package belay_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

// neutral makes a process that can leave nothing behind unseen: an empty home, a working directory that is read-only, and a
// directory for temporary files. The function that it returns says what is in them.
func neutral(t *testing.T) (left func() []string) {
	t.Helper()
	home, work, temp := t.TempDir(), t.TempDir(), t.TempDir()
	must.OK(t, os.Chmod(work, 0o555))
	for _, name := range []string{"BELAY_STATE_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, "") // what it was comes back afterwards
		os.Unsetenv(name)
	}
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", temp)
	t.Chdir(work)
	return func() (list []string) {
		for _, dir := range []string{home, work, temp} {
			for _, file := range files(t, dir) {
				list = append(list, dir+"/"+file)
			}
		}
		return list
	}
}

// The library is a guest in the program that uses it: nothing is written unless a State is given.
func TestNeutral_NothingIsLeft(t *testing.T) {
	left := neutral(t)
	if res, err := belay.Run(t.Context(), "true"); err != nil || !res.Success || res.Log != "" {
		t.Errorf("%+v, %v", res, err)
	}
	if list := left(); len(list) > 0 {
		t.Errorf("after true: %q", list)
	}

	// Not for a failure with retries at a gate and in a scope either, nor for output that does not fit into memory.
	r := belay.Runner{Policy: retry.Policy{MaxRetries: 2, BaseDelay: time.Millisecond}, Scope: "a scope", Gate: belay.Gate{Key: t.Name(), MaxParallel: 2},
		Observe: func(e belay.Event) {
			switch e := e.(type) {
			case belay.StateTrouble, belay.GateTrouble, belay.ScopeTrouble:
				t.Errorf("%T %+v", e, e)
			}
		}}
	res, err := r.Run(t.Context(), sh("exit 3"))
	if !errors.Is(err, retry.ErrExhausted) || res.Attempts != 3 {
		t.Errorf("%v after %d attempts", err, res.Attempts)
	}
	res, err = r.Run(t.Context(), sh("head -c 3000000 /dev/zero | tr '\\0' x"))
	if err != nil || res.Output.Size() != 3_000_000 {
		t.Errorf("%d bytes, %v", res.Output.Size(), err)
	}
	if list := left(); len(list) > 0 {
		t.Errorf("after retries and much output: %q", list)
	}
	if err := res.Output.Close(); err != nil || res.Output.Size() != 0 {
		t.Errorf("%v, %d bytes", err, res.Output.Size())
	}

	// An agent has neither a session on record nor a log of its own.
	claude := scripted(t, begins+answers+succeeds)
	claude.Dir = ""
	if res, err := claude.Run(t.Context()); err != nil || res.Session != session {
		t.Errorf("%+v, %v", res, err)
	}
	if list := left(); len(list) > 0 {
		t.Errorf("after an agent: %q", list)
	}
}

// What is asked for is where it was asked for, and nowhere else.
func TestNeutral_StateIsWhereItIsSaid(t *testing.T) {
	left := neutral(t)
	state, err := belay.OpenState(t.TempDir())
	must.OK(t, err)
	claude := scripted(t, begins+answers+succeeds)
	claude.Runner.State, claude.Runner.LogDir = state, belay.NoLogDir
	res, err := claude.Run(t.Context())
	if err != nil || res.Log != state.LogPath() {
		t.Errorf("%+v, %v", res, err)
	}
	if info, err := os.Stat(state.LogPath()); err != nil || info.Size() == 0 {
		t.Errorf("the log: %v, %v", info, err)
	}
	if got, ok := state.Session("claude", session); !ok || got.Status != "done" || got.Usage.InputTokens != 100 || got.Dir != claude.Dir {
		t.Errorf("the session: %+v, %v", got, ok)
	}
	if list := left(); len(list) > 0 {
		t.Errorf("elsewhere: %q", list)
	}

	// The zero State is the usual directory, which only the run makes.
	claude.Runner.State = &belay.State{}
	if _, ok := claude.Runner.State.LastSession("claude", claude.Dir); ok || len(left()) > 0 {
		t.Errorf("a look at the state has made %q", left())
	}
	if _, err := claude.Run(t.Context()); err != nil {
		t.Error(err)
	}
	dir, err := belay.DefaultStateDir()
	if err != nil || claude.Runner.State.LogPath() != dir+"/log.jsonl" {
		t.Errorf("%s, %v", claude.Runner.State.LogPath(), err)
	}
	if _, err := os.Stat(claude.Runner.State.LogPath()); err != nil {
		t.Error(err)
	}
	if _, ok := claude.Runner.State.Session("claude", session); !ok {
		t.Error("the session is not on record")
	}

	// Without a home there is no usual directory.
	os.Unsetenv("HOME")
	if _, err := belay.DefaultStateDir(); err == nil {
		t.Skip("this system has a place without HOME")
	}
	if s := (&belay.State{}); s.LogPath() != "" {
		t.Errorf("the log would be %s", s.LogPath())
	}
	if _, ok := (&belay.State{}).Session("claude", session); ok {
		t.Error("there is a session")
	}
	if _, ok := (&belay.State{}).LastSession("claude", claude.Dir); ok {
		t.Error("there is a last session")
	}
	if _, err := (&belay.State{}).HandleError(errors.New("x"), belay.Session{}, nil); err == nil {
		t.Error("an error was handled nowhere")
	}
	if _, err := belay.OpenState(""); err == nil {
		t.Error("a state was opened nowhere")
	}
}
