package codex

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Judge implements agent.Follower.
func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	errs := readStderr(o.Stderr)
	f.over = true
	if f.guess && errs.session != "" && !f.plain {
		f.forget() // only the plain form has that header: what looked like events was the answer
	}
	if f.plain {
		f.session, f.version, f.active = errs.session, errs.version, errs.active
	}
	v := f.judge(o, errs, now)
	f.misread = f.misread || misunderstood(o, f.added)
	v.SessionID, v.Usage = f.session, f.usage
	return v
}

// forget drops what was taken for events.
func (f *follower) forget() {
	*f = follower{plain: true, guess: true, added: f.added, wanted: f.wanted, resumes: f.resumes, start: f.start, from: f.from, home: f.home, silent: f.silent, over: f.over}
}

func (f *follower) judge(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	if f.wanted != "" && f.session != "" && !strings.EqualFold(f.wanted, f.session) {
		return verdict.Verdict{Class: verdict.SessionNotFound, Rule: "other-session",
			Evidence: fmt.Sprintf("codex began a new thread %s instead of resuming %s", f.session, f.wanted)}
	}
	if v, ok := verdict.EndedBySignal(o); ok {
		return v
	}
	if v, ok := verdict.EndedByCode(o); ok {
		return v
	}
	switch {
	case o.ExitCode == 0 && f.completed:
		return verdict.Verdict{Class: verdict.OK, Rule: "turn-completed"}
	case o.ExitCode == 0 && f.plain:
		return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
	case o.ExitCode == 101:
		return verdict.Verdict{Class: verdict.Crash, Rule: "panic", Evidence: cmp.Or(evidence(errs.text), "exit 101")}
	case f.failure != "":
		f.unseen += f.atLast
		return f.turnFailed(now)
	case f.session == "":
		return f.neverStarted(o, errs, now)
	case errs.failure != "":
		return classify(errs.failure, now)
	case o.ExitCode == 0:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-result", Evidence: "exit 0 without turn.completed"}
	case o.ExitCode == 1 && !f.completed && !f.plain:
		// At SIGINT codex stops without a word. Every failure of its own it tells.
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "no-word", Evidence: "exit 1 without a word"}
	}
	return verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code", Evidence: cmp.Or(evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))}
}

// turnFailed judges by the message of the turn, and where that means nothing to us by codex's record.
func (f *follower) turnFailed(now time.Time) verdict.Verdict {
	v := classify(f.failure, now)
	if v.Class == verdict.Unknown {
		if r, ok := f.rollout(); ok {
			if w, ok := recorded(r.failure, now); ok {
				w.Evidence = v.Evidence
				return w
			}
		}
	}
	return v
}

// neverStarted judges a run without a thread. No model and no tool has had a say, so that all of stderr is codex's own.
func (f *follower) neverStarted(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	if o.ExitCode == 0 {
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-result", Evidence: "exit 0 without an event"}
	}
	v := classifyExit(cmp.Or(errs.failure, errs.text), o.ExitCode, now)
	if v.Class == verdict.Unknown && errs.failure != "" {
		v = classifyExit(errs.text, o.ExitCode, now)
	}
	if v.Class == verdict.Unknown {
		v.Rule, v.Evidence = "exit-code", cmp.Or(evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))
	}
	return v
}

// misunderstood reports whether codex did not take an option of ours.
func misunderstood(o verdict.Outcome, added []string) bool {
	if o.ExitCode != 2 {
		return false
	}
	for _, option := range added {
		if strings.Contains(o.Stderr.Text(), "unexpected argument '"+option+"'") {
			return true
		}
	}
	return false
}
