package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

var (
	sigint  = &belaytype.Interrupt{Signal: int(syscall.SIGINT), Name: "SIGINT"}
	sigterm = &belaytype.Interrupt{Signal: int(syscall.SIGTERM), Name: "SIGTERM"}
)

func TestAttempt_CannotBeStarted(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		code  int
		class verdict.Class
		text  string
		rule  string // start if it is empty
	}{
		"too long":         {fmt.Errorf("exec tool: %w", syscall.E2BIG), engine.CodeUsage, verdict.TooLarge, "arguments and environment are too long for this system", ""},
		"not allowed":      {&fs.PathError{Op: "exec", Path: "/bin/tool", Err: syscall.EACCES}, engine.CodeNotExecutable, verdict.ToolMissing, "permission denied", ""},
		"no program":       {&fs.PathError{Op: "exec", Path: "/bin/tool", Err: syscall.ENOEXEC}, engine.CodeNotExecutable, verdict.ToolMissing, "exec format error", ""},
		"gone":             {fmt.Errorf("tool: %w", fs.ErrNotExist), engine.CodeNotFound, verdict.ToolMissing, "file does not exist", ""},
		"no interpreter":   {&fs.PathError{Op: "exec", Path: "/bin/tool", Err: syscall.ENOENT}, engine.CodeNotExecutable, verdict.ToolMissing, "/bin/tool cannot be executed: the interpreter in its first line does not exist", ""},
		"no more of these": {syscall.EAGAIN, engine.CodeFailed, verdict.Unknown, "resource temporarily unavailable", "resources"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{MaxRetries: 3})
				script(r, enginetest.Attempt{Err: tt.err})
				res, err := r.Run(t.Context(), tool)
				if err == nil || res.ExitCode != tt.code || res.Verdict.Class != tt.class || res.Attempts != 0 || res.Verdict.Sent != verdict.SentNo {
					t.Errorf("exit code %d, %+v, %v", res.ExitCode, res.Verdict, err)
				}
				contains(t, res.Error, tt.text)
				if log := entries(t, r); len(log) != 1 || log[0].Attempt != 0 || log[0].Rule != cmp.Or(tt.rule, "start") {
					t.Errorf("on record: %+v", log)
				}
			})
		})
	}
}

// What the system itself says of commands that cannot be started.
func TestAttempt_CannotBeStartedByTheSystem(t *testing.T) {
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "tool")
		must.OK(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	long := []string{"true"}
	for range 100 {
		long = append(long, strings.Repeat("x", 100_000))
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"not executable":  {[]string{file("#!/bin/sh\n", 0o600)}, engine.CodeNotExecutable, "is not executable"},
		"no such file":    {[]string{filepath.Join(t.TempDir(), "none")}, engine.CodeNotFound, "not found"},
		"not on the PATH": {[]string{"no-such-command-at-all"}, engine.CodeNotFound, "not found"},
		"no interpreter":  {[]string{file("#!/no/such/interpreter\n", 0o700)}, engine.CodeNotExecutable, "the interpreter in its first line does not exist"},
		"no program":      {[]string{file("\x7fELF nonsense", 0o700)}, engine.CodeNotExecutable, "exec format error"},
		"too long in all": {long, engine.CodeUsage, "this system takes at most"},
		"in a file":       {[]string{"/etc/passwd/tool"}, engine.CodeNotExecutable, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := runner(t, retry.Policy{}).Run(t.Context(), belaytype.Command{Args: tt.args})
			if err == nil || res.ExitCode != tt.code || res.Attempts != 0 {
				t.Errorf("exit code %d, %v", res.ExitCode, err)
			}
			contains(t, res.Error, tt.text)
		})
	}
}

