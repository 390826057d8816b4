package engine_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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
)

func preview(t *testing.T, r *engine.Runner, c belaytype.Command) belaytype.Preview {
	t.Helper()
	inv, err := r.Prepare(t.Context(), c)
	must.OK(t, err)
	p, err := inv.Preview()
	must.OK(t, err)
	return p
}

// What would be done, for each kind of command. Nothing is started or written.
func TestPreview_Kinds(t *testing.T) {
	home := t.TempDir()
	t.Setenv("BELAY_STATE_DIR", filepath.Join(home, "state"))
	t.Run("Plain", func(t *testing.T) {
		r := &engine.Runner{Policy: retry.Policy{Timeout: time.Hour}, State: &state.State{}, Admission: engine.Admission{Gate: belaytype.Gate{Key: "api"}}, Limits: engine.Limits{Stall: time.Minute}}
		p := preview(t, r, tool)
		if len(p.Args) != 1 || p.Gate != "api" || p.Policy.MaxRetries != retry.None || p.Deadline != time.Hour || p.Stall != time.Minute || p.Session != "" || p.Env != nil {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Caller", func(t *testing.T) {
		r := &engine.Runner{Profile: &enginetest.Caller{Facts: agent.CallerInfo{Gate: "github:host", Deadline: 20 * time.Second}}}
		p := preview(t, r, gh)
		if p.Gate != "github:host" || p.Deadline != 20*time.Second || p.Policy.MaxRetries != 3 || len(p.Env) != 1 {
			t.Errorf("%+v", p)
		}
		r.Policy.MaxRetries = retry.None
		if p := preview(t, r, gh); p.Env != nil {
			t.Errorf("%+v", p)
		}
		r.Profile.(*enginetest.Caller).Person = true // at a terminal it is a plain command
		if p := preview(t, r, gh); p.Gate != "" || p.Deadline != 0 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Turn", func(t *testing.T) {
		r := kept(t, agent.Info{Gate: "claude:host", Stall: time.Minute, ToolStall: time.Hour, Unknown: "--odd"})
		dir := t.TempDir()
		r.Resume.Session = belaytype.LastSession
		c := claude
		c.Dir = dir
		p := preview(t, r, c)
		if p.Gate != "claude:host" || p.Stall != time.Minute || p.ToolStall != time.Hour || p.Unknown != "--odd" || p.Session != "" || p.Policy.MaxRetries != 4 {
			t.Errorf("%+v", p)
		}
		must.OK(t, r.State.SaveSession(state.Session{Profile: "claude", ID: oneSession, Dir: dir, Updated: time.Now()}))
		if p := preview(t, r, c); p.Session != oneSession {
			t.Errorf("%+v", p)
		}
	})
	t.Run("Conversation", func(t *testing.T) {
		r := agentRunner(agent.Info{Once: true})
		r.Policy.MaxRetries = 5
		if p := preview(t, r, claude); p.Policy.MaxRetries != retry.None {
			t.Errorf("%+v", p)
		}
	})
	if left, _ := os.ReadDir(home); len(left) != 0 {
		t.Errorf("written: %v", left)
	}
}

// The caller's policy stands field by field; what it does not say comes from the agent's preset.
func TestPreview_PolicyIsMergedWithThePreset(t *testing.T) {
	preset, _ := retry.Preset("claude")
	never := func() float64 { return 0 }
	delay := func(int, error) time.Duration { return 0 }
	for name, tt := range map[string]struct {
		policy retry.Policy
		want   func(p *retry.Policy)
	}{
		"nothing":        {retry.Policy{}, func(*retry.Policy) {}},
		"base delay":     {retry.Policy{BaseDelay: 7 * time.Second}, func(p *retry.Policy) { p.BaseDelay = 7 * time.Second }},
		"max delay":      {retry.Policy{MaxDelay: 7 * time.Second}, func(p *retry.Policy) { p.MaxDelay = 7 * time.Second }},
		"factor":         {retry.Policy{Factor: 3}, func(p *retry.Policy) { p.Factor = 3 }},
		"jitter":         {retry.Policy{Jitter: retry.NoJitter}, func(p *retry.Policy) { p.Jitter = retry.NoJitter }},
		"retry timeouts": {retry.Policy{RetryTimeouts: 2}, func(p *retry.Policy) { p.RetryTimeouts = 2 }},
		"times":          {retry.Policy{MaxWait: time.Hour, Timeout: time.Minute, TotalTimeout: 2 * time.Hour}, func(p *retry.Policy) { p.MaxWait, p.Timeout, p.TotalTimeout = time.Hour, time.Minute, 2*time.Hour }},
		"a number":       {retry.Policy{MaxRetries: 1}, func(p *retry.Policy) { *p = retry.Policy{MaxRetries: 1} }},
		"no retries":     {retry.Policy{CountThrottles: true}, func(p *retry.Policy) { *p = retry.Policy{CountThrottles: true, MaxRetries: retry.None} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := agentRunner(agent.Info{})
			r.Policy = tt.policy
			want := preset
			tt.want(&want)
			got := preview(t, r, claude).Policy
			got.Delay, got.Rand, want.Delay, want.Rand = nil, nil, nil, nil
			if got.MaxRetries != want.MaxRetries || got.CountThrottles != want.CountThrottles || got.BaseDelay != want.BaseDelay || got.MaxDelay != want.MaxDelay || got.Factor != want.Factor ||
				got.Jitter != want.Jitter || got.RetryTimeouts != want.RetryTimeouts || got.MaxWait != want.MaxWait || got.Timeout != want.Timeout || got.TotalTimeout != want.TotalTimeout {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	r := agentRunner(agent.Info{})
	r.Policy = retry.Policy{Delay: delay, Rand: never}
	if p := preview(t, r, claude).Policy; p.Delay == nil || p.Rand == nil {
		t.Error("the caller's functions are gone")
	}
}

// What cannot be run as it was asked for is found before anything is started.
func TestPrepare_WrongUse(t *testing.T) {
	for name, tt := range map[string]struct {
		runner  engine.Runner
		command belaytype.Command
		text    string
	}{
		"a policy that makes no sense":    {engine.Runner{Policy: retry.Policy{MaxRetries: -2}}, tool, "max retries -2 is negative"},
		"a directory that cannot be read": {engine.Runner{}, belaytype.Command{Args: []string{"tool"}, Dir: "a\x00b"}, "cannot be used"},
		"an argument too long, in the caller's words": {engine.Runner{Words: func(cause error) string {
			if long, ok := errors.AsType[*belaytype.TooLong](cause); ok && !long.All && long.Unwrap() != nil {
				return "too long; use --prompt-file"
			}
			return ""
		}}, belaytype.Command{Args: []string{"tool", strings.Repeat("x", 200_000)}}, "too long; use --prompt-file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := script(&tt.runner, steps(0))
			res, err := tt.runner.Run(t.Context(), tt.command)
			wrong, ok := errors.AsType[*belaytype.UsageError](err)
			if !ok || wrong.Unwrap() == nil || res.ExitCode != engine.CodeUsage || len(s.Starts()) != 0 {
				t.Errorf("exit code %d, %v", res.ExitCode, err)
			}
			contains(t, res.Error, tt.text)
		})
	}
	if _, err := new(engine.Runner).Start(t.Context(), belaytype.Command{}); err == nil {
		t.Error("nothing was started")
	}
}

// What the causes say by themselves names no flag of any command.
func TestCause_Texts(t *testing.T) {
	for cause, want := range map[error]string{
		&engine.TooLate{NoWait: true}:            "not waiting",
		&belaytype.InputRead{Command: "tool"}:    "stdin has been read, so tool cannot be repeated",
		&belaytype.NoSession{Profile: "claude"}:  "no session of claude is on record for this directory",
		&belaytype.RetriesSpent{Key: "api"}:      "the local retry budget of gate api is used up",
		&belaytype.Replaced{By: "7"}:             "replaced by run 7",
		&belaytype.ScopeTaken{Key: "deploy"}:     "scope deploy is taken by another run; retry later",
		&belaytype.StdinTimeout{Command: "tool"}: "stdin did not end within the timeout (0 s), so tool was not started",
	} {
		equal(t, "text", cause.Error(), want)
	}
}

// Why nothing was started can be taken out of the error, with what there is to know about it.
func TestCause_OfWhatWasNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Gate: "api", MaxInput: 3})
		r.Scope, r.OnBusy, r.NoWait = "deploy", engine.BusyFail, true
		s := script(r, steps(0))
		run := func(c belaytype.Command) error {
			t.Helper()
			res, err := r.Run(t.Context(), c)
			if err == nil || len(s.Starts()) != 0 || res.Attempts != 0 {
				t.Fatalf("%d attempts: %v", res.Attempts, err)
			}
			return err
		}
		slot, _ := r.Scopes.Take("deploy", 1, "another")
		err := run(claude)
		if taken, ok := errors.AsType[*belaytype.ScopeTaken](err); !ok || taken.Key != "deploy" || len(taken.Holders) != 1 || taken.Holders[0] != "another" || !errors.Is(err, retry.ErrMaxWait) {
			t.Errorf("scope: %v", err)
		}
		slot.Free()
		holdFor(t, r.Shared, "api", time.Minute, "maintenance")
		err = run(claude)
		if refused, ok := errors.AsType[*belaytype.GateRefused](err); !ok || refused.Key != "api" || refused.Refusal.Reason != "maintenance" || !errors.Is(err, retry.ErrMaxWait) {
			t.Errorf("gate: %v", err)
		}
		large := claude
		large.Stdin = strings.NewReader("four")
		if err := run(large); !errors.Is(err, retry.ErrPermanent) || errors.Is(err, retry.ErrMaxWait) {
			t.Errorf("stdin that is too large: %v, cause %v", err, errors.Unwrap(err))
		}
		reader, writer := io.Pipe()
		defer writer.Close()
		late := claude
		late.Stdin, r.Policy.Timeout = reader, time.Minute
		err = run(late)
		if timeout, ok := errors.AsType[*belaytype.StdinTimeout](err); !ok || timeout.Limit != time.Minute || !errors.Is(err, retry.ErrTimeout) {
			t.Errorf("stdin that is late: %v", err)
		}
		r.Resume.Session = belaytype.LastSession
		err = run(claude)
		if none, ok := errors.AsType[*belaytype.NoSession](err); !ok || none.Profile != "claude" || errors.Is(err, retry.ErrMaxWait) {
			t.Errorf("session: %v, cause %v", err, errors.Unwrap(err))
		}
	})
}
