package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/certificate"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// lastChecked shows the end of what a check has printed that never passed.
func (v *view) lastChecked(c *belaytype.Check) {
	if c == nil || c.Command == "" || c.Passed {
		return
	}
	for line := range strings.SplitSeq(checkedText(c), "\n") {
		v.line("  " + line)
	}
}

// fellBack says that another agent works on the request, and speaks of that one from now on.
func (v *view) fellBack(e belaytype.FellBack) {
	v.end()
	v.say(message.FellBack(e.From, e.To, e.Verdict.Class, e.Until))
	name, _, _ := strings.Cut(e.To, ":")
	v.name = name
	if cli := profile.Find(name); cli != nil {
		v.how, v.login = continueHint(cli), cli.LoginHint()
	}
	if v.status != nil {
		v.status.rename(name)
	}
}

// watch lets the view show what an agent does. Its output makes room for that where it goes to the same terminal.
func (v *view) watch(r *engine.Runner, c *belaytype.Command) {
	if a, ok := r.Profile.(agent.Agent); !ok || !a.Headless() || v.settings.Quiet {
		return
	}
	v.status = newStatus(v.name)
	r.Follow = func(a engine.Activity) {
		v.status.follow(a)
		if a.Begun {
			term.Printf(v.stderr, "%s\n", v.status.step(a))
		}
	}
	r.ShowWork, r.TerminalInput = true, stdio.IsTerminal(c.Stdin)
	if c.Stdout != nil {
		c.Stdout = v.screen.Output(c.Stdout)
	}
	c.Stderr, v.stderr = v.screen.Output(c.Stderr), v.screen.Output(v.stderr)
}

// continueHint is the command that continues a session of the CLI; empty if there is none, as in a rehearsal, whose sessions belay run
// does not find.
func continueHint(cli *agent.Descriptor) string {
	if os.Getenv(state.RehearsalVar) != "" {
		return ""
	}
	return cli.ContinueHint()
}

// view says on stderr what a run does. A command that nothing was asked for but to be run says nothing.
type view struct {
	screen   *term.Screen
	stderr   io.Writer // the same, for what a command has said
	settings *config.Settings
	name     string
	how      string  // the command that goes on with a session of it; empty if there is none
	login    string  // what to type when its credentials are not good
	stop     func()  // ends the countdown or the pulse that runs now
	status   *status // what an agent does; nil for other commands
	stopping *time.Timer
	notices  notices
	ownWords bool // what the command itself says of its failure is enough
}

