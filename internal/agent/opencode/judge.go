package opencode

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Judge implements agent.Reader.
func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	f.Over = true
	errs := f.readStderr(o.Stderr)
	f.Plain = f.Plain || f.Guess && f.Lines == 0 && errs.begun // only the plain form has that header
	v := f.judge(o, errs, now)
	if v.Class == verdict.SessionNotFound && f.ResumeID != "" && v.Rule == "no-session" {
		v.Evidence = "Session not found: " + f.ResumeID // opencode leaves out which
	}
	if v.Class != verdict.OK && v.Evidence == "" {
		v.Evidence = cmp.Or(agent.Evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))
	}
	f.Misread = v.Class == verdict.InvalidRequest && f.Session == "" && f.rejectsAdded(errs)
	v.SessionID = f.Session
	if f.steps > 0 || f.nothing > 0 {
		v.Usage = f.used.JSON()
	}
	return v
}

func (f *follower) judge(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	if f.ResumeID != "" && f.Session != "" && f.ResumeID != f.Session && f.Lines > 0 {
		return verdict.Verdict{Class: verdict.SessionNotFound, Rule: "other-session",
			Evidence: fmt.Sprintf("opencode began session %s instead of resuming %s", f.Session, f.ResumeID)}
	}
	if f.ResumeID != "" && f.exiting && f.Lines == 0 {
		return verdict.Verdict{Class: verdict.SessionNotFound, Rule: "other-directory",
			Evidence: fmt.Sprintf("session %s belongs to another directory, and opencode shows nothing of it here", f.ResumeID)}
	}
	if v, ok := verdict.EndedBySignal(o); ok {
		return v
	}
	if v, ok := verdict.EndedByCode(o); ok {
		return v
	}
	switch {
	case f.failure != nil: // with whichever exit code: old versions end with 0
		return f.failed(now)
	case f.Plain:
		return f.byText(o, errs, now)
	case f.Lines == 0:
		return f.neverStarted(o, errs, now)
	case o.ExitCode != 0:
		return f.byComplaint(o, errs, now)
	}
	return f.byFinish()
}

// byFinish judges a run that ended with 0 and told of no error.
func (f *follower) byFinish() verdict.Verdict {
	switch {
	case f.reason == "content-filter":
		return verdict.Verdict{Class: verdict.Refused, Rule: "content-filter", Evidence: "the answer was cut off by the provider's content filter"}
	case f.reason == "length":
		return verdict.Verdict{Class: verdict.LimitReached, Rule: "length", Evidence: "the answer was cut off at the most tokens that the model may write"}
	case f.reason == "error":
		return verdict.Verdict{Class: verdict.ServerError, Retryable: true, Rule: "finish-error", Evidence: "the last model call ended with an error"}
	case f.rejected && f.reason == "tool-calls":
		return verdict.Verdict{Class: verdict.Blocked, Rule: "permission", Evidence: "opencode stopped at a tool that it has no permission to use"}
	case f.Worked:
		return verdict.Verdict{Class: verdict.OK, Rule: "worked"}
	case f.reason == "unknown" && !f.Said:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-answer", Evidence: "the service answered with something that is not an answer"}
	case !f.Said:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "empty-answer", Evidence: "exit 0 without an answer, and no tool has done anything"}
	}
	return verdict.Verdict{Class: verdict.OK, Rule: "answer"}
}

// failed judges a run by the error that it has told of.
func (f *follower) failed(now time.Time) verdict.Verdict {
	v := f.failure.classify(now)
	if v.Rule == agent.TornBody && f.ResumeID != "" {
		v.Class = verdict.SessionBroken // it is the history that has it
	}
	if v.Class != verdict.Unknown {
		return v
	}
	if f.reasons != "" { // what the event leaves out is in the log
		if w := classifyText(f.reasons, now); w.Class != verdict.Unknown {
			w.Retryable = w.Class.Retryable()
			return w
		}
	}
	return v
}

