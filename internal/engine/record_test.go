package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

func TestRecord_Line(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{Provider: "anthropic", Gate: "claude:host", Prompt: "from the line, "})
		c := claude
		c.Stdin = strings.NewReader("from stdin, ")
		beside := "and beside it"
		c.Prompt = &beside
		c.Env = []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
		script(r, enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(2 * time.Second), enginetest.Line(enginetest.Event{Class: verdict.ServerError, Text: "upstream",
			Account: enginetest.Account(agent.Account{Session: oneSession, Status: 502, Model: "opus", Requests: 2})})}, Signal: syscall.SIGABRT},
			steps(0, enginetest.Line(enginetest.Event{Class: verdict.OK})))
		res, err := r.Run(t.Context(), c)
		if err != nil || res.Log != r.State.LogPath() {
			t.Fatalf("log %q, %v", res.Log, err)
		}
		log := entries(t, r)
		sum := sha256.Sum256([]byte("from the line, from stdin, and beside it"))
		e := log[0]
		if e.PromptHash != hex.EncodeToString(sum[:]) || log[1].PromptHash != e.PromptHash {
			t.Errorf("prompt hash %s", e.PromptHash)
		}
		if e.Provider != "anthropic" || e.HTTPStatus != 502 || e.Gate != "claude:host" || e.Signal != "SIGABRT" || e.Session != oneSession || e.Model != "opus" || e.Requests != 2 {
			t.Errorf("%+v", e)
		}
		if e.Status != journal.Retry || e.ErrorType != verdict.ServerError || e.Retryable != nil || e.BelayCode != nil || e.Invocation != res.ID || e.Profile != "claude" || e.Command != "claude" {
			t.Errorf("%+v", e)
		}
		equal(t, "trace", e.Traceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		if last := log[1]; last.Status != journal.Success || last.Provider != "" || last.HTTPStatus != 0 || *last.BelayCode != 0 || last.Attempt != 2 {
			t.Errorf("%+v", last)
		}
	})
}

// Result and error say whose service it was, which model, and what the service answered; a success has no status, and a refusal no model.
func TestResult_Service(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := enginetest.Account(agent.Account{Session: oneSession, Status: 429, Model: "opus"})
		for _, tt := range []struct {
			event enginetest.Event
			want  string
		}{
			{enginetest.Event{Class: verdict.RateLimit, Text: "slow down", Account: account}, `"provider":"anthropic","model":"opus","http_status":429}`},
			{enginetest.Event{Class: verdict.Network, Text: "reset", Account: account}, `"provider":"anthropic","model":"opus","http_status":null}`},
			{enginetest.Event{Class: verdict.OK, Account: account}, `"provider":"anthropic","model":"opus","http_status":null}`},
		} {
			r := kept(t, agent.Info{Provider: "anthropic"})
			r.Policy = retry.Policy{MaxRetries: retry.None, CountThrottles: true}
			script(r, steps(1, enginetest.Line(tt.event)))
			res, err := r.Run(t.Context(), claude)
			var b strings.Builder
			if werr := res.WriteJSON(&b); werr != nil || !strings.HasSuffix(b.String(), tt.want+"\n") {
				t.Errorf("%s: %v, %s", tt.event.Class, werr, b.String())
			}
			if e, ok := errors.AsType[*belaytype.Error](err); ok && !reflect.DeepEqual(e.Verdict, res.Verdict) || ok != (tt.event.Class != verdict.OK) {
				t.Errorf("%s: %+v, %+v", tt.event.Class, e, res.Verdict)
			}
		}
		r := runner(t, retry.Policy{})
		play(r, 1, verdict.Verdict{Class: verdict.ServerError, Evidence: "HTTP 503"})
		if res, _ := r.Run(t.Context(), tool); res.Verdict.Provider != "" || res.Verdict.Model != "" || res.Verdict.HTTPStatus != 503 {
			t.Errorf("%+v", res.Verdict)
		}
	})
}

