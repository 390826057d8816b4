package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// check says what is wrong with what came of the run. lines are those of the log.
func (r *faultRun) check(lines []journal.Entry) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if r.inv == nil {
		return []string{"it was not made"}
	}
	res, err := r.inv.Wait()
	last := &r.want.Attempts[len(r.want.Attempts)-1]
	works := r.want.Class == verdict.OK
	if res.Success != works || (err == nil) != works || res.Verdict.Class != r.want.Class || res.ExitCode != r.want.Exit {
		bad("%s with exit code %d (%v), want %s with %d", res.Verdict.Class, res.ExitCode, res.Error, r.want.Class, r.want.Exit)
	}
	starts := r.script.Starts()
	if n := len(r.want.Attempts); len(starts) != n || res.Attempts != n || len(lines) != n {
		bad("%d starts, %d attempts in the result, %d lines in the log, want %d", len(starts), res.Attempts, len(lines), n)
		return wrong
	}
	if n := len(r.want.Attempts); works && len(res.Errors) != n-1 || !works && (len(res.Errors) != n || res.Errors[n-1] != res.Error || res.Error == "") {
		bad("errors %q of %d attempts", res.Errors, n)
	}
	var booked, exact time.Duration
	slack := time.Duration(len(lines)) * time.Millisecond // the log has milliseconds
	for i, a := range r.want.Attempts {
		line := lines[i]
		if a.Fault.Hint >= time.Minute {
			slack += time.Second // a reset is told in seconds
		}
		class := a.Class
		if class == verdict.OK {
			class = ""
		}
		if line.Attempt != i+1 || string(line.Status) != a.Status || line.ErrorType != class {
			bad("line %d is of attempt %d: %s %s, want %s %s", i+1, line.Attempt, line.Status, line.ErrorType, a.Status, class)
		}
		if final := i == len(lines)-1; final != (line.BelayCode != nil) || final && *line.BelayCode != r.want.Exit {
			bad("line %d has %v for Belay's exit code, want %d", i+1, line.BelayCode, r.want.Exit)
		}
		if resumes := slices.Contains(starts[i].Spec.Args, a.Session); resumes != a.Resumes {
			bad("start %d is %q, want a resumed session: %v", i+1, starts[i].Spec.Args, a.Resumes)
		}
		lasted := time.Duration(line.ResponseTime * float64(time.Second))
		if want := r.lasts(&a); (lasted - want).Abs() > time.Millisecond {
			bad("attempt %d took %v, want %v", i+1, lasted, want)
		}
		if i > 0 {
			before := &r.want.Attempts[i-1]
			if gap := starts[i].At.Sub(starts[i-1].At) - r.lasts(before); gap < before.Wait-slack || gap > before.Wait+slack {
				bad("%v between attempts %d and %d, want %v", gap, i, i+1, before.Wait)
			}
		}
		booked += time.Duration((line.WaitTime + line.GateWait) * float64(time.Second))
		exact += r.lasts(&a) + a.Wait
	}
	if want := r.want.Waited(); (res.Waited-want).Abs() > slack || (booked-res.Waited).Abs() > slack {
		bad("waited %v, on record are %v, want %v", res.Waited, booked, want)
	}
	if (r.took - exact).Abs() > slack {
		bad("it took %v, want %v", r.took, exact)
	}
	if out := r.stdout.String(); works && out != last.Fault.Answer {
		bad("stdout is %.200q, want %q", out, last.Fault.Answer)
	} else if want := r.prints(last); r.CLI == faulttest.Job && out != want {
		bad("stdout is %.200q, want %q", out, want)
	} else {
		for i := range len(r.want.Attempts) - 1 {
			if strings.Contains(out, fmt.Sprintf("of start %d\n", i+1)) {
				bad("stdout has what attempt %d has printed: %.200q", i+1, out)
			}
		}
	}
	return wrong
}

// lasts is how long an attempt takes.
func (r *faultRun) lasts(a *faulttest.Attempt) (sum time.Duration) {
	if a.Stopped {
		return a.Inner // it is stopped as soon as it tells of the retry that has no room
	}
	var printed time.Duration // when it has last printed something
	for _, op := range a.Fault.Ops {
		if op.Out != "" || op.Err != "" {
			printed = sum
		}
		sum += op.Sleep
	}
	switch hangs := strings.Contains(a.Fault.Name, "hang"); {
	case a.Class == verdict.OK && hangs:
		return sum + min(30*time.Second, r.Stall)
	case a.Fault.Ends == faulttest.ByTimeout:
		return r.Policy.Timeout
	case hangs:
		return printed + r.Stall
	}
	return sum
}

// prints is what a plain command prints in an attempt.
func (r *faultRun) prints(a *faulttest.Attempt) (text string) {
	for _, op := range a.Fault.Ops {
		if op.Alive {
			return text + strings.Repeat(op.Out, int(r.Policy.Timeout/alivePause(r.Stall)))
		}
		text += op.Out
	}
	return text
}