// byText judges the plain form.
func (f *follower) byText(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	switch {
	case errs.failure != "":
		return f.byComplaint(o, errs, now)
	case o.ExitCode != 0:
		return f.neverStarted(o, errs, now)
	case !f.Said && errs.rejected:
		return verdict.Verdict{Class: verdict.Blocked, Rule: "permission", Evidence: "opencode stopped at a tool that it has no permission to use"}
	case !f.Said && !errs.worked && errs.begun:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "empty-answer", Evidence: "exit 0 without an answer, and no tool has done anything"}
	}
	if v, ok := agent.WrongForm(f.Asked, nil, o.Stdout.Text()); ok {
		return v
	}
	return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
}

// byComplaint judges by what opencode says of itself on stderr.
func (f *follower) byComplaint(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	v := classifyText(errs.failure, now)
	v.Retryable = v.Class.Retryable()
	if v.Hint.IsZero() && (v.Retryable || v.Class.Throttle()) {
		v.Hint, _ = verdict.ParseHint(errs.failure, now)
	}
	if v.Class == verdict.Unknown {
		v.Rule, v.Evidence = "exit-code", cmp.Or(agent.Evidence(errs.failure), agent.Evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))
	}
	return v
}

// neverStarted judges a run that has printed nothing on stdout: no model has said anything that could be quoted, so that all of
// stderr is opencode's own.
func (f *follower) neverStarted(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	v := classifyText(cmp.Or(errs.failure, errs.text), now)
	if o.ExitCode == 0 && errs.failure == "" && !errs.worked && v.Class != verdict.SessionNotFound { // as 1.3 ends
		// 1.15 says nothing at all of a refusal.
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-result", Evidence: "exit 0 without a word"}
	}
	if v.Class == verdict.Unknown && f.reasons != "" {
		v = classifyText(f.reasons, now)
	}
	if v.Class == verdict.Unknown && !f.Said && !errs.worked {
		if w, ok := verdict.LastResort(verdict.Outcome{ExitCode: o.ExitCode, Stderr: verdict.ExcerptOf(errs.text)}, now); ok {
			v = w
		}
	}
	v.Retryable = v.Class.Retryable()
	if v.Hint.IsZero() && (v.Retryable || v.Class.Throttle()) {
		v.Hint, _ = verdict.ParseHint(errs.text, now)
	}
	if v.Class == verdict.Unknown {
		v.Rule, v.Evidence = "exit-code", cmp.Or(agent.Evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))
	}
	return v
}

// rejectsAdded reports whether opencode did not take an option of ours. It then prints how it is used, and at the end what it
// does not know.
func (f *follower) rejectsAdded(errs complaint) bool {
	for _, option := range f.Added {
		if name, ok := strings.CutPrefix(option, "--"); ok && (strings.Contains(errs.text, "Unknown argument: "+name) || strings.Contains(errs.text, "Unknown arguments: "+name)) {
			return true
		}
	}
	return false
}

// tokens are a count in opencode's words, of one model call. Its input does not include what was cached, and its output, with some
// providers, not what the model has thought.
type tokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

func (t *tokens) none() bool { return *t == tokens{} }

// usage is what a model call has used.
func (p *part) usage() verdict.Usage {
	cost := p.Cost
	return verdict.Usage{InputTokens: p.Tokens.Input, OutputTokens: p.Tokens.Output, CacheReadInputTokens: p.Tokens.Cache.Read,
		CacheCreationInputTokens: p.Tokens.Cache.Write, CostUSD: &cost}
}

// Account implements agent.Reader. Each model call tells what it has used when it has ended, and so do its tools; what one has
// used that was cut off is not known. Those for a title, and those of subagents, are in no output.
func (f *follower) Account() agent.Account {
	a := f.Attempt.Account()
	a.Usage, a.Turns, a.Requests = f.used, f.steps, f.steps+f.Retries+f.nothing
	if f.failure != nil {
		a.Status = f.failure.Data.Status
		a.Requests++
	}
	q := f.requests[f.Session]
	a.Usage.Unknown = f.Over && f.asking && (q == nil || !q.failed)
	return a
}