func TestAttempt_Limits(t *testing.T) {
	hangs := steps(0, enginetest.Print("begun\n"), enginetest.Hang())
	for name, tt := range map[string]struct {
		runner  engine.Runner
		attempt enginetest.Attempt
		took    time.Duration // of the first attempt
		starts  int
		class   verdict.Class
		text    string
	}{
		"a deadline": {runner: engine.Runner{Policy: retry.Policy{Timeout: 10 * time.Second}}, attempt: hangs,
			took: 10 * time.Second, starts: 1, class: verdict.Timeout, text: "tool exceeded its timeout (10 s) and was terminated"},
		"a deadline that is repeated": {runner: engine.Runner{Policy: retry.Policy{Timeout: 10 * time.Second, MaxRetries: 5, RetryTimeouts: 2, Jitter: retry.NoJitter}},
			attempt: hangs, took: 10 * time.Second, starts: 3, class: verdict.Timeout, text: "Gave up after 3 attempts"},
		"a stall": {runner: engine.Runner{Limits: engine.Limits{Stall: 20 * time.Second}}, attempt: steps(0, enginetest.Wait(5*time.Second), enginetest.Print("begun\n"), enginetest.Hang()),
			took: 25 * time.Second, starts: 1, class: verdict.Stalled, text: "tool produced no output for 20 s and was terminated"},
		"a stall that is repeated once": {runner: engine.Runner{Policy: retry.Policy{MaxRetries: 5}, Limits: engine.Limits{Stall: 20 * time.Second}}, attempt: hangs,
			took: 20 * time.Second, starts: 2, class: verdict.Stalled, text: "Gave up after 2 attempts"},
		"a command that does not listen": {runner: engine.Runner{Policy: retry.Policy{Timeout: 10 * time.Second}}, attempt: enginetest.Attempt{Steps: []enginetest.Step{enginetest.Hang()}, Deaf: true},
			took: 15 * time.Second, starts: 1, class: verdict.Timeout, text: "exceeded its timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := tt.runner
				r.State = runner(t, retry.Policy{}).State
				s := script(&r, tt.attempt)
				res, _ := r.Run(t.Context(), tool)
				if res.ExitCode != engine.CodeTimeout || res.Verdict.Class != tt.class || len(s.Starts()) != tt.starts {
					t.Errorf("exit code %d, %s after %d starts", res.ExitCode, res.Verdict.Class, len(s.Starts()))
				}
				contains(t, res.Error, tt.text)
				if log := entries(t, &r); log[0].ResponseTime != tt.took.Seconds() || log[0].Signal != "SIGTERM" {
					t.Errorf("on record: %+v", log[0])
				}
			})
		})
	}
}

// An agent is told apart by its traits: it may be silent for longer while a tool runs, and may stay for a while after its
// result.
func TestAttempt_LimitsOfAnAgent(t *testing.T) {
	traits := agent.Info{Stall: time.Minute, ToolStall: 10 * time.Minute}
	for name, tt := range map[string]struct {
		stall   time.Duration
		events  []enginetest.Event
		took    time.Duration
		success bool
		text    string
	}{
		"silent":                          {events: []enginetest.Event{{Answered: true}}, took: time.Minute, text: "produced no output for 60 s"},
		"silent while a tool runs":        {events: []enginetest.Event{{Tools: 1, Use: enginetest.Use{Tool: "Bash"}}}, took: 10 * time.Minute, text: "produced no output for 600 s"},
		"silent as the caller will":       {stall: 5 * time.Second, events: []enginetest.Event{{Tools: 1, Use: enginetest.Use{Tool: "Bash"}}}, took: 5 * time.Second, text: "produced no output for 5 s"},
		"silent after its result":         {events: []enginetest.Event{{Text: "done", Done: true, Class: verdict.OK}}, took: 30 * time.Second, success: true},
		"silent when it works on":         {events: []enginetest.Event{{Text: "done", Done: true, Class: verdict.OK}, {Answered: true}}, took: time.Minute, text: "produced no output for 60 s"},
		"silent, and the tool has ended":  {events: []enginetest.Event{{Tools: 1, Use: enginetest.Use{Tool: "Bash"}}, {Answered: true}}, took: time.Minute, text: "produced no output for 60 s"},
		"silent, and nobody may mind it":  {stall: -1, events: []enginetest.Event{{Answered: true}}, took: time.Hour, success: true},
		"silent before we know of it":     {events: []enginetest.Event{{}}, took: time.Minute, text: "produced no output for 60 s"},
		"silent with a failed last word":  {events: []enginetest.Event{{Text: "no", Done: true, Class: verdict.Auth}}, took: 30 * time.Second, text: "claude"},
		"silent with a tool from the off": {events: []enginetest.Event{{Tools: 1}}, took: 10 * time.Minute, text: "produced no output for 600 s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(traits)
				r.Stall, r.Policy = tt.stall, retry.Policy{MaxRetries: retry.None}
				last := enginetest.Hang()
				if tt.took == time.Hour {
					last = enginetest.Wait(time.Hour)
				}
				var out bytes.Buffer
				c := claude
				c.Stdout = &out
				script(r, steps(0, append(enginetest.Lines(tt.events...), last)...))
				res, err := r.Run(t.Context(), c)
				if (err == nil) != tt.success || res.Duration != tt.took {
					t.Errorf("after %v: %v", res.Duration, err)
				}
				contains(t, res.Error, tt.text)
				if tt.success && tt.stall == 0 && (out.String() != "done\n" || res.ExitCode != 0 || res.ChildCode != 0) {
					t.Errorf("printed %q, exit code %d", &out, res.ExitCode)
				}
			})
		})
	}
}

