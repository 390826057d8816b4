package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/trace"
	"github.com/belay-run/belay/internal/worktree"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// recorder puts the attempts of an invocation on record, one line each.
type recorder struct {
	cand     *candidate
	requests int   // on record
	peak     int64 // of memory, of all attempts, and that of the whole tree
	tree     int64
	hash     string // of the prompt, once it is known: fallbacks are asked the same
	troubled bool   // with the agent's own log
}

// sequel is what comes after an attempt: another one, or the end.
type sequel struct {
	wait time.Duration // for the next attempt, if all goes as planned
	why  string        // it goes on so, or ends; empty where the attempt says it
	// The end. stop is why there is no further attempt, and code what Belay ends with; nil if it goes on.
	stop      *retry.Error
	exhausted bool
	code      *int
}

// line puts one attempt on record.
func (b *recorder) line(n int, j *judgement, s sequel) {
	if j.account.Unused {
		return
	}
	e := b.entry(j.account.Dir)
	j.attribute(b.cand.call.Traits.Provider)
	e.ExitCode, e.BelayCode, e.Why, e.Session, e.Model = j.code, s.code, s.why, j.verdict.SessionID, j.verdict.Model
	if j.verdict.Class == verdict.SessionNotFound {
		e.Session = "" // there is none of that name
	}
	if j.exit.Signal != 0 {
		e.Signal = call.SignalName(j.exit.Signal)
	}
	if j.started() && !j.recorded { // else what is known is that of an earlier attempt
		e.Attempt, e.ResponseTime, e.CPUTime = n, j.exit.Duration.Seconds(), j.exit.CPU.Seconds()
		e.Usage, e.Requests, e.Left, e.Killed = j.account.Usage.JSON(), j.account.Requests+j.asked, len(j.left), j.killed
		e.PeakMemory, e.PeakTree = int(j.exit.Peak), int(j.exit.TreePeak)
		b.peak, b.tree = max(b.peak, j.exit.Peak), max(b.tree, j.exit.TreePeak)
		j.transcript.Describe(&e, &j.account)
	}
	e.Check = j.check
	if g := b.cand.ground; s.code != nil && g != nil && g.result != nil {
		w := g.result
		e.Worktree = fmt.Sprintf("%s on %s: %s", w.State, w.Branch, worktree.Changed(w))
	}
	b.cand.kind.describe(&e, j)
	j.asked = 0
	b.requests += e.Requests
	b.cand.pace.Waits.Record(&e, s.wait)
	if b.hash == "" {
		b.hash = b.promptHash()
	}
	e.PromptHash, e.Prompt = b.hash, b.prompt()
	if j.verdict.Class != verdict.OK {
		b.fault(&e, j)
		switch {
		case s.stop == nil:
			e.Status = journal.Retry
		case s.exhausted:
			e.Status = journal.Exhausted
		default:
			e.Status = journal.Error
		}
		if s.stop != nil {
			e.RetryAt.Time = s.stop.NotBefore
		}
	}
	b.ownLog(e)
	b.cand.call.Append(e)
}

// entry is an entry with what all of an invocation have. dir is where the agent has worked, if that is not where it was started.
func (b *recorder) entry(dir string) journal.Entry {
	c := b.cand.call
	e := c.Entry()
	if dir != "" {
		e.Project = label.Project(dir)
	}
	e.Profile, e.Fallback, e.Command, e.Gate, e.Traceparent = c.Profile.Name(), b.cand.fallback, c.Command.Name(), c.GateKey(), trace.OfEnviron(c.Env)
	if c.Settings.Telemetry {
		e.Telemetry, e.Provider = &c.Settings.Telemetry, c.Traits.Provider
	}
	return e
}

// turn puts a turn of a conversation on record. The line of the attempt, when the conversation is over, counts its usage too.
func (b *recorder) turn(r transcript.TurnReport) {
	e := b.entry(r.Dir)
	e.Kind, e.Event, e.Session, e.Model = journal.Turn, "ended", r.Verdict.SessionID, r.Model
	e.Detail, _ = json.Marshal(map[string]int{"turn": r.Number})
	e.ResponseTime, e.Usage, e.Requests, e.InnerRetries, e.Tools = transcript.Milliseconds(r.Took), r.Usage.JSON(), r.Requests, r.Inner, r.Tools
	if v := r.Verdict; v.Class != verdict.OK {
		e.Status, e.ErrorType, e.Rule, e.Error = journal.Error, v.Class, v.Rule, message.Failed(e.Command, v.Class, v.Evidence)
		e.Provider, e.RetryAt.Time = b.cand.call.Traits.Provider, v.Hint.At
		e.HTTPStatus = statusOf(v, r.Status)
	}
	b.cand.call.Append(e)
}

