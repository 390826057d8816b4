package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// view says on stderr what a run does. A command that nothing was asked for but to be run says nothing.
type view struct {
	screen   *term.Screen
	stderr   io.Writer // the same, for what a command has said
	settings *config.Settings
	name     string
	how      string // the command that goes on with a session of it
	login    string // what to type when its credentials are not good
	stop     func() // ends the countdown or the pulse that runs now
	stopping *time.Timer
}

// observe implements engine.Runner.Observe.
func (v *view) observe(e engine.Event) {
	switch e := e.(type) {
	case engine.AttemptStarted:
		v.verbosely("attempt %d: %s runs as process %d", e.Attempt, e.Command, e.PID)
		if e.Held && !v.settings.Quiet {
			v.begin(v.screen.Pulse(fmt.Sprintf("%s still runs", e.Command)))
		}
	case engine.AttemptFailed:
		v.end()
		if v.settings.Verbose {
			io.Copy(v.stderr, e.Stderr.Reader())
		}
	case engine.Waiting:
		v.wait(e)
	case engine.AtGate:
		v.atGate(e)
	case engine.ScopeBusy:
		what := "waiting for it"
		if e.Replaced {
			what = "it is asked to end"
		}
		v.say("scope %s is taken by run %s; %s", e.Key, strings.Join(shortIDs(e.Holders), ", "), what)
	case engine.GateTrouble:
		switch {
		case errors.Is(e.Err, gate.ErrDamaged):
			v.screen.Line("gate %s begins anew: %v", e.Key, e.Err)
		case errors.Is(e.Err, errors.ErrUnsupported): // only slots need locks
			v.screen.Line("--max-parallel is not in force at gate %s for this run: %v", e.Key, e.Err)
		default:
			v.screen.Line("gate %s is not in force for this run: %v", e.Key, e.Err)
		}
	case engine.GateFailing:
		v.say("%s has failed %d times in a row on gate %s; after %d nothing is let through for a while", v.name, e.Failures, e.Key, e.Of)
	case engine.InnerRetry:
		v.innerRetry(e)
	case engine.SessionGone:
		v.say("there is no session %s any more; beginning a new one", e.ID)
	case engine.Plain:
		v.say("%s does not take what belay adds to its command line (%s); it is started as you wrote it, and only its exit code and text are read", v.name, e.Option)
	case engine.UnknownOption:
		v.verbosely("%s's option %s is not known to belay; it is started as you wrote it, and only its exit code and text are read", v.name, e.Option)
	case engine.UntestedVersion:
		v.verbosely("%s %s is %s", v.name, e.Version, e.Standing)
	case engine.AlertRaised:
		v.screen.Line("alert: %d failures of %s within %s; see: belay events --since %s", e.Failures, e.Integration, term.Span(e.Within), term.Span(e.Within))
	case engine.FoundDone:
		v.say("%s failed, but what it was to do has been done: %s", v.name, strings.TrimSpace(e.Output))
	case engine.StdinSilent:
		if e.Awaited {
			v.say("%s waits for its stdin; if there is none, say --no-stdin", v.name)
		} else {
			v.say("nothing came on stdin for %s; going on without it (--no-stdin says so at once)", term.Span(e.For))
		}
	case engine.OwnLogTrouble:
		if e.Asked {
			v.screen.Line("the log in %s cannot be written: %v", e.Dir, e.Err)
		} else {
			v.verbosely("no log is kept in %s: %v", e.Dir, e.Err)
		}
	case engine.CostNotice:
		v.costNotice(e)
	case engine.WaitOver:
		v.end()
	case engine.Stopping:
		v.verbosely("stopping %s: %s", v.name, e.Reason)
		// Most commands end at once. Only if this one does not, it is worth a line.
		v.stopping = time.AfterFunc(2*time.Second, func() {
			v.screen.Line("waiting for %s to stop; interrupt again to kill it", v.name)
		})
	case engine.LeftRunning:
		v.say("%s left running: %s; --reap ends them", v.name, list(e.Processes))
	case engine.Reclaimed:
		v.say("ended what a killed belay had left: %s", list(e.Processes))
	case engine.StateTrouble:
		without := ""
		if len(e.Without) > 0 {
			without = ", and it goes on without " + strings.Join(e.Without, " and ")
		}
		v.screen.Line("no record is kept of this run%s: %v", without, e.Err)
	case engine.ScopeTrouble:
		v.screen.Line("scope %s is not in force for this run: %v", e.Key, e.Err)
	case engine.LogLarge:
		if e.Own {
			v.say("%s's own log has passed 100 MiB: %s; move it away, or turn it off with --log-dir none", v.name, e.Path)
			return
		}
		v.say("the log has passed 100 MiB: %s; to forget what is old: belay prune --older-than 90d", e.Path)
	}
}

// unread says which variables of the environment look like a setting of ours and have no effect.
func (v *view) unread() {
	for _, u := range v.settings.Unread {
		if u.Instead != "" {
			v.say("%s", unreadText(u))
		}
	}
}

// wait announces a retry and counts down to it.
func (v *view) wait(e engine.Waiting) {
	if v.settings.Quiet {
		return
	}
	count := fmt.Sprintf("retry %d", e.Retry)
	if e.Of > 0 {
		count += fmt.Sprintf("/%d", e.Of)
	}
	why := ""
	// A hint is a floor; where the back-off is longer, it is not what decided.
	if hint := e.Verdict.Hint.Wait(time.Now()); hint > 0 && e.Wait < hint+hint/8+time.Second/8 {
		why = ", as it asks"
	}
	reason := v.reason(e.Verdict)
	if e.Verdict.Class == verdict.Stalled || e.Verdict.Rule == "timeout" { // what it printed last is not why
		reason = e.Message
	}
	v.screen.Line("%s; %s in %s%s", reason, count, term.Span(e.Wait), why)
	if e.Wait >= 2*time.Second {
		v.begin(v.screen.Countdown(count, e.Until))
	}
}