// Where the class does not say so, the line says whether it was worth repeating; and it has no status that no service gave.
func TestRecord_Fault(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict   verdict.Verdict
		retryable string
		status    int
	}{
		"as its class says":                {of(verdict.Network), "null", 0},
		"worth it, though its class isn't": {verdict.Verdict{Class: verdict.Unknown, Retryable: true}, "true", 0},
		"not worth it, though its class":   {verdict.Verdict{Class: verdict.ServerError}, "false", 0},
		"a status in its evidence":         {verdict.Verdict{Class: verdict.NotFound, Evidence: "HTTP 404: Not Found"}, "null", 404},
		"a status in its rule":             {verdict.Verdict{Class: verdict.Overloaded, Retryable: true, Rule: "status 529"}, "null", 529},
		"a number that is no status":       {verdict.Verdict{Class: verdict.Unknown, Evidence: "HTTP 404"}, "null", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{})
				play(r, 0, tt.verdict)
				r.Run(t.Context(), tool)
				e := entries(t, r)[0]
				data, _ := json.Marshal(e.Retryable)
				equal(t, "retryable", string(data), tt.retryable)
				equal(t, "status", e.HTTPStatus, tt.status)
			})
		})
	}
}

// The log that scripts around an agent expect.
func TestRecord_OwnLog(t *testing.T) {
	traits := agent.Info{OwnLog: "claude.jsonl"}
	run := func(t *testing.T, r *engine.Runner, dir string) []belaytype.OwnLogTrouble {
		t.Helper()
		w := observe(r)
		script(r, steps(0, enginetest.Line(enginetest.Event{Class: verdict.Overloaded})), steps(0))
		c := claude
		c.Dir = dir
		if _, err := r.Run(t.Context(), c); err != nil {
			t.Error(err)
		}
		return all[belaytype.OwnLogTrouble](w)
	}
	lines := func(path string) int {
		data, _ := os.ReadFile(path)
		return strings.Count(string(data), "\n")
	}
	t.Run("Unasked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, dir := kept(t, traits), t.TempDir()
			r.LogDir = ""
			if trouble := run(t, r, dir); len(trouble) != 0 || lines(filepath.Join(dir, ".logs", "claude.jsonl")) != 2 {
				t.Errorf("%+v", trouble)
			}
			ignore, _ := os.ReadFile(filepath.Join(dir, ".logs", ".gitignore"))
			equal(t, "ignored", string(ignore), "*\n")
		})
	})
	t.Run("Asked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(traits) // that needs no state
			r.LogDir = filepath.Join(t.TempDir(), "a", "b")
			if trouble := run(t, r, t.TempDir()); len(trouble) != 0 || lines(filepath.Join(r.LogDir, "claude.jsonl")) != 2 {
				t.Errorf("%+v", trouble)
			}
			if _, err := os.Stat(filepath.Join(r.LogDir, ".gitignore")); err == nil {
				t.Error("a directory that was asked for is hidden")
			}
		})
	})
	t.Run("None", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, r := range []*engine.Runner{kept(t, traits), agentRunner(traits)} { // kept has NoLogDir, the other no state
				dir := t.TempDir()
				run(t, r, dir)
				if left, _ := os.ReadDir(dir); len(left) != 0 {
					t.Errorf("left: %v", left)
				}
			}
		})
	})
	t.Run("LinkIsRefused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, dir, elsewhere := kept(t, traits), t.TempDir(), t.TempDir()
			r.LogDir = ""
			must.OK(t, os.Symlink(elsewhere, filepath.Join(dir, ".logs")))
			trouble := run(t, r, dir)
			if len(trouble) != 1 || trouble[0].Asked || trouble[0].Dir != filepath.Join(dir, ".logs") {
				t.Errorf("told %+v", trouble)
			}
			if left, _ := os.ReadDir(elsewhere); len(left) != 0 {
				t.Errorf("written elsewhere: %v", left)
			}
		})
	})
	t.Run("CannotBeWritten", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			must.OK(t, os.WriteFile(file, nil, 0o600))
			for _, dir := range []string{file, filepath.Join(file, "sub")} {
				r := kept(t, traits)
				r.LogDir = dir
				if trouble := run(t, r, t.TempDir()); len(trouble) != 1 || !trouble[0].Asked {
					t.Errorf("told %+v", trouble)
				}
			}
		})
	})
}

