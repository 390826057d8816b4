//go:build unix

package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
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

// checkedStory is what an agent and its check do, one start after the other; the last of each is repeated.
type checkedStory struct {
	agents, checks  []string
	rounds, retries int
	maxCost         float64
}

// checkedEnd is how such a story ends.
type checkedEnd struct {
	class            verdict.Class
	code             int
	attempts, checks int
	rounds           int
	answer           string // on stdout
	cost             float64
	told             []string // what each attempt of the agent was told
}

const callCost = 0.01

// oracle says how a story ends, by SPEC 20.1.
func (s checkedStory) oracle() (e checkedEnd) {
	at := func(list []string, n int) string { return list[min(n, len(list)-1)] }
	retries, stalls, broken, say := 0, 0, "", "first"
	end := func(class verdict.Class, code int) checkedEnd {
		e.class, e.code = class, code
		return e
	}
	for {
		what := at(s.agents, e.attempts)
		e.attempts++
		e.told = append(e.told, say)
		if what != "answer" {
			code := map[string]int{"overloaded": 75, "rate_limit": 75, "stalled": 124, "auth": 78}[what]
			if what == "auth" || what == "stalled" && stalls == 1 || retries == s.retries {
				return end(verdict.Class(what), code)
			}
			retries++
			if what == "stalled" { // its session goes on, the others have not come so far
				stalls++
				say = "continue"
			}
			continue
		}
		e.cost += callCost
		e.answer = fmt.Sprintf("answer %d", e.attempts)
		how := at(s.checks, e.checks)
		e.checks++
		switch {
		case how == "pass":
			return end(verdict.OK, 0)
		case how == "no shell":
			return end(verdict.NotDone, 125)
		case s.maxCost > 0 && e.cost >= s.maxCost:
			return end(verdict.LimitReached, 75)
		case how != "fail" && how == broken, e.rounds == s.rounds:
			return end(verdict.NotDone, 1)
		}
		if broken = how; how == "fail" {
			broken = ""
		}
		e.rounds++
		say = "round"
	}
}

// scripts are the attempts of the agent and of the check.
func (s checkedStory) scripts() (agents, checks *enginetest.Script) {
	agents, checks = &enginetest.Script{}, &enginetest.Script{}
	for i, what := range s.agents {
		a := enginetest.Attempt{Code: 1}
		switch what {
		case "answer":
			cost := callCost
			a = steps(0, enginetest.PrintFunc(func() string {
				return eventText(enginetest.Event{Text: fmt.Sprintf("answer %d", len(agents.Starts())), Done: true, Class: verdict.OK,
					Account: enginetest.Account(agent.Account{Session: oneSession, Active: true, Usage: verdict.Usage{CostUSD: &cost}})})
			}))
		case "stalled":
			a.Steps = []enginetest.Step{enginetest.Line(enginetest.Event{Account: enginetest.Account(agent.Account{Session: oneSession, Active: true})}), enginetest.Hang()}
		default:
			account := agent.Account{}
			if slices.Contains(s.agents[:i], "answer") || slices.Contains(s.agents[:i], "stalled") {
				account.Session = oneSession
			}
			a.Steps = enginetest.Lines(enginetest.Event{Class: verdict.Class(what), Account: enginetest.Account(account)})
		}
		agents.Attempts = append(agents.Attempts, a)
	}
	for _, how := range s.checks {
		a := enginetest.Attempt{}
		switch how {
		case "fail":
			a = steps(1, enginetest.Print("1 test failed\n"))
		case "hang":
			a.Steps = []enginetest.Step{enginetest.Hang()}
		case "killed":
			a.Signal = syscall.SIGKILL
		case "missing":
			a.Code = 127
		case "no shell":
			a.Err = errors.New("no shell")
		}
		checks.Attempts = append(checks.Attempts, a)
	}
	return agents, checks
}

// eventText is an event as the agent prints it.
func eventText(e enginetest.Event) string {
	data, _ := json.Marshal(e)
	return string(data) + "\n"
}

// checkedStarter starts checks with one script, and the command with another. told, if not nil, is told of each start of the command.
type checkedStarter struct {
	*enginetest.Script
	checks *enginetest.Script
	told   func()
}

func (s checkedStarter) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	if spec.Args[0] == "sh" {
		return s.checks.Run(spec, started)
	}
	if s.told != nil {
		s.told()
	}
	return s.Script.Run(spec, started)
}

