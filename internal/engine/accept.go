package engine

import (
	"cmp"

	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// accept decides on a success: it counts if its check passes, or if there is none. Otherwise the session of an agent is told why, and goes on;
// what has no session is started again where retries were asked for.
func (f *finisher) accept(n int, j *judgement) decision {
	k, c := f.inv.checker, f.cand.call
	if k == nil {
		return decision{over: true}
	}
	found := k.look(f.cand, n, j.output(), j.transcript.Output().Lost())
	if d := f.settled(j, &found); d != nil {
		return *d
	}
	k.refuse(j, &found)
	again := !found.broken || found.how != k.how // else another round would not help
	k.how = found.how
	reached := f.cand.spending.Check()
	switch {
	case reached != nil:
		j.verdict, j.message = spending.CostVerdict(reached), c.CauseText(reached)
		j.stopCode = CodeTryLater // with more money it goes on
		return decision{over: true, stop: spending.CostStop(reached)}
	case again && k.rounds < c.Settings.Check.Most() && f.decider.mayStart() && f.cand.kind.sendBack(j, k.tell(&found)):
		k.rounds++
		f.decider.count(verdict.NotDone)
		return decision{round: true}
	case again && k.rounds == 0 && c.Settings.Check.Repeat:
		j.verdict.Retryable = true
		return f.decider.decide(j)
	}
	return decision{over: true, stop: &retry.Error{Cause: cmp.Or(found.err, error(retry.ErrPermanent))}}
}

// settled is the decision on a check after which there is nothing to decide: it has passed, was stopped with the run, or could not be made. Else it is nil.
func (f *finisher) settled(j *judgement, found *finding) *decision {
	j.check = f.inv.checker.entry(found)
	cause := f.decider.ended()
	switch {
	case found.Passed:
		return &decision{over: true}
	case cause != nil:
		j.cutShort(f.cand.call, message.StoppedInCheck, cause)
	case found.unmade:
		f.inv.checker.refuse(j, found)
		j.stopCode, cause = CodeFailed, found.err
	default:
		return nil
	}
	return &decision{over: true, stop: &retry.Error{Cause: cause}}
}

// doneAlready looks, before the first attempt, whether there is anything to do: the judgement is nil if there is. stop is why there is no attempt
// though there is.
func (f *finisher) doneAlready() (j *judgement, stop *retry.Error) {
	k, ground := f.inv.checker, f.inv.ground
	first := k != nil && f.cand.call.Settings.Check.First
	if first || ground.ofTask() {
		if refused := ground.ready(f.cand, 0); refused != nil {
			j = judgeRefusal(refused)
			return j, f.refusal(j)
		}
	}
	if ground != nil && ground.done {
		return &judgement{code: -1, verdict: verdict.Verdict{Class: verdict.OK, Rule: "worktree"}}, nil
	}
	if !first {
		return nil, nil
	}
	found := k.look(f.cand, 0, nil, nil)
	j = &judgement{code: -1, verdict: verdict.Verdict{Class: verdict.OK, Rule: "check-first"}}
	if d := f.settled(j, &found); d != nil {
		return j, d.stop
	}
	k.last = nil // it is not what the work is judged by
	return nil, nil
}