// A log that grows past 100 MiB is told of.
func TestRecord_LargeLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{OwnLog: "claude.jsonl"})
		r.LogDir = t.TempDir()
		if _, err := state.Open(r.State.Dir); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{r.State.LogPath(), filepath.Join(r.LogDir, "claude.jsonl")} {
			must.OK(t, os.WriteFile(path, nil, 0o600))
			must.OK(t, os.Truncate(path, 100<<20-10))
		}
		w := observe(r)
		script(r, steps(0))
		r.Run(t.Context(), claude)
		equalLists(t, "told", all[belaytype.LogLarge](w), []belaytype.LogLarge{{Path: filepath.Join(r.LogDir, "claude.jsonl"), Own: true}, {Path: r.State.LogPath()}})
	})
}

// An integration that fails again and again raises an alert, once.
func TestRecord_Alert(t *testing.T) {
	for name, tt := range map[string]struct {
		policy  retry.Policy
		class   verdict.Class
		failure int // how many raise one; 0 means the default
		alerts  int
	}{
		"five within ten minutes":                     {policy: retry.Policy{MaxRetries: 1, BaseDelay: time.Second}, class: verdict.Network, alerts: 1},
		"fewer, if the caller says so":                {policy: retry.Policy{MaxRetries: 1}, class: verdict.Network, failure: 2, alerts: 1},
		"none, if the caller says so":                 {policy: retry.Policy{MaxRetries: 1}, class: verdict.Network, failure: -1},
		"a command that may well fail":                {class: verdict.Network},
		"interruptions are no failure of the service": {policy: retry.Policy{MaxRetries: 1}, class: verdict.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, tt.policy)
				r.Alert.Failures = tt.failure
				w := observe(r)
				play(r, 0, of(tt.class))
				for range 8 {
					r.Run(t.Context(), tool)
				}
				alerts := all[belaytype.AlertRaised](w)
				if len(alerts) != tt.alerts || tt.alerts > 0 && (alerts[0].Integration != "tool" || alerts[0].Within != 10*time.Minute || alerts[0].Last == "") {
					t.Errorf("told %+v", alerts)
				}
				onRecord := 0
				for _, e := range entries(t, r) {
					if e.Kind == journal.Alert && e.Event == "raised" && e.Profile == "tool" && strings.Contains(string(e.Detail), `"within_s":600`) {
						onRecord++
					}
				}
				equal(t, "on record", onRecord, tt.alerts)
			})
		})
	}
}

// Trouble with any part of the state is said once and stops nothing.
func TestRecord_Trouble(t *testing.T) {
	for name, spoil := range map[string]string{"the log": "log.jsonl/sub", "the alerts": "alerts", "the runs": "runs"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{MaxRetries: 1})
				r.Alert.Failures = 1
				path := filepath.Join(r.State.Dir, spoil)
				must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must.OK(t, os.WriteFile(path, nil, 0o600))
				w := observe(r)
				s := play(r, 0, of(verdict.Network))
				r.Run(t.Context(), tool)
				if trouble := all[belaytype.StateTrouble](w); len(s.Starts()) != 2 || len(trouble) != 1 {
					t.Errorf("%d starts, told %+v", len(s.Starts()), trouble)
				}
			})
		})
	}
	t.Run("the record of a run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{MaxRetries: 1})
			w := observe(r)
			script(r, steps(1, enginetest.Do(func() { os.RemoveAll(r.State.Records().Dir) })), steps(0))
			if _, err := r.Run(t.Context(), tool); err != nil {
				t.Error(err)
			}
			if trouble := all[belaytype.StateTrouble](w); len(trouble) != 1 {
				t.Errorf("told %+v", trouble)
			}
		})
	})
}