// play plays a story.
func (s checkedStory) play(t *testing.T) (e checkedEnd, text string) {
	agents, checks := s.scripts()
	r := agentRunner(agent.Info{Stall: time.Minute})
	var planned agent.Turn
	r.Profile.(*enginetest.Agent).Turns = func(turn agent.Turn) { planned = turn }
	r.Starter = checkedStarter{agents, checks, func() {
		switch say := *planned.Prompt; {
		case strings.Contains(say, "1 test failed") || strings.Contains(say, "The check "):
			e.told = append(e.told, "round")
		case planned.Continue:
			e.told = append(e.told, "continue")
		default:
			e.told = append(e.told, "first")
		}
	}}
	r.Policy = retry.Policy{MaxRetries: s.retries, CountThrottles: true, MaxWait: time.Hour}
	r.MaxCost = s.maxCost
	r.Check = engine.Check{Line: "go test ./...", Rounds: s.rounds}
	if s.rounds == 0 {
		r.Check.Rounds = -1
	}
	var out bytes.Buffer
	prompt := "Fix the test"
	res, err := r.Run(t.Context(), belaytype.Command{Args: claude.Args, Prompt: &prompt, Stdout: &out})
	if (err == nil) != res.Success || res.Success != (res.ExitCode == 0) {
		t.Errorf("success %v, exit code %d, error %v", res.Success, res.ExitCode, err)
	}
	e.class, e.code, e.attempts, e.checks = res.Verdict.Class, res.ExitCode, res.Attempts, len(checks.Starts())
	if e.answer = strings.TrimSpace(out.String()); res.Check != nil {
		e.rounds = res.Check.Rounds
	}
	if res.Usage.CostUSD != nil {
		e.cost = *res.Usage.CostUSD
	}
	return e, fmt.Sprintf("%+v\n%s", s, res.Error)
}

// Random stories end as SPEC 20.1 says: rounds, attempts, exit code, output, cost, and what the agent is told.
func TestCheck_Stories(t *testing.T) {
	rnd := rand.New(rand.NewPCG(41, 20))
	pick := func(n int, of ...string) (list []string) {
		for range n {
			list = append(list, of[rnd.IntN(len(of))])
		}
		return list
	}
	ended := map[verdict.Class]int{}
	for n := range 300 {
		s := checkedStory{rounds: rnd.IntN(4), retries: 1 + rnd.IntN(3),
			agents: append(pick(rnd.IntN(7), "answer", "answer", "answer", "overloaded", "rate_limit", "stalled"), pick(1, "answer", "answer", "auth")...),
			checks: append(pick(rnd.IntN(5), "fail", "fail", "fail", "hang", "killed", "missing"), pick(1, "pass", "pass", "fail", "missing", "no shell")...)}
		if rnd.IntN(4) == 0 {
			s.maxCost = callCost * float64(1+rnd.IntN(3))
		}
		synctest.Test(t, func(t *testing.T) {
			want := s.oracle()
			got, text := s.play(t)
			if want.cost -= got.cost; want.cost < 1e-9 && want.cost > -1e-9 {
				want.cost = got.cost
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("story %d: %s\n got %+v\nwant %+v", n, text, got, want)
			}
			ended[want.class]++
		})
	}
	if len(ended) < 6 {
		t.Errorf("the stories end in %v", ended)
	}
}

