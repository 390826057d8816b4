package state

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

// Whatever a profile admits as a session id, only what is safe in a path gets into one.
func TestIsFileName(t *testing.T) {
	for _, name := range []string{"claude", agent.UUIDExample, "ses_01K2ZQ8Y", "a-b_C9", strings.Repeat("x", 100)} {
		if !isFileName(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a.b", "a b", "a\x00", "a:b", "a*", "é", "a\n", strings.Repeat("x", 101)} {
		if isFileName(name) {
			t.Errorf("%q is admitted", name)
		}
	}
}

// Neither a session's id nor the name of its profile leads out of the directory, and none is taken for another's.
func TestSession_StaysInItsPlace(t *testing.T) {
	s := &State{Dir: t.TempDir()}
	for _, session := range []Session{{Profile: "claude", ID: "../../outside"}, {Profile: "../claude", ID: agent.UUIDExample}, {Profile: "claude", ID: "last"}} {
		must.OK(t, s.SaveSession(session))
		if got := s.Session(session.Profile, session.ID); !reflect.DeepEqual(got, Session{}) {
			t.Errorf("%+v", got)
		}
	}
	if files, _ := os.ReadDir(s.Dir); len(files) > 0 {
		t.Errorf("%v", files)
	}
	must.OK(t, s.SaveSession(Session{Profile: "open-code", ID: agent.UUIDExample, Dir: "/d", Updated: time.Now()}))
	other := filepath.Join(s.Dir, "sessions", "claude-"+agent.UUIDExample+".json")
	data, err := os.ReadFile(filepath.Join(s.Dir, "sessions", "open-code-"+agent.UUIDExample+".json"))
	if err == nil {
		err = os.WriteFile(other, data, 0o600)
	}
	must.OK(t, err)
	if got, ok := s.LastSession("open-code", "/d"); !ok || got.ID != agent.UUIDExample {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"open", "claude"} {
		if got, ok := s.LastSession(name, "/d"); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
