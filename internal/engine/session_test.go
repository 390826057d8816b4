package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// kept is an agent's runner that keeps its state.
func kept(t *testing.T, traits agent.Info) *engine.Runner {
	r := agentRunner(traits)
	r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
	return r
}

// in is an attempt that has named its session, takes a minute, and ends so.
func in(session string, class verdict.Class) enginetest.Attempt {
	return steps(0, enginetest.Line(enginetest.Event{Session: session}), enginetest.Wait(time.Minute), enginetest.Line(enginetest.Event{Class: class}))
}

// How a session stands is on record, while it runs and when it ends.
func TestSession_OnRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		class  verdict.Class
		cancel error
		want   string
	}{
		"done":        {class: verdict.OK, want: state.SessionDone},
		"failed":      {class: verdict.Auth, want: state.SessionFailed},
		"interrupted": {class: verdict.OK, cancel: sigterm, want: state.SessionInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := kept(t, agent.Info{Home: "home"})
				script(r, in(oneSession, tt.class))
				c := claude
				c.Dir = t.TempDir()
				begin := time.Now()
				inv := start(t, r, c)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				equal(t, "while it runs", r.State.Session("claude", oneSession).Status, state.SessionRunning)
				runs, _ := r.State.Records().List()
				if len(runs) != 1 || runs[0].Session != oneSession || runs[0].Home != filepath.Join(c.Dir, "home") || !runs[0].Since.Equal(begin) {
					t.Errorf("on record: %+v", runs)
				}
				if holders := r.Scopes.Holders("claude session " + oneSession); len(holders) != 1 || holders[0] != inv.ID() {
					t.Errorf("written by %v", holders)
				}
				if tt.cancel != nil {
					inv.Cancel(tt.cancel)
				}
				res, _ := inv.Wait()
				session := r.State.Session("claude", oneSession)
				if session.Status != tt.want || session.Dir != c.Dir || res.Session != oneSession || len(r.Scopes.Holders("claude session "+oneSession)) != 0 {
					t.Errorf("on record: %+v", session)
				}
			})
		})
	}
}

// A session that a retry has left is abandoned: it is not the last one.
func TestSession_LeftByARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		script(r, in(oneSession, verdict.Overloaded), in(otherSession, verdict.OK))
		c := claude
		c.Dir = t.TempDir()
		if res, err := r.Run(t.Context(), c); err != nil || res.Session != otherSession {
			t.Error(err)
		}
		equal(t, "the first", r.State.Session("claude", oneSession).Status, state.SessionAbandoned)
		equal(t, "the second", r.State.Session("claude", otherSession).Status, state.SessionDone)
		if last, ok := r.State.LastSession("claude", c.Dir); !ok || last.ID != otherSession {
			t.Errorf("%+v", last)
		}
	})
}

// The last session of a directory can be gone on with by name.
func TestSession_Last(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		c := claude
		c.Dir = t.TempDir()
		script(r, in(oneSession, verdict.OK))
		r.Run(t.Context(), c)
		r.Resume.Session = belaytype.LastSession
		turns := converse(r, agent.Info{}, step{verdict.OK, agent.Account{Session: oneSession}})
		res, err := r.Run(t.Context(), c)
		if err != nil || !res.Resumed || res.Session != oneSession {
			t.Errorf("%+v, %v", res, err)
		}
		equalLists(t, "turns", shown(*turns), []string{"resume 0"})

		c.Dir = t.TempDir() // sessions belong to a directory
		if res, err := r.Run(t.Context(), c); err == nil || res.Verdict.Class != verdict.SessionNotFound {
			t.Errorf("%+v, %v", res.Verdict, err)
		}
		r.Resume.OrNew = true
		turns = converse(r, agent.Info{}, step{verdict.OK, agent.Account{Session: otherSession}})
		if res, err := r.Run(t.Context(), c); err != nil || res.Resumed {
			t.Error(err)
		}
		equalLists(t, "turns", shown(*turns), []string{"fresh"})

		r.Resume.OrNew, r.State = false, nil // nothing is on record anywhere
		if _, err := r.Run(t.Context(), c); err == nil {
			t.Error("a session was found without a record")
		}
	})
}