// Others can see what an agent is doing and what it has used, at most once a second.
func TestRecord_Progress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := kept(t, agent.Info{})
		used := func(tokens int64, cost float64) json.RawMessage {
			return enginetest.Account(agent.Account{Session: oneSession, Usage: verdict.Usage{InputTokens: tokens, CostUSD: &cost}})
		}
		var seen []supervise.Record
		look := enginetest.Do(func() {
			runs, err := r.State.Records().List()
			if err != nil || len(runs) != 1 {
				t.Errorf("%v, %v", runs, err)
				return
			}
			seen = append(seen, runs[0])
		})
		pause := func(ms int) enginetest.Step { return enginetest.Wait(time.Duration(ms) * time.Millisecond) }
		script(r, steps(0,
			enginetest.Line(enginetest.Event{Account: used(10, 0.1)}), look, // at once
			pause(600), enginetest.Line(enginetest.Event{Account: used(20, 0.2)}), look, // not yet
			pause(100), enginetest.Line(enginetest.Event{Tools: 1, Use: enginetest.Use{Tool: "Bash"}}), look, // nor this
			pause(400), look, // both
			pause(1000), enginetest.Line(enginetest.Event{Retry: verdict.Overloaded, Wait: time.Second}), look,
			pause(1000), enginetest.Line(enginetest.Event{Tools: 1, Account: enginetest.Account(agent.Account{})}), look,
			pause(1000), enginetest.Line(enginetest.Event{Talk: enginetest.Talk{Waiting: true}}), look,
			pause(1000), enginetest.Line(enginetest.Event{Done: true, Account: used(30, 0.3)}), look,
			enginetest.Line(enginetest.Event{Answered: true, Account: used(40, 0.4)}), // ends before it is written
		))
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range seen {
			got = append(got, rec.Activity)
		}
		equalLists(t, "activity", got, []string{"model", "model", "model", "tool Bash", "retrying", "tool", "waiting for its caller", "done"})
		if seen[0].Tokens != 10 || *seen[0].CostUSD != 0.1 || seen[1].Tokens != 10 || seen[3].Tokens != 20 || *seen[3].CostUSD != 0.2 || seen[7].Tokens != 30 {
			t.Errorf("%+v", seen)
		}
		if runs, err := r.State.Records().List(); err != nil || len(runs) != 0 {
			t.Errorf("left: %v, %v", runs, err)
		}
	})
}

// The run that this one was started in is on record too.
func TestRecord_Parent(t *testing.T) {
	t.Setenv("BELAY_RUN_ID", "01a1dfb1-a18b-78b2-9007-78e02857aef0")
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		script(r, steps(0))
		r.Run(t.Context(), tool)
		equal(t, "parent", entries(t, r)[0].Parent, "01a1dfb1-a18b-78b2-9007-78e02857aef0")
	})
}

// What an agent at work for a person has used is not known; of anything else it is nothing.
func TestRecord_Cost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, known := range map[string]bool{"claude": false, "tool": true} {
			r := runner(t, retry.Policy{})
			script(r, steps(0))
			res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{name}})
			if (res.Usage.CostUSD != nil) != known || known && *res.Usage.CostUSD != 0 {
				t.Errorf("%s: %+v", name, res.Usage)
			}
		}
	})
}

// A zero runner works and writes nothing.
func TestRecord_ZeroRunnerWritesNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("BELAY_STATE_DIR", "")
	dir := t.TempDir()
	for _, c := range []belaytype.Command{{Args: []string{"true"}, Dir: dir}, {Args: []string{"false"}, Dir: dir}} {
		var r engine.Runner
		if res, _ := r.Run(t.Context(), c); res.Attempts != 1 || res.Log != "" {
			t.Errorf("%+v", res)
		}
	}
	for _, dir := range []string{home, dir} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}
