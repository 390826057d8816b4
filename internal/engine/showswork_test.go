package engine_test

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/verdict"
)

// lockedBuffer can be looked at while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// What a CLI itself shows of its work is seen while it works, of attempts that are repeated too, and a reader that leaves does not end the run.
func TestShowsWork(t *testing.T) {
	runner := func() *engine.Runner {
		r := agentRunner(agent.Info{Form: agent.Text, ShowsWork: true})
		r.ShowWork = true
		r.Profile.(*enginetest.Agent).Plans = func(agent.Turn) agent.Plan { return agent.Plan{Args: claude.Args, Plain: true} }
		return r
	}
	synctest.Test(t, func(t *testing.T) {
		r := runner()
		var errs lockedBuffer
		seen := ""
		script(r, steps(1, enginetest.Complain("fails\n"), enginetest.Line(enginetest.Event{Class: verdict.Overloaded})), steps(0, enginetest.Complain("works\n"), enginetest.Wait(time.Minute), enginetest.Do(func() { seen = errs.String() })))
		c := claude
		c.Stderr = &errs
		if _, err := r.Run(t.Context(), c); err != nil || seen != "fails\nworks\n" {
			t.Errorf("%q, %v", seen, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := runner()
		script(r, steps(0, enginetest.Complain("works\n"), enginetest.Complain("still\n")))
		if res, err := r.Run(t.Context(), belaytype.Command{Args: claude.Args, Stderr: &closedWriter{}}); err != nil {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// Where the CLI is made to print events instead, what it begins is told with what the model has said before; of others it is not.
func TestShowsWork_Begun(t *testing.T) {
	for _, shows := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{ShowsWork: shows})
			var got []string
			r.Follow = func(a engine.Activity) {
				if a.Begun {
					got = append(got, a.Tool+"|"+a.Argument())
				}
			}
			script(r, steps(0, enginetest.Line(enginetest.Event{Tools: 1, Use: enginetest.Use{Tool: "exec", Argument: "curl -H 'Authorization: Bearer abcdefgh12345678' x", Said: "I look."}}),
				enginetest.Line(enginetest.Event{Done: true})))
			if _, err := r.Run(t.Context(), claude); err != nil {
				t.Fatal(err)
			}
			var want []string
			if shows {
				want = []string{"|I look.", "exec|curl -H 'Authorization: [redacted]' x"}
			}
			equalLists(t, "begun", got, want)
		})
	}
}
