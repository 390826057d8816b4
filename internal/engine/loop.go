package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// attempts lets one candidate after another go through the stages until one of them has the result. refused is why there is
// not even a first attempt.
func (inv *Invocation) attempts(refused *admission.Refusal) {
	f := &finisher{inv: inv}
	cand, n := &inv.candidate, 1
	for {
		f.take(cand, n)
		if refused == nil && n == 1 {
			if j, stop := f.doneAlready(); j != nil {
				f.finish(n, j, stop)
				return
			}
		}
		last, j, stop := cand.run(f, n, refused)
		next := inv.fallBack(f, j, stop)
		if next == nil {
			f.finish(last, j, stop)
			return
		}
		f.giveUp(last, j, stop, next.fallback)
		if n = last; j.started() {
			n++
		}
		f.handOver(next, n, j, stop)
		cand = next
		defer cand.kind.release()
	}
}

// run goes through the stages, attempt after attempt: admission, attempt, transcript, verdict, decision, record. n is the
// number of the first one. It returns that of the last one, its judgement, and why there is no further one.
func (cand *candidate) run(f *finisher, n int, refused *admission.Refusal) (int, *judgement, *retry.Error) {
	if refused == nil {
		refused = cand.kind.begin()
	}
	if refused != nil {
		j := judgeRefusal(refused)
		return n, j, f.refusal(j)
	}
	for ; ; n++ {
		j := cand.attempt(n, f.decider.keeper)
		if j.refused {
			return n, j, f.refusal(j)
		}
		cand.kind.learn(j)
		cand.worked = cand.worked || j.worked()
		cand.checkVersion(j)
		cand.kind.complete(j)
		d := f.decider.decide(j)
		if d.over && d.stop == nil {
			d = f.accept(n, j)
		}
		switch {
		case d.over:
			return n, j, d.stop
		case d.restart:
			f.recorder.line(n, j, sequel{})
			f.errors = append(f.errors, j.message)
			j.discard()
			continue
		}
		f.recorder.line(n, j, sequel{wait: d.wait.length, why: d.why()})
		f.errors = append(f.errors, j.message)
		failed := belaytype.AttemptFailed{Attempt: n, Verdict: j.verdict, Message: j.message, Stderr: j.stderr(), Renewed: d.renewed}
		if d.round {
			failed.Round, failed.Of = f.inv.checker.rounds, cand.call.Settings.Check.Most()
		}
		cand.call.Emit(failed)
		f.putAside(j)
		if !d.round {
			cand.kind.repeat(j)
		}
		if d.round || d.renewed {
			cand.call.Live.Update(supervise.StateRunning, n+1, "", time.Time{})
			continue
		}
		if err := f.decider.await(n, j, d.wait); err != nil {
			j.cutShort(cand.call, message.StoppedBetween, err)
			j.recorded = true
			return n, j, &retry.Error{Cause: err}
		}
	}
}

// attempt makes one attempt, when the gate lets it, and judges it.
func (cand *candidate) attempt(n int, keeper *admission.Gatekeeper) *judgement {
	if reached := cand.spending.Check(); reached != nil {
		return judgeRefusal(admission.RefuseCost(reached, cand.call))
	}
	waited := cand.pace.Waits.Before
	ad, refused := keeper.Admit(n)
	if refused != nil {
		return judgeRefusal(refused)
	}
	var j *judgement
	if reached := cand.spentAtGate(waited); reached != nil {
		j = judgeRefusal(admission.RefuseCost(reached, cand.call))
	} else {
		j = cand.admitted(n, ad)
	}
	if j.transcript != nil && j.transcript.ToldOfTurns() {
		ad.EndTalk()
	} else {
		ad.Report(j.verdict, j.unhealthy(), cand.call.Command.Name(), j.code)
	}
	keeper.Warn(j.verdict, ad.Gated() && j.started())
	return j
}

// spentAtGate says which limit on cost was reached while the attempt waited at the gate; waited is what had been waited
// before.
func (cand *candidate) spentAtGate(waited time.Duration) *belaytype.MaxCostReached {
	if cand.pace.Waits.Before == waited {
		return nil
	}
	return cand.spending.Check()
}

// admitted makes an attempt that was let in.
func (cand *candidate) admitted(n int, ad admission.Admission) *judgement {
	defer cand.login.Begin(cand.call, cand.pace, n)()
	if cause := context.Cause(cand.pace.Ctx); cause != nil {
		return judgeRefusal(cand.pace.CutShort(cand.call, cause))
	}
	if refused := diskRefusal(cand.call); refused != nil {
		return judgeRefusal(refused)
	}
	if refused := cand.ground.ready(cand, n); refused != nil {
		return judgeRefusal(refused)
	}
	l, t, err := cand.kind.prepare(n, ad, cand.turnOver)
	if err != nil {
		return judgeRefusal(unplanned(err))
	}
	e := cand.start(n, l, ad)
	if e.started() {
		t.End()
	}
	j := cand.judge(e, t)
	if e.started() {
		cand.cleanUp(j)
	}
	return j
}

// diskRefusal is why an attempt is not started: a disk has less free than must stay free; nil if none has.
func diskRefusal(c *call.Call) *admission.Refusal {
	limit := c.Settings.Ceilings.FreeDisk
	if limit <= 0 {
		return nil
	}
	x := supervise.FreeDisk(disks(c), limit)
	if x.Value >= limit {
		return nil
	}
	why := fmt.Sprintf("%s was not started: %s", c.Command.Name(), transcript.LowDisk(&x))
	return &admission.Refusal{Code: -1, StopCode: CodeTryLater, Message: why, Barred: true, Stop: &retry.Error{Cause: retry.ErrPermanent},
		Verdict: verdict.Verdict{Class: verdict.Resources, Retryable: true, Rule: RuleResources, Evidence: why, Sent: verdict.SentNo}}
}

// checkVersion says, once, that the CLI is not of a version that its profile is tested with.
func (cand *candidate) checkVersion(j *judgement) {
	if cand.versionSaid || j.transcript == nil {
		return
	}
	version := j.transcript.Version()
	if standing := cand.call.Traits.Tested.Standing(version); standing != "" {
		cand.versionSaid = true
		cand.call.Emit(belaytype.UntestedVersion{Version: version, Standing: standing})
	}
}