// What is sent back, what is started again, and what is refused before anything is started.
func TestCheck_Rules(t *testing.T) {
	busy, nameless := agent.Account{Session: oneSession, Active: true}, agent.Account{Active: true}
	conversation, person := agentRunner(agent.Info{Once: true}), agentRunner(agent.Info{})
	person.Profile.(*enginetest.Agent).Person = true
	unkept := agentRunner(agent.Info{})
	unkept.Profile.(*enginetest.Agent).Asks.NoSession = true
	tests := map[string]struct {
		runner   *engine.Runner
		account  agent.Account
		check    engine.Check
		retries  int
		resume   belaytype.Resume
		starts   int // that a project allows
		attempts int
		code     int
		says     string // to the agent
	}{
		"a session goes on":                    {account: busy, check: engine.Check{Rounds: 2}, attempts: 3, code: 1, says: "The work is not done: it did not pass this check. "},
		"in the words of its caller":           {account: busy, check: engine.Check{Rounds: 1, Prompt: "Look again."}, attempts: 2, code: 1, says: "Look again.\n\n$ go test\nx:\uFFFD 1 ≠ 2\n\nThe check failed with exit code 3."},
		"never":                                {account: busy, check: engine.Check{Rounds: -1}, attempts: 1, code: 1},
		"no more starts than are allowed":      {account: busy, starts: 2, attempts: 2, code: 1},
		"an agent without a session":           {account: nameless, attempts: 1, code: 1},
		"an agent that keeps no session":       {runner: unkept, account: busy, attempts: 1, code: 1},
		"is started again if that is wanted":   {account: nameless, check: engine.Check{Repeat: true}, retries: 2, attempts: 3, code: 1},
		"so is one that must not be continued": {account: busy, check: engine.Check{Repeat: true}, retries: 1, resume: belaytype.Resume{Never: true}, attempts: 2, code: 1},
		"a plain command":                      {runner: &engine.Runner{}, attempts: 1, code: 1},
		"a plain command with retries":         {runner: &engine.Runner{}, check: engine.Check{Repeat: true}, retries: 2, attempts: 3, code: 1},
		"a conversation":                       {runner: conversation, code: 2},
		"an agent that works for a person":     {runner: person, code: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := test.runner
				if r == nil {
					r = agentRunner(agent.Info{})
				}
				said := ""
				if a, ok := r.Profile.(*enginetest.Agent); ok {
					a.Turns = func(turn agent.Turn) {
						if turn.Prompt != nil {
							said = *turn.Prompt
						}
					}
				}
				r.Policy.MaxRetries, r.Resume, r.Check, r.AtMost.Starts = test.retries, test.resume, test.check, test.starts
				r.Check.Line = "go test"
				var shown []string
				r.Follow = func(a engine.Activity) {
					if strings.HasPrefix(a.Tool, "check") {
						shown = append(shown, a.Tool+": "+a.Argument())
					}
				}
				checks := &enginetest.Script{Attempts: []enginetest.Attempt{steps(3, enginetest.Print("\x1b[31mx:\x00 1 ≠ 2\n"))}}
				r.Starter = checkedStarter{&enginetest.Script{Attempts: []enginetest.Attempt{steps(0,
					enginetest.Line(enginetest.Event{Text: "done", Done: true, Class: verdict.OK, Account: enginetest.Account(test.account)}))}}, checks, nil}
				res, _ := r.Run(t.Context(), claude)
				if res.Attempts != test.attempts || res.ExitCode != test.code || len(checks.Starts()) != test.attempts {
					t.Errorf("%d attempts, %d checks, exit code %d: %s", res.Attempts, len(checks.Starts()), res.ExitCode, res.Error)
				}
				if res.ExitCode == 1 && (res.Verdict.Class != verdict.NotDone || engine.OwnCode(res) != 1 || res.Output.String() == "" || *res.Check != belaytype.Check{
					Command: "go test", Rounds: res.Check.Rounds, ExitCode: 3, Output: "\x1b[31mx:\x00 1 ≠ 2\n"}) {
					t.Errorf("%v, own code %d, output %q, check %+v", res.Verdict.Class, engine.OwnCode(res), res.Output, res.Check)
				}
				if name == "a session goes on" && !slices.Equal(shown, []string{"check: go test", "check, round 1 of 2: go test", "check, round 2 of 2: go test"}) {
					t.Errorf("shown is %q", shown)
				}
				if !strings.HasPrefix(said, test.says) || strings.ContainsRune(said, 0) {
					t.Errorf("the agent was told %q", said)
				}
			})
		})
	}
}

// A session that is gone when it is sent back is not begun anew: its work would be done twice. Where retries were asked for, it may be.
func TestCheck_SessionGone(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{})
			r.Policy.MaxRetries, r.Check = 1, engine.Check{Line: "test", Rounds: 1, Repeat: again}
			account := enginetest.Account(agent.Account{Session: oneSession, Active: true})
			agents := &enginetest.Script{Attempts: []enginetest.Attempt{
				steps(0, enginetest.Line(enginetest.Event{Text: "done", Done: true, Class: verdict.OK, Account: account})),
				steps(1, enginetest.Line(enginetest.Event{Class: verdict.SessionNotFound})),
				steps(0, enginetest.Line(enginetest.Event{Text: "done again", Done: true, Class: verdict.OK, Account: account})),
			}}
			r.Starter = checkedStarter{agents, &enginetest.Script{Attempts: []enginetest.Attempt{steps(1)}}, nil}
			var out bytes.Buffer
			c, starts, answer := claude, 2, "done"
			c.Stdout = &out
			if again {
				starts, answer = 3, "done again"
			}
			res, _ := r.Run(t.Context(), c)
			if len(agents.Starts()) != starts || res.ExitCode != 1 || engine.OwnCode(res) != 1 || strings.TrimSpace(out.String()) != answer {
				t.Errorf("again %v: %d starts, %v, exit code %d, stdout %q: %s", again, len(agents.Starts()), res.Verdict.Class, res.ExitCode, &out, res.Error)
			}
		})
	}
}