// A session never has two writers.
func TestSession_Busy(t *testing.T) {
	for name, resume := range map[string]func(*engine.Runner, *agent.Info){
		"that the caller names":       func(r *engine.Runner, _ *agent.Info) { r.Resume.Session = oneSession },
		"that the command line names": func(_ *engine.Runner, traits *agent.Info) { traits.Resumes = oneSession },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := kept(t, agent.Info{})
				script(r, in(oneSession, verdict.OK))
				first := start(t, r, claude)
				time.Sleep(time.Second)
				second, traits := *r, agent.Info{}
				resume(&second, &traits)
				second.Profile = &enginetest.Agent{Facts: traits}
				second.OnBusy = engine.BusyFail
				res, err := second.Run(t.Context(), claude)
				if err == nil || res.Verdict.Class != verdict.SessionBusy || res.ExitCode != engine.CodeTryLater || res.Attempts != 0 {
					t.Errorf("exit code %d, %v", res.ExitCode, err)
				}
				second.OnBusy = engine.BusyWait
				res, err = second.Run(t.Context(), claude)
				if err != nil || res.Waited < 59*time.Second || res.Waited > 61*time.Second {
					t.Errorf("waited %v: %v", res.Waited, err)
				}
				first.Wait()
			})
		})
	}
}

// An attempt that is not made leaves the session as it stands after the one before.
func TestSession_OfAnAttemptThatDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		script(r, steps(1, enginetest.Line(enginetest.Event{Class: verdict.Overloaded, Account: enginetest.Account(agent.Account{Session: oneSession, Active: true})})))
		r.Policy.BaseDelay, r.Policy.Jitter = time.Minute, retry.NoJitter
		inv := start(t, r, claude)
		time.Sleep(10 * time.Second)
		inv.Cancel(sigterm)
		inv.Wait()
		log := entries(t, r)
		if len(log) != 2 || log[1].Attempt != 0 || log[1].Session != oneSession || log[1].Usage != nil {
			t.Errorf("on record: %+v", log)
		}
	})
}

// What cannot be put on record is said once, and stops nothing.
func TestSession_Trouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		if _, err := state.Open(r.State.Dir); err != nil {
			t.Fatal(err)
		}
		must.OK(t, os.WriteFile(filepath.Join(r.State.Dir, "sessions"), nil, 0o600))
		w := observe(r)
		script(r, in(oneSession, verdict.Overloaded), in(otherSession, verdict.OK))
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Error(err)
		}
		if trouble := all[belaytype.StateTrouble](w); len(trouble) != 1 || trouble[0].Err == nil || trouble[0].Without != nil {
			t.Errorf("told %+v", trouble)
		}
	})
}

// The options that were not understood, and sessions that are gone, are told of.
func TestSession_GoneIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		r.Resume = belaytype.Resume{Session: oneSession, OrNew: true, Prompt: "Go on."}
		w := observe(r)
		turns := converse(r, agent.Info{}, step{verdict.InvalidRequest, agent.Account{Misunderstood: true}}, step{verdict.SessionNotFound, agent.Account{}},
			step{verdict.Overloaded, agent.Account{Session: otherSession, Active: true}}, step{verdict.OK, agent.Account{Session: otherSession}})
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Error(err)
		}
		equalLists(t, "turns", shown(*turns), []string{"resume 0", "resume 0 plain", "fresh plain", "continue 1 plain"})
		if prompt := (*turns)[3].Prompt; prompt == nil || *prompt != "Go on." {
			t.Errorf("it is told %v", prompt)
		}
		if gone := all[belaytype.SessionGone](w); len(gone) != 1 || gone[0].ID != oneSession || len(all[belaytype.Plain](w)) != 1 {
			t.Errorf("told %+v", gone)
		}
	})
}

// A command line that the profile does not know is told of, before anything is started.
func TestSession_UnknownOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{Unknown: "--frobnicate"})
		w := observe(r)
		script(r, steps(0))
		r.Run(t.Context(), claude)
		if unknown := all[belaytype.UnknownOption](w); len(unknown) != 1 || unknown[0].Option != "--frobnicate" {
			t.Errorf("told %+v", unknown)
		}
	})
}

// A session that an agent names only at its end is on record all the same.
func TestSession_NamedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		// The account is looked at twice a second: what the last line says is seen at the end.
		script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession}), enginetest.Line(enginetest.Event{Class: verdict.OK, Account: enginetest.Account(agent.Account{Session: otherSession})})))
		if res, err := r.Run(t.Context(), claude); err != nil || res.Session != otherSession {
			t.Errorf("%q, %v", res.Session, err)
		}
		equal(t, "on record", r.State.Session("claude", otherSession).Status, state.SessionDone)
	})
}

// A turn that goes on knows how often the CLI may try again by itself.
func TestSession_RetriesInsideTheCLI(t *testing.T) {
	for policy, want := range map[int]int{retry.None: 0, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			r := kept(t, agent.Info{})
			r.Policy = retry.Policy{MaxRetries: policy, CountThrottles: true}
			turns := converse(r, agent.Info{}, step{verdict.OK, agent.Account{}})
			r.Run(t.Context(), claude)
			if n := (*turns)[0].MaxRetries; n == nil || *n != want {
				t.Errorf("%v, want %d", n, want)
			}
		})
	}
}