// observe implements engine.Runner.Observe.
func (v *view) observe(e belaytype.Event) {
	v.notices.observe(v, e)
	switch e := e.(type) {
	case belaytype.AttemptStarted:
		v.verbosely(fmt.Sprintf("attempt %d: started %s as process %d", e.Attempt, e.Command, e.PID))
		if e.Held && !v.settings.Quiet {
			v.begin(v.pulse(e.Command))
		}
	case belaytype.AttemptFailed:
		v.end()
		if v.status != nil {
			v.status.restart() // here: when it is said that another attempt has started, that may already have told what it does
		}
		text := "verdict: " + string(e.Verdict.Class)
		if e.Verdict.Rule != "" {
			text += " (rule " + e.Verdict.Rule + ")"
		}
		v.verbosely(text)
		if v.settings.Verbose {
			io.Copy(v.stderr, e.Stderr.Reader())
		}
		if e.Round > 0 {
			v.say(fmt.Sprintf("%s; continuing, round %d of %d", e.Message, e.Round, e.Of))
		}
		if e.Renewed {
			v.say(message.LoginRenewed(v.name))
		}
	case belaytype.Waiting:
		v.wait(e)
	case belaytype.AtGate:
		v.atGate(e)
	case belaytype.ScopeBusy:
		v.say(message.ScopeBusy(e.Key, command.ShortIDs(e.Holders), e.Replaced))
	case belaytype.GateTrouble:
		switch {
		case errors.Is(e.Err, gate.ErrDamaged):
			v.line(fmt.Sprintf("gate %s was reset: %v", e.Key, e.Err))
		case errors.Is(e.Err, errors.ErrUnsupported): // only slots need locks
			v.line(fmt.Sprintf("--max-parallel cannot be enforced at gate %s: %v", e.Key, e.Err))
		default:
			v.line(fmt.Sprintf("gate %s cannot be used for this run: %v", e.Key, e.Err))
		}
	case belaytype.GateFailing:
		v.say(fmt.Sprintf("%s has failed %d times in a row; after %d failures gate %s blocks all calls for a while", v.name, e.Failures, e.Of, e.Key))
	case belaytype.InnerRetry:
		v.innerRetry(e)
	case belaytype.SessionGone:
		v.say(sessionGone(e))
	case belaytype.Plain:
		v.say(fmt.Sprintf("%s rejects %s, which belay added. Starting it as you wrote it and reading only its exit code and text", v.name, e.Option))
	case belaytype.UnknownOption:
		v.verbosely(fmt.Sprintf("belay does not know %s's option %s. Starting it as you wrote it and reading only its exit code and text", v.name, e.Option))
	case belaytype.UntestedVersion:
		dir, _ := state.DefaultDir() // without one there is no certificate
		v.verbosely(fmt.Sprintf("%s %s is %s%s", v.name, e.Version, e.Standing, certificate.Hint(dir, profile.Find(v.name), e.Version)))
	case belaytype.ModelSubstitution:
		v.say(message.OtherModel(v.name, e.Asked, e.Used))
	case belaytype.AlertRaised:
		v.line(command.AlertText(e))
	case belaytype.FoundDone:
		v.say(fmt.Sprintf("%s failed, but the change had been made: %s", v.name, strings.TrimSpace(e.Output)))
	case belaytype.StdinSilent:
		if e.Awaited {
			v.say(message.StdinSilent(v.name))
		} else {
			v.say(message.StdinSkipped(e.For))
		}
	case belaytype.OwnLogTrouble:
		if e.Asked {
			v.line(fmt.Sprintf("cannot write the log in %s: %v", e.Dir, e.Err))
		} else {
			v.verbosely(fmt.Sprintf("no log in %s: %v", e.Dir, e.Err))
		}
	case belaytype.CostNotice:
		v.costNotice(e)
	case belaytype.Checking:
		v.end()
		v.verbosely("running the check: " + e.Command)
		if v.status != nil {
			v.begin(v.pulse(v.name))
		}
	case belaytype.FellBack:
		v.fellBack(e)
	case belaytype.FallbackSkipped:
		v.say(fmt.Sprintf("not falling back to %s: %s", e.Fallback, e.Why))
	case belaytype.WaitOver:
		v.end()
	case belaytype.Stopping:
		v.verbosely(fmt.Sprintf("stopping %s (%s)", v.name, e.Reason))
		// Most commands end at once. Only if this one does not, it is worth a line.
		v.stopping = time.AfterFunc(2*time.Second, func() {
			v.line(fmt.Sprintf("waiting for %s to stop; interrupt again to kill it", v.name))
		})
	case belaytype.LeftRunning:
		v.say(fmt.Sprintf("%s left processes running: %s. To end them with the run, use --reap", v.name, strings.Join(left(e.Processes), ", ")))
	case belaytype.Reclaimed:
		v.say(message.Reclaimed(left(e.Processes)))
	case belaytype.StateTrouble:
		v.line(message.NoRecord(e.Without, e.Err))
	case belaytype.ScopeTrouble:
		v.line(fmt.Sprintf("scope %s cannot be enforced for this run: %v", e.Key, e.Err))
	case belaytype.LogLarge:
		if e.Own {
			v.say(fmt.Sprintf("%s's own log is larger than 100 MiB: %s. Move it away, or turn it off with --log-dir none", v.name, e.Path))
			return
		}
		v.say(fmt.Sprintf("the log is larger than 100 MiB: %s. To remove old entries: belay prune --older-than 90d", e.Path))
	}
}

// unread says which variables of the environment look like a setting of ours and have no effect.
func (v *view) unread() {
	for _, u := range v.settings.Unread {
		if u.Instead != "" {
			v.say(u.String())
		}
	}
}