// A check before the first attempt that passes leaves nothing to do; any other is not what the work is judged by.
func TestCheck_First(t *testing.T) {
	for _, code := range []int{0, 1} {
		r := &engine.Runner{Check: engine.Check{Line: "test", First: true}}
		checks := &enginetest.Script{Attempts: []enginetest.Attempt{steps(code), steps(0)}}
		command := &enginetest.Script{Attempts: []enginetest.Attempt{steps(0, enginetest.Print("did it"))}}
		r.Starter = checkedStarter{command, checks, nil}
		res, err := r.Run(t.Context(), tool)
		if err != nil || res.Attempts != code || len(command.Starts()) != code || !res.Check.Passed || len(checks.Starts()) != 1+code {
			t.Errorf("exit code %d: %d attempts, %d starts, check %+v, %v", code, res.Attempts, len(command.Starts()), res.Check, err)
		}
	}
}

// The answer of a fallback is checked as well, and it is the fallback that is told.
func TestCheck_Fallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.Fallbacks = []engine.Fallback{{Profile: "claude", Model: "small"}}
		r.Policy.MaxWait = time.Second
		const done = `{"type":"system","subtype":"init","session_id":"` + oneSession + `"}
{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"done"}]},"session_id":"` + oneSession + `"}
{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"` + oneSession + `"}
`
		agents := &enginetest.Script{Attempts: []enginetest.Attempt{steps(1, enginetest.Line(enginetest.Event{Class: verdict.UsageLimit, Hint: time.Hour})), steps(0, enginetest.Print(done))}}
		r.Starter = checkedStarter{agents, &enginetest.Script{Attempts: []enginetest.Attempt{steps(1), steps(0)}}, nil}
		r.Check.Line = "test"
		res, err := r.Run(t.Context(), claude)
		if err != nil || res.Fallback == "" || res.Attempts != 3 || res.Check.Rounds != 1 {
			t.Errorf("%+v", res)
		}
	})
}

// A function is asked about the answer; its error is what the agent is told, and the cause of the failure.
func TestCheck_Function(t *testing.T) {
	lacks := errors.New("the answer is not a number")
	for _, enough := range []int{2, 9} {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{})
			said := ""
			r.Profile.(*enginetest.Agent).Turns = func(turn agent.Turn) { said = *turn.Prompt }
			script(r, steps(0, enginetest.Line(enginetest.Event{Text: "seven", Done: true, Class: verdict.OK, Account: enginetest.Account(agent.Account{Session: oneSession, Active: true})})))
			c, asked, prompt := claude, 0, "A number?"
			c.Prompt = &prompt
			c.Check = func(ctx context.Context, res *belaytype.Result) error {
				if asked++; res.Output.String() != "seven" || res.Session != oneSession || res.Attempts != asked || ctx.Err() != nil {
					t.Errorf("%+v", res)
				}
				if asked == enough {
					return nil
				}
				return lacks
			}
			res, err := r.Run(t.Context(), c)
			if asked != min(enough, 4) || res.Success != (enough == 2) || res.Success == errors.Is(err, lacks) || res.Check.Passed != res.Success || !strings.HasSuffix(said, "\n\n"+lacks.Error()) {
				t.Errorf("asked %d times, %v, %+v, said %q", asked, err, res.Check, said)
			}
		})
	}
}

// The answer is on the check's stdin byte for byte, however large, and may be ignored. Its own output costs no memory.
func TestCheck_Streams(t *testing.T) {
	t.Parallel()
	const answer = 20 << 20
	for name, test := range map[string]struct{ check, output string }{
		"whole":   {"cksum; exit 1", "3128462852 20971520\n"},
		"ignored": {"echo no; exit 1", "no\n"},
		"closed":  {"exec <&-; sleep 0.1; echo closed >&2; exit 1", "closed\n"},
		"names":   {`test "$BELAY_ATTEMPT" = 1 && test "$BELAY_TASK_ID" = q�7 && test "${BELAY_RUN_ID#*-}" != "$BELAY_RUN_ID" && echo right; exit 1`, "right\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &engine.Runner{Check: engine.Check{Line: test.check}, Record: engine.Record{Task: engine.Task{ID: "q\x007"}}}
			res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"head", "-c", fmt.Sprint(answer), "/dev/zero"}, Stdout: io.Discard})
			if res.Verdict.Class != verdict.NotDone || res.Check.Output != test.output {
				t.Errorf("%v: %.100q", res.Verdict, res.Check.Output)
			}
		})
	}
}