// What an agent has printed before the engine knows of its process counts all the same.
func TestAttempt_EventsBeforeTheProcessIsKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		before enginetest.Event
		took   time.Duration
	}{
		"a tool":            {enginetest.Event{Tools: 1}, 10 * time.Minute},
		"the result":        {enginetest.Event{Text: "done", Done: true, Class: verdict.OK}, 30 * time.Second},
		"a hopeless retry":  {enginetest.Event{Retry: verdict.Auth, Hopeless: true}, 0},
		"nothing of weight": {enginetest.Event{Answered: true}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Stall: time.Minute, ToolStall: 10 * time.Minute})
				r.Policy = retry.Policy{MaxRetries: retry.None}
				script(r, enginetest.Attempt{Before: enginetest.Lines(tt.before), Steps: []enginetest.Step{enginetest.Hang()}})
				if res, err := r.Run(t.Context(), claude); res.Duration != tt.took {
					t.Errorf("after %v: %v", res.Duration, err)
				}
			})
		})
	}
}

func TestAttempt_Stopped(t *testing.T) {
	for name, tt := range map[string]struct {
		cancel error
		deaf   bool
		kill   bool
		took   time.Duration
		code   int
		reason string
	}{
		"by its caller":                        {cancel: context.Canceled, took: time.Minute, code: 143, reason: "cancelled"},
		"by a signal":                          {cancel: sigterm, took: time.Minute, code: 143, reason: "SIGTERM"},
		"by a signal that it does not hear":    {cancel: sigterm, deaf: true, took: 70 * time.Second, code: 143, reason: "SIGTERM"},
		"by Ctrl-C, which it does not hear":    {cancel: sigint, deaf: true, took: 70 * time.Second, code: 130, reason: "SIGINT"},
		"at once, though it would not hear it": {kill: true, deaf: true, took: time.Minute, code: 143, reason: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{MaxRetries: 3})
				w := observe(r)
				s := script(r, enginetest.Attempt{Steps: []enginetest.Step{enginetest.Hang()}, Deaf: tt.deaf})
				inv := start(t, r, tool)
				time.Sleep(time.Minute)
				if tt.kill {
					inv.Kill()
				} else {
					inv.Cancel(tt.cancel)
				}
				res, err := inv.Wait()
				if res.Duration != tt.took || res.ExitCode != tt.code || res.Verdict.Class != verdict.Interrupted || len(s.Starts()) != 1 || err == nil {
					t.Errorf("exit code %d, %s after %v: %v", res.ExitCode, res.Verdict.Class, res.Duration, err)
				}
				if stopping := all[belaytype.Stopping](w); len(stopping) != 1 || stopping[0].Reason != tt.reason {
					t.Errorf("told %+v", stopping)
				}
			})
		})
	}
}