// wait announces a retry and counts down to it.
func (v *view) wait(e belaytype.Waiting) {
	if v.settings.Quiet {
		return
	}
	// A hint is a floor; where the back-off is longer, it is not what decided. When a plan's limit ends is told and not requested, and what was
	// inferred was not even told.
	hint := e.Verdict.Hint.Wait(time.Now())
	asked := hint > 0 && e.Wait < hint+hint/8+time.Second/8 && !e.Verdict.Hint.Inferred && e.Verdict.Class != verdict.UsageLimit
	what := e.Message
	if e.Verdict.Class.Throttle() || e.Verdict.Class == verdict.Overloaded { // what it said says no more
		what = message.Failed(v.name, e.Verdict.Class, "")
	}
	text := message.Retrying(what, e.Retry, e.Of, e.Wait, asked)
	if e.Resume != "" {
		text = message.Sentences(text, "to continue then sends about "+e.Resume)
	}
	v.line(text)
	if e.Wait >= 2*time.Second {
		v.begin(v.screen.Countdown(message.Retry(e.Retry, e.Of), e.Until))
	}
}

// innerRetry says that the command waits and tries again by itself.
func (v *view) innerRetry(e belaytype.InnerRetry) {
	if e.Ended {
		v.verbosely(fmt.Sprintf("stopping %s: another retry is not allowed or cannot help (%s)", v.name, e.Verdict.Evidence))
		return
	}
	v.say(message.InnerRetry(v.name, e.Verdict.Class, e.Verdict.Evidence, e.Wait))
}

// atGate says which gate is waited at, why, until when, and what lifts it.
func (v *view) atGate(e belaytype.AtGate) {
	if v.settings.Quiet {
		return
	}
	if e.Refusal.Until.IsZero() {
		v.end()
	}
	v.line(message.AtGate(e.Key, e.Refusal))
	if !e.Refusal.Until.IsZero() {
		v.begin(v.screen.Countdown("gate "+e.Key, e.Refusal.Until))
	}
}

// postponed says when the command starts, and counts down to it.
func (v *view) postponed(p engine.Postponed) {
	if v.settings.Quiet {
		return
	}
	v.end()
	v.line(detach.PostponedText(v.name, p))
	if v.screen.IsTerminal() { // elsewhere a line a minute would be hundreds in a night
		v.begin(v.screen.Countdown(message.Start(v.name), p.Until))
	}
}

// costNotice says what there is to know of a limit on cost.
func (v *view) costNotice(e belaytype.CostNotice) {
	switch {
	case errors.Is(e.Err, budget.ErrDamaged) && e.Budget != "":
		v.line(fmt.Sprintf("budget %s was reset: %v", e.Budget, e.Err))
	case e.Err != nil && e.Budget != "":
		v.line(message.BudgetOff(e.Budget, e.Err))
	case e.Err != nil:
		v.line(fmt.Sprintf("runs inside this one do not count towards its --max-cost: %v", e.Err))
	case e.Unknown:
		v.say(fmt.Sprintf("the cost of this attempt is unknown and not counted in budget %s", e.Budget))
	default:
		v.say(fmt.Sprintf("budget %s is nearly used up ($%.2f of $%g)", e.Budget, e.Spent, e.Limit))
	}
}