// What a check prints, however large, costs no memory: the end of it is kept. Not parallel: it is counted what all have allocated meanwhile.
func TestCheck_Memory(t *testing.T) {
	r := &engine.Runner{Check: engine.Check{Line: "head -c 100000000 /dev/zero; echo end; exit 1"}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"true"}})
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 || res.Check.Output != strings.Repeat("\x00", 8<<10-4)+"end\n" {
		t.Errorf("%d bytes were allocated for %d", n, len(res.Check.Output))
	}
}

// An answer that cannot be written is none, though the check has passed and the command did not see it.
func TestCheck_Unwritten(t *testing.T) {
	t.Parallel()
	for _, full := range []error{syscall.ENOSPC, syscall.EPIPE} {
		r := &engine.Runner{Check: engine.Check{Line: "true"}}
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"echo", "answer"}, Stdout: unwritable{full}})
		if !errors.Is(err, full) || res.Success || res.ExitCode != map[error]int{syscall.ENOSPC: 125, syscall.EPIPE: 141}[full] {
			t.Errorf("exit code %d: %v", res.ExitCode, err)
		}
	}
}

// unwritable is an output that takes nothing.
type unwritable struct{ err error }

func (w unwritable) Write([]byte) (int, error) { return 0, w.err }

// Whatever ends the run ends its check with all that this has started. The answer is on stdout: it was paid for.
func TestCheck_Ended(t *testing.T) {
	t.Parallel()
	const check = `echo $$ >pids; setsid sleep 100 & echo $! >>pids; sleep 100 & echo $! >>pids; touch begun; wait`
	for name, test := range map[string]struct {
		check func(r *engine.Runner, cancel context.CancelCauseFunc)
		class verdict.Class
		code  int
	}{
		"cancelled": {func(_ *engine.Runner, cancel context.CancelCauseFunc) {
			cancel(&belaytype.Interrupt{Signal: 15, Name: "SIGTERM"})
		}, verdict.Interrupted, 143},
		"total timeout": {func(r *engine.Runner, _ context.CancelCauseFunc) { r.Policy.TotalTimeout = 2 * time.Second }, verdict.Timeout, 124},
		"its own limit": {func(r *engine.Runner, _ context.CancelCauseFunc) { r.Check.Timeout = time.Second }, verdict.NotDone, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithCancelCause(t.Context())
			r := &engine.Runner{Check: engine.Check{Line: check}}
			if name != "cancelled" {
				test.check(r, cancel)
			} else {
				r.Observe = func(e belaytype.Event) {
					if _, ok := e.(belaytype.Checking); ok {
						go func() {
							for _, err := os.Stat(dir + "/begun"); err != nil && ctx.Err() == nil; _, err = os.Stat(dir + "/begun") {
								time.Sleep(10 * time.Millisecond)
							}
							test.check(r, cancel)
						}()
					}
				}
			}
			var out bytes.Buffer
			res, _ := r.Run(ctx, belaytype.Command{Args: []string{"echo", "answer"}, Dir: dir, Stdout: &out})
			if res.Verdict.Class != test.class || res.ExitCode != test.code || engine.OwnCode(res) != test.code || out.String() != "answer\n" || strings.Contains(res.Error, "next attempt") {
				t.Errorf("%v, exit code %d, own %d, stdout %q: %s", res.Verdict.Class, res.ExitCode, engine.OwnCode(res), &out, res.Error)
			}
			data, err := os.ReadFile(dir + "/pids")
			must.OK(t, err)
			for _, field := range strings.Fields(string(data)) {
				var pid int
				fmt.Sscan(field, &pid)
				for begun := time.Now(); runs(pid); time.Sleep(10 * time.Millisecond) { // another process may have to reap it
					if time.Since(begun) > 20*time.Second {
						t.Fatalf("process %d still runs", pid)
					}
				}
			}
		})
	}
}

// runs reports whether there is such a process that has not ended: who adopted it may never reap it.
func runs(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == nil && !bytes.Contains(stat, []byte(") Z "))
}
