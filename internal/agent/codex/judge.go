package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Judge implements agent.Reader.
func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	errs := readStderr(o.Stderr)
	f.Over = true
	if f.Guess && errs.session != "" && !f.Plain {
		f.dropEvents() // only the plain form has that header: what looked like events was the answer
	}
	if f.Plain {
		f.Session, f.Version, f.Active = errs.session, errs.version, errs.active
	}
	v := f.judge(o, errs, now)
	f.Misread = f.Misread || misunderstood(o, f.Added)
	v.SessionID, v.Usage = f.Session, f.usage
	return v
}

// dropEvents drops what was taken for events.
func (f *follower) dropEvents() {
	*f = follower{Attempt: agent.Attempt{Plain: true, Guess: true, Asked: f.Asked, Added: f.Added, ResumeID: f.ResumeID, Over: f.Over, Said: f.Lines > 0},
		resumes: f.resumes, reviews: f.reviews, start: f.start, from: f.from, home: f.home, silentLimit: f.silentLimit, prices: f.prices, model: f.model}
}

func (f *follower) judge(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	if v, other := f.OtherSession(Name, "thread"); other {
		return v
	}
	if f.resumes && f.ResumeID == "" && f.isNewThread() {
		return verdict.Verdict{Class: verdict.SessionNotFound, Rule: "new-thread",
			Evidence: fmt.Sprintf("codex found nothing to resume and began a new thread %s", f.Session)}
	}
	if v, ok := verdict.EndedBySignal(o); ok {
		return v
	}
	if v, ok := verdict.EndedByCode(o); ok {
		return v
	}
	switch {
	case o.ExitCode == 0 && (f.completed || f.Plain && errs.session != "") && f.onlyEmptyAnswer(o, errs):
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "empty-answer", Evidence: "exit 0 without an answer, and no tool has done anything"}
	case o.ExitCode == 0 && f.completed:
		return verdict.Verdict{Class: verdict.OK, Rule: "turn-completed"}
	case o.ExitCode == 0 && f.Plain:
		if v, ok := agent.WrongForm(f.Asked, nil, o.Stdout.Text()); ok {
			return v
		}
		return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
	case o.ExitCode == 101:
		return verdict.Verdict{Class: verdict.Crash, Rule: "panic", Evidence: cmp.Or(agent.Evidence(errs.text), "exit 101")}
	case f.failure != "":
		f.unseen += f.unseenAtFailure
		return f.turnFailed(now)
	case f.Session == "":
		return f.neverStarted(o, errs, now)
	case errs.failure != "" && (f.Plain || !f.Active): // else it may be a tool's: in old versions they write there too
		return f.byComplaint(o, errs, now)
	case o.ExitCode == 0:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-result", Evidence: "exit 0 without turn.completed"}
	case o.ExitCode == 1 && !f.completed && !f.Plain:
		// At SIGINT codex stops silently. Every failure of its own it reports.
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "no-word", Evidence: "exit 1 without a word"}
	}
	return verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code", Evidence: cmp.Or(agent.Evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))}
}

// isNewThread reports whether the thread began with this attempt: when it did is in its id.
func (f *follower) isNewThread() bool {
	at, ok := begunAt(f.Session)
	return ok && !f.start.IsZero() && !at.Before(f.start.Truncate(time.Millisecond))
}

// onlyEmptyAnswer reports whether a turn has no answer, and no tool has done anything. Not every tool is told of, but
// codex's record has how often the model was asked: once more after each.
func (f *follower) onlyEmptyAnswer(o verdict.Outcome, errs complaint) bool {
	if f.Said || f.Worked || errs.hasAnswerText || errs.worked || o.Stderr.Truncated() && f.Plain {
		return false
	}
	r, ok := f.rollout()
	return !ok || len(r.calls) <= 1
}

// turnFailed judges by the message of the turn, and where that means nothing to us by codex's record.
func (f *follower) turnFailed(now time.Time) verdict.Verdict {
	v := classify(f.failure, now)
	if v.Class == verdict.Unknown {
		if r, ok := f.rollout(); ok {
			if w, ok := judgeByInfo(r.failure, now); ok {
				w.Evidence = v.Evidence
				return w
			}
		}
	}
	return v
}

// byComplaint judges by codex's last message on stderr. The plain form prints there what the model and its tools say, so that
// plain signals count only where there is none of that.
func (f *follower) byComplaint(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	v := classify(errs.failure, now)
	if v.Class == verdict.Unknown && !f.Plain {
		if w, ok := lastResort(o, complaint{text: complaints[0] + errs.failure}, now); ok {
			return w
		}
	}
	return v
}

// lastResort judges by the plain signals in what codex itself has written.
func lastResort(o verdict.Outcome, errs complaint, now time.Time) (verdict.Verdict, bool) {
	return verdict.LastResort(verdict.Outcome{ExitCode: o.ExitCode, Stderr: verdict.ExcerptOf(errs.text)}, now)
}

// neverStarted judges a run without a thread. No model and no tool has run, so that all of stderr is codex's own.
func (f *follower) neverStarted(o verdict.Outcome, errs complaint, now time.Time) verdict.Verdict {
	if o.ExitCode == 0 {
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-result", Evidence: "exit 0 without an event"}
	}
	v := classifyExit(cmp.Or(errs.failure, errs.text), o.ExitCode, now)
	if v.Class == verdict.Unknown && errs.failure != "" {
		v = classifyExit(errs.text, o.ExitCode, now)
	}
	if v.Class == verdict.Unknown && !f.Said {
		if w, ok := lastResort(o, errs, now); ok {
			v = w
		}
	}
	if v.Hint.IsZero() && (v.Retryable || v.Class.Throttle()) {
		v.Hint, _ = verdict.ParseHint(errs.text, now)
	}
	if v.Class == verdict.Unknown {
		v.Rule, v.Evidence = "exit-code", cmp.Or(agent.Evidence(errs.text), fmt.Sprintf("exit %d", o.ExitCode))
	}
	return v
}

// misunderstood reports whether codex did not take an option of ours.
func misunderstood(o verdict.Outcome, added []string) bool {
	if o.ExitCode != 2 {
		return false
	}
	return slices.ContainsFunc(added, func(option string) bool {
		return strings.Contains(o.Stderr.Text(), "unexpected argument '"+option+"'")
	})
}