// fault fills in what went wrong, whose service it was, what that has answered, and whether a repetition is worth while,
// where the class does not say so.
func (b *recorder) fault(e *journal.Entry, j *judgement) {
	e.ErrorType, e.Error, e.Rule = j.verdict.Class, j.message, j.verdict.Rule
	e.Provider, e.HTTPStatus = j.verdict.Provider, j.verdict.HTTPStatus
	if worth := j.verdict.Retryable; worth != j.verdict.Class.Retryable() {
		e.Retryable = &worth
	}
}

// promptHash tells prompts apart without keeping them: all that the command was asked, in its arguments, beside them and
// on stdin. Empty if that was nothing.
func (b *recorder) promptHash() string {
	text, ok := b.asked()
	if !ok {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// asked is what was asked; ok is false if nothing was.
func (b *recorder) asked() (text string, ok bool) {
	text = strings.Join(b.cand.kind.prompts(), "")
	if beside := b.cand.call.Command.Prompt; beside != nil {
		return text + *beside, true
	}
	return text, text != ""
}

// What is kept of a prompt, in characters, and what is looked at for that, in bytes: a secret that is cut would not be known as one.
const keptPrompt, seenPrompt = 80, 64 << 10

// prompt is how the prompt begins, without secrets; empty if that is not to be kept.
func (b *recorder) prompt() string {
	c := b.cand.call
	if !c.Settings.KeepPrompt {
		return ""
	}
	text, _ := b.asked()
	secrets := redact.Known{Env: c.Env}
	text = secrets.Text(strings.ToValidUTF8(text[:min(len(text), seenPrompt)], ""))
	runes := []rune(strings.TrimSpace(printable.Line(text)))
	if len(runes) > keptPrompt {
		runes = append(runes[:keptPrompt-1], '…')
	}
	return string(runes)
}

// ownLog also puts an attempt of an agent on record where scripts around it look: in a file in the directory .logs where it
// runs, or where the caller says.
func (b *recorder) ownLog(e journal.Entry) {
	c := b.cand.call
	e.Prompt = "" // others read what is in a directory
	if c.Traits.OwnLog == "" || c.Settings.LogDir == call.NoLogDir || c.Settings.LogDir == "" && c.Settings.State == nil {
		return
	}
	dir, asked := c.Settings.LogDir, c.Settings.LogDir != ""
	if !asked {
		dir = filepath.Join(cmp.Or(c.CallerDir, c.Dir()), ".logs")
	}
	err := makeLogDir(dir, !asked)
	if err == nil {
		log := journal.Log{Path: filepath.Join(dir, c.Traits.OwnLog), Elsewhere: true, Nulls: true, Secrets: c.Secrets,
			OnLarge: func(path string) { c.Emit(belaytype.LogLarge{Path: path, Own: true}) }}
		err = log.Append(e)
	}
	if err != nil && !b.troubled {
		b.troubled = true
		c.Emit(belaytype.OwnLogTrouble{Dir: dir, Err: err, Asked: asked})
	}
}

// makeLogDir makes a directory for a log. One that was not asked for is kept out of version control, and never one that a
// link leads to: the working directory may be another user's.
func makeLogDir(dir string, unasked bool) error {
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if unasked {
			return ignoreAll(dir)
		}
		return nil
	case err != nil:
		return err
	case unasked && !info.IsDir():
		return errors.New(dir + " is not a directory")
	}
	return nil
}

// ignoreAll keeps a new directory out of version control.
func ignoreAll(dir string) error {
	f, err := safefile.CreateOwn(filepath.Join(dir, ".gitignore"))
	if errors.Is(err, os.ErrExist) {
		return nil // another run has made it meanwhile
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// count counts a failed invocation among those of its integration, and raises an alert if they have become too many. A
// command that nothing more was asked for than to be run may well end with 1, as grep does.
func (b *recorder) count(r *belaytype.Result, started bool) {
	c := b.cand.call
	known := b.cand.kind.knowsFailures() || b.cand.pace.MayRepeat()
	if !c.OnRecord() || !known || r.Success || c.Settings.Alert.Off() || !alert.Counts(string(r.Verdict.Class), r.Verdict.Rule, started) {
		return
	}
	integration := journal.Integration(c.Profile.Name(), c.Command.Name())
	e := c.Entry()
	e.Profile, e.Error = integration, r.Error
	raised, err := c.State.CountFailure(c.Log(), e, c.Settings.Alert)
	if err != nil {
		c.Live.Trouble(err)
	}
	if raised != nil {
		c.Emit(belaytype.AlertRaised{Integration: integration, Failures: raised.Failures, Within: raised.Within, Last: r.Error})
	}
}
