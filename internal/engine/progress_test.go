package engine_test

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

func progressRunner() *engine.Runner {
	r := agentRunner(agent.Info{Form: agent.Text})
	r.Progress.Wanted = true
	return r
}

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

// Progress is shown as it comes, of every attempt, with what the CLI itself has written before it. That an attempt has failed is
// shown only if it is final.
func TestProgress(t *testing.T) {
	begun, works := enginetest.Event{Session: oneSession, Progress: "begun\n"}, enginetest.Event{Progress: "works\n"}
	failed := enginetest.Event{Show: agent.Hold, Class: verdict.Overloaded, Text: "overloaded", Progress: "ERROR: overloaded\n"}
	done := enginetest.Event{Text: "It is done.", Done: true, Class: verdict.OK, Progress: "done\n"}
	once := []enginetest.Step{enginetest.Complain("reading\n"), enginetest.Line(begun), enginetest.Complain("log\n"), enginetest.Line(works)}
	for name, tt := range map[string]struct {
		retries  int
		attempts [][]enginetest.Step
		want     string
		silent   bool
	}{
		"one attempt":           {3, [][]enginetest.Step{append(once[:4:4], enginetest.Line(done))}, "reading\nbegun\nlog\nworks\ndone\n", false},
		"two":                   {3, [][]enginetest.Step{append(once[:4:4], enginetest.Line(failed)), {enginetest.Line(done)}}, "reading\nbegun\nlog\nworks\ndone\n", false},
		"a failure that counts": {retry.None, [][]enginetest.Step{append(once[:4:4], enginetest.Line(failed))}, "reading\nbegun\nlog\nworks\nERROR: overloaded\n", false},
		"none before a failure": {3, [][]enginetest.Step{{enginetest.Complain("reading\n"), enginetest.Line(enginetest.Event{Show: agent.Hold, Class: verdict.Overloaded})}, {enginetest.Line(done)}}, "done\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := progressRunner()
				r.Policy.MaxRetries = tt.retries
				var attempts []enginetest.Attempt
				for i, list := range tt.attempts {
					code := 0
					if i < len(tt.attempts)-1 {
						code = 1
					}
					attempts = append(attempts, steps(code, list...))
				}
				script(r, attempts...)
				var out, errs bytes.Buffer
				c := claude
				c.Stdout, c.Stderr = &out, &errs
				res, _ := r.Run(t.Context(), c)
				equal(t, "stderr", errs.String(), tt.want)
				equal(t, "silent", res.Silent, tt.silent)
			})
		})
	}
}

// Progress is seen while the agent works, and a reader of it that leaves does not end the run.
func TestProgress_Live(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := progressRunner()
		var errs lockedBuffer
		seen := ""
		script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession, Progress: "begun\n"}), enginetest.Wait(time.Minute),
			enginetest.Do(func() { seen = errs.String() }), enginetest.Line(enginetest.Event{Text: "It is done.", Done: true, Class: verdict.OK})))
		c := claude
		c.Stderr = &errs
		if _, err := r.Run(t.Context(), c); err != nil || seen != "begun\n" {
			t.Errorf("%q, %v", seen, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := progressRunner()
		script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession, Progress: "begun\n"}), enginetest.Complain("log\n"),
			enginetest.Line(enginetest.Event{Text: "It is done.", Done: true, Class: verdict.OK, Progress: "done\n"})))
		var out bytes.Buffer
		c := engine.Command{Args: claude.Args, Stdout: &out, Stderr: &closedWriter{}}
		if res, err := r.Run(t.Context(), c); err != nil || out.String() != "It is done.\n" {
			t.Errorf("%q, %+v, %v", &out, res, err)
		}
	})
}

// What takes long to be told holds up nothing: a hopeless retry is ended at once.
func TestProgress_HoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := progressRunner()
		slow := enginetest.Event{Session: oneSession, Progress: "begun\n", Slow: time.Hour}
		script(r, steps(1, enginetest.Line(slow), enginetest.Line(enginetest.Event{Retry: verdict.Auth, Hopeless: true, Progress: "ERROR: again\n"}), enginetest.Hang()))
		var errs bytes.Buffer
		c := claude
		c.Stderr = &errs
		begun := time.Now()
		res, _ := r.Run(t.Context(), c)
		if took := time.Since(begun); res.Verdict.Class != verdict.Auth || took > time.Minute {
			t.Errorf("%v after %v", res.Verdict.Class, took)
		}
		equal(t, "stderr", errs.String(), "begun\nERROR: again\n")
	})
}