// done says how it ended, if there is anything to say.
func (v *view) done(r *belaytype.Result, err error) {
	v.end()
	if v.stopping != nil {
		v.stopping.Stop()
	}
	_, isRequested := errors.AsType[*command.StopRequested](err)
	switch {
	case r.Success:
		if r.Attempts == 0 && r.Check != nil {
			v.say("nothing to do: the check succeeds already")
		}
		if r.Attempts > 1 {
			v.verbosely(fmt.Sprintf("%s succeeded at attempt %d after waiting %s", v.name, r.Attempts, printable.Span(r.Waited)))
		}
		if v.settings.MaxCost > 0 && r.Usage.CostUSD == nil && r.Usage.CostUnknown() {
			v.say("the cost of this run is unknown, so --max-cost was not enforced. To see which models have a price: belay prices")
		}
	case isRequested && r.Verdict.Class == verdict.Interrupted: // who sits here does not know
		v.line(r.Error)
		v.continueWith(r)
	case v.ownWords && r.Attempts == 1 && r.ChildCode >= 0 && !r.Silent && !stoppedByLimit(r):
	case r.Attempts > 0 && r.ExitCode == r.ChildCode && len(r.Errors) <= 1 && !v.settings.Asked() && !r.MayBeDone && !r.Silent:
		// The command has said it itself, but it does not know that belay can begin a new session, or repair one.
		v.mendable(r)
		if r.Verdict.Class == verdict.SessionNotFound && v.settings.Resume != "" {
			v.say("to start a new session if there is none: --resume-or-new " + v.settings.Resume)
		}
	case r.Verdict.Class == verdict.Interrupted && r.Verdict.Rule != "no-result", r.ExitCode == brokenPipe:
		v.verbosely(r.Error)
		v.continueWith(r)
	default:
		next := v.continuation(r, err)
		v.line(message.WithoutLater(r.Error, next != ""))
		if r.Verdict.Evidence != "" && (r.Verdict.Class == verdict.Timeout || r.Verdict.Class == verdict.Stalled) {
			for line := range strings.SplitSeq(r.Verdict.Evidence, "\n") {
				v.line("  last output: " + line)
			}
		}
		v.lastChecked(r.Check)
		if r.Verdict.Class == verdict.Auth && v.login != "" {
			v.say("to log in: " + v.login)
		}
		if !v.mendable(r) && next != "" {
			v.say(next)
		}
	}
	if r.Worktree != nil {
		for _, line := range command.Worked(r.Worktree, r.ID) {
			v.say(line)
		}
	}
}

// sessionGone says what takes the place of a session.
func sessionGone(e belaytype.SessionGone) string {
	switch {
	case e.Repaired != "":
		return fmt.Sprintf("%s. Continuing a repaired copy: session %s", e.Why, e.Repaired)
	case e.Why != "":
		return e.Why + ". Starting a new session that is told what was done"
	}
	return fmt.Sprintf("session %s no longer exists; starting a new one", e.ID)
}

// mendable says what can be done about a session whose history the service rejects, and whether that was the case.
func (v *view) mendable(r *belaytype.Result) bool {
	d := profile.Find(r.Profile)
	if r.Verdict.Class != verdict.SessionBroken || r.Session == "" || d == nil || d.Records == nil {
		return false
	}
	v.say("the service rejects the history of this session. To repair a copy: belay sessions repair " + r.Session)
	return true
}

// stoppedByLimit reports whether a run ended because a limit of Belay's was reached, of which the command knows nothing.
func stoppedByLimit(r *belaytype.Result) bool {
	return slices.Contains([]string{"timeout", "total-timeout", "stall", alert.RuleMaxCost, alert.RuleBudget}, r.Verdict.Rule)
}

// continueWith says how to continue the session of an agent that was interrupted, if there is one.
func (v *view) continueWith(r *belaytype.Result) {
	if r.Session != "" && v.how != "" {
		v.say(message.Continue(r.Session, v.how))
	}
}

// continuation says how to continue the session of an agent that has worked and could not finish; empty if there is nothing to
// continue, or nothing to be said.
func (v *view) continuation(r *belaytype.Result, err error) string {
	_, spent := errors.AsType[*belaytype.MaxCostReached](err)
	unfinished := r.ExitCode == engine.CodeTryLater && r.Usage.OutputTokens > 0
	if r.Session == "" || v.how == "" || v.settings.Quiet || !spent && !unfinished {
		return ""
	}
	return message.Continue(r.Session, v.how)
}

// brokenPipe is the exit code of a command whose reader has left, as head does.
const brokenPipe = 128 + 13

// pulse shows that a command is at work.
func (v *view) pulse(command string) (stop func()) {
	if v.status == nil {
		return v.screen.Pulse(message.StillRunning(command))
	}
	return v.screen.Status(v.status.inPlace, v.status.plain)
}

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

// line prints a message, also with --quiet.
func (v *view) line(text string) { v.screen.Line("%s", text) }

func (v *view) say(text string) {
	if !v.settings.Quiet {
		v.line(text)
	}
}

func (v *view) verbosely(text string) {
	if v.settings.Verbose {
		v.line(text)
	}
}

// left are the processes of an event, as list has them.
func left(procs []belaytype.Process) (names []string) {
	for _, p := range procs {
		names = append(names, supervise.Proc{PID: p.PID, Name: p.Name}.String())
	}
	return names
}