// innerRetry says that the command waits and tries again by itself.
func (v *view) innerRetry(e engine.InnerRetry) {
	if e.Ended {
		v.verbosely("%s would try again (%s); it is stopped: there is no retry left for that, or no sense in it", v.name, e.Verdict.Evidence)
		return
	}
	in := ""
	if e.Wait > 0 {
		in = " in " + term.Span(e.Wait)
	}
	v.say("%s tries again%s (%s): %s", v.name, in, e.Verdict.Class, e.Verdict.Evidence)
}

// atGate says which gate is waited at, why, until when, and what lifts it.
func (v *view) atGate(e engine.AtGate) {
	if v.settings.Quiet {
		return
	}
	what := fmt.Sprintf("gate %s: %s", e.Key, gateText(e.Refusal))
	if e.Refusal.Until.IsZero() {
		v.end()
		if e.Refusal.Kind != gate.KindSlots {
			what += fmt.Sprintf(" (to lift it: %s)", term.LiftCommand(e.Key))
		}
		v.screen.Line("%s", what)
		return
	}
	v.screen.Line("%s; waiting until %s (to lift it: %s)", what,
		engine.When(e.Refusal.Until), term.LiftCommand(e.Key))
	v.begin(v.screen.Countdown("gate "+e.Key, e.Refusal.Until))
}

// costNotice says what there is to know of a limit on cost.
func (v *view) costNotice(e engine.CostNotice) {
	switch {
	case errors.Is(e.Err, budget.ErrDamaged) && e.Budget != "":
		v.screen.Line("budget %s begins anew: %v", e.Budget, e.Err)
	case e.Err != nil && e.Budget != "":
		v.screen.Line("budget %s is not in force for this run: %v", e.Budget, e.Err)
	case e.Err != nil:
		v.screen.Line("what runs inside this run does not count towards its --max-cost: %v", e.Err)
	case e.Unknown:
		v.say("the cost of this attempt is not known, so it is missing in budget %s", e.Budget)
	default:
		v.say("budget %s is nearly used up: $%.2f of $%g", e.Budget, e.Spent, e.Limit)
	}
}

// reason says in a few words why an attempt failed.
func (v *view) reason(d verdict.Verdict) string {
	text := v.name + " failed"
	if d.Class != verdict.Unknown {
		text += fmt.Sprintf(" (%s)", d.Class)
	}
	if d.Evidence != "" {
		text += ": " + d.Evidence[strings.LastIndexByte(d.Evidence, '\n')+1:]
	}
	return text
}

// done says how it ended, if there is anything to say.
func (v *view) done(r *engine.Result, err error) {
	v.end()
	if v.stopping != nil {
		v.stopping.Stop()
	}
	switch {
	case r.Success:
		if r.Attempts > 1 {
			v.verbosely("%s succeeded at attempt %d, after %s of waiting", v.name, r.Attempts, term.Span(r.Waited))
		}
		if v.settings.MaxCost > 0 && r.Usage.CostUSD == nil && r.Usage.CostUnknown() {
			v.say("the cost of this run is not known, so --max-cost was not kept; models with a price: belay prices")
		}
	case r.Attempts > 0 && r.ExitCode == r.ChildCode && len(r.Earlier()) == 0 && !v.settings.Asked() && !r.MayBeDone && !r.Silent:
		// The command has said it itself, but it does not know that belay can begin a new session.
		if r.Verdict.Class == verdict.SessionNotFound && v.settings.Resume != "" {
			v.say("to begin a new session where there is none: --resume-or-new %s", v.settings.Resume)
		}
	case r.Verdict.Class == verdict.Interrupted && r.Verdict.Rule != "no-result", r.ExitCode == brokenPipe:
		v.verbosely("%s", r.Err)
		if r.Session != "" {
			v.say("to go on: belay run --resume %s -- %s", r.Session, v.how)
		}
	default:
		v.screen.Line("%s", r.Err)
		if r.Verdict.Evidence != "" && (r.Verdict.Class == verdict.Timeout || r.Verdict.Class == verdict.Stalled) {
			for line := range strings.SplitSeq(r.Verdict.Evidence, "\n") {
				v.screen.Line("  last output: %s", line)
			}
		}
		if r.Verdict.Class == verdict.Auth && v.login != "" {
			v.say("to log in: %s", v.login)
		}
		if _, spent := errors.AsType[*engine.MaxCostReached](err); spent && r.Session != "" {
			v.say("to go on: belay run --resume %s -- %s", r.Session, v.how)
		}
	}
}

// brokenPipe is the exit code of a command whose reader has left, as head does.
const brokenPipe = 128 + 13

func (v *view) begin(stop func()) {
	v.end()
	v.stop = stop
}

func (v *view) end() {
	if v.stop != nil {
		v.stop()
		v.stop = nil
	}
}

func (v *view) say(format string, args ...any) {
	if !v.settings.Quiet {
		v.screen.Line(format, args...)
	}
}

func (v *view) verbosely(format string, args ...any) {
	if v.settings.Verbose {
		v.screen.Line(format, args...)
	}
}

func list(procs []supervise.Proc) string {
	var names []string
	for _, p := range procs {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