func TestAttempt_StoppedByTheTotalTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{TotalTimeout: time.Minute})
		w := observe(r)
		script(r, steps(0, enginetest.Hang()))
		res, err := r.Run(t.Context(), tool)
		if res.ExitCode != engine.CodeTimeout || !errors.Is(err, retry.ErrTotalTimeout) {
			t.Errorf("exit code %d, %v", res.ExitCode, err)
		}
		if stopping := all[belaytype.Stopping](w); len(stopping) != 1 || stopping[0].Reason != "total timeout" {
			t.Errorf("told %+v", stopping)
		}
	})
}

// An agent has a ladder of its own, whatever stops it.
func TestAttempt_AgentsLadder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Ladder: supervise.Ladder{{Signal: syscall.SIGINT, Wait: time.Minute}}})
		script(r, enginetest.Attempt{Steps: append(enginetest.Lines(enginetest.Event{Answered: true}), enginetest.Hang()), Deaf: true})
		inv := start(t, r, claude)
		time.Sleep(time.Second)
		inv.Cancel(sigterm)
		if res, _ := inv.Wait(); res.Duration != 61*time.Second || res.ExitCode != 143 {
			t.Errorf("exit code %d after %v", res.ExitCode, res.Duration)
		}
	})
}

// Ctrl-C on a terminal reaches the command too: what it makes of that is left to it, but there is no further attempt. The
// second Ctrl-C kills it.
func TestAttempt_Interrupt(t *testing.T) {
	for name, tt := range map[string]struct {
		retries    int
		interrupts int
		deaf       bool
		took       time.Duration
		class      verdict.Class
		code       int
	}{
		"once: the command goes on, and fails":        {retries: 3, interrupts: 1, took: time.Hour, class: verdict.Interrupted, code: 130},
		"twice, where more was asked for: it is dead": {retries: 3, interrupts: 2, deaf: true, took: 20 * time.Second, class: verdict.Interrupted, code: 130},
		"twice, and nothing more was asked for":       {interrupts: 2, took: time.Hour, class: verdict.Unknown, code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{MaxRetries: tt.retries})
				s := script(r, enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(time.Hour)}, Code: 1, Deaf: tt.deaf})
				inv := start(t, r, tool)
				for range tt.interrupts {
					time.Sleep(10 * time.Second)
					inv.Interrupt(sigint)
				}
				res, err := inv.Wait()
				if res.Duration != tt.took || res.Verdict.Class != tt.class || res.ExitCode != tt.code || len(s.Starts()) != 1 || !errors.Is(err, sigint) {
					t.Errorf("exit code %d, %s after %v and %d starts: %v", res.ExitCode, res.Verdict.Class, res.Duration, len(s.Starts()), err)
				}
			})
		})
	}
}

func TestAttempt_InterruptDuringAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 3, BaseDelay: time.Minute, Jitter: retry.NoJitter})
		s := script(r, steps(1))
		inv := start(t, r, tool)
		time.Sleep(10 * time.Second)
		inv.Interrupt(sigint)
		res, err := inv.Wait()
		if res.Duration != 10*time.Second || res.ExitCode != 130 || len(s.Starts()) != 1 || !errors.Is(err, sigint) || res.Waited != 10*time.Second {
			t.Errorf("exit code %d after %v, waited %v: %v", res.ExitCode, res.Duration, res.Waited, err)
		}
		contains(t, res.Error, "stopped before the next attempt: interrupted by SIGINT")
	})
}

// A request to stop that comes as an attempt ends is the end all the same.
func TestAttempt_CancelledAsItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 3})
		var inv *engine.Invocation
		s := script(r, steps(1))
		r.Judge = func(own verdict.Verdict, _ verdict.Outcome, _ time.Time) verdict.Verdict {
			inv.Cancel(sigterm)
			return own
		}
		inv, err := r.Prepare(t.Context(), tool)
		must.OK(t, err)
		inv.Run()
		res, err := inv.Wait()
		if len(s.Starts()) != 1 || res.ExitCode != 143 || res.Verdict.Class != verdict.Interrupted || !errors.Is(err, sigterm) {
			t.Errorf("exit code %d after %d starts: %v", res.ExitCode, len(s.Starts()), err)
		}
	})
}

