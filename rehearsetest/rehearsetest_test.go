package rehearsetest_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/rehearsetest"
)

// A program that is started with Env asks the stand-ins, and what it has asked can be read: here curl, which waits for as long as it is told.
func TestStart(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: needs curl")
	}
	s := rehearsetest.Start(t, "429(retry-after=1), 200(in=100, out=7)")
	cmd := exec.Command("sh", "-c", `curl -sf --retry 3 -H 'content-type: application/json' -d '{"model":"m","messages":[{"role":"user","content":"hi"}]}' "$ANTHROPIC_BASE_URL/v1/messages"`)
	cmd.Env = s.Env
	_, err := cmd.Output()
	must.OK(t, err)
	list := s.Requests()
	if len(list) != 2 || list[0].Status != 429 || list[0].RetryAfter != time.Second || list[1].Gap < time.Second || list[1].InputTokens != 100 || list[1].LastMessage != "hi" {
		t.Errorf("%+v", list)
	}
	if !slices.Contains(s.Env, "ANTHROPIC_BASE_URL="+s.URL) {
		t.Error("the environment does not lead to the stand-ins")
	}
}

// fatal is a test that notes that it was ended.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Fatalf(string, ...any) { f.said = "ended"; panic(f) }

// A mistake in the script ends the test.
func TestStart_Mistake(t *testing.T) {
	f := &fatal{TB: t}
	defer func() {
		if recover(); f.said == "" {
			t.Error("it went on")
		}
	}()
	rehearsetest.Start(f, "200, nonsense")
}