// What a command leaves running is ours to end if it failed and more was asked for than to run it, if that was asked for, or if a signal that has ended it was
// for us too.
func TestAttempt_LeftOver(t *testing.T) {
	left := []supervise.Proc{{PID: 99}}
	for name, tt := range map[string]struct {
		policy retry.Policy
		reap   bool
		code   int
		heard  time.Duration // when we are told to end
		killed int
		told   bool
	}{
		"by a success":                        {},
		"by a success that is managed":        {policy: retry.Policy{Timeout: time.Hour}, told: true},
		"by a success that is to be reaped":   {reap: true, killed: 1},
		"by a failure":                        {code: 1},
		"by a failure that is to be reaped":   {reap: true, code: 1, killed: 1},
		"by a failure that is managed":        {policy: retry.Policy{TotalTimeout: time.Hour}, code: 1, killed: 1},
		"by a failure that would be repeated": {policy: retry.Policy{MaxRetries: 1}, code: 1, killed: 1},
		"by one that was signalled alone":     {code: 143, heard: time.Minute},
		"by one that was signalled with us":   {code: 143, heard: 100 * time.Millisecond, killed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tt.heard > 0 {
					defer time.AfterFunc(tt.heard, func() { cancel(sigterm) }).Stop()
				}
				r := runner(t, tt.policy)
				r.Reap = tt.reap
				w := observe(r)
				script(r, enginetest.Attempt{Code: tt.code, Left: left})
				res, _ := r.Run(ctx, tool)
				equal(t, "killed", res.OrphansKilled, tt.killed)
				if kept := tt.killed == 0; kept != (len(res.Left) == 1) {
					t.Errorf("left: %v", res.Left)
				}
				if running := all[belaytype.LeftRunning](w); (len(running) == 1) != tt.told {
					t.Errorf("told %+v", running)
				}
				if log := entries(t, r); log[0].Killed != tt.killed {
					t.Errorf("on record: %+v", log[0])
				}
			})
		})
	}
}

// How a command stands to the terminal.
func TestAttempt_Placement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			profile  agent.Profile
			terminal bool
			retries  int
			want     supervise.Placement
		}{
			{want: supervise.OwnGroup},
			{terminal: true, want: supervise.TerminalPlacement()},
			{terminal: true, retries: 1, want: supervise.SharedGroup},
			{profile: &enginetest.Agent{}, terminal: true, want: supervise.OwnSession},
			{profile: &enginetest.Agent{Person: true}, terminal: true, want: supervise.TerminalPlacement()},
		} {
			r := runner(t, retry.Policy{MaxRetries: tt.retries})
			r.Profile, r.LogDir = tt.profile, engine.NoLogDir
			s := script(r, steps(0))
			r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Terminal: tt.terminal})
			equal(t, "placement", s.Starts()[0].Spec.Placement, tt.want)
		}
	})
}

// The child gets the environment that the caller asks for, without the settings that are meant for this run.
func TestAttempt_Environment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		s := script(r, steps(0))
		r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Env: []string{"A=1", "BELAY_MAX_RETRIES=3", "BELAY_STATE_DIR=/x", "BELAY_FOLD=off", "BELAY_RUN_ID=y"}})
		equalLists(t, "environment", s.Starts()[0].Spec.Env, []string{"A=1", "BELAY_STATE_DIR=/x", "BELAY_FOLD=off", "BELAY_RUN_ID=y"})
	})
}

// A command that could not be started for lack of something is told from one that cannot be started at all.
func TestStart_OutOfResources(t *testing.T) {
	for errno, want := range map[syscall.Errno]bool{
		syscall.EMFILE: true, syscall.ENFILE: true, syscall.EAGAIN: true, syscall.ENOMEM: true,
		syscall.ENOENT: false, syscall.EACCES: false, syscall.E2BIG: false,
	} {
		r := &engine.Runner{}
		script(r, enginetest.Attempt{Err: &os.PathError{Op: "exec", Path: "/bin/x", Err: errno}})
		res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"x"}})
		if got := res.Verdict.Rule == engine.RuleResources; got != want || want && res.ExitCode != engine.CodeFailed {
			t.Errorf("%v: %v, %d", errno, res.Verdict, res.ExitCode)
		}
	}
}
