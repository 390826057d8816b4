package engine

import (
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"

	"github.com/belay-run/belay/internal/supervise"
)

// act acts on what an event says.
func (t *eventLog) act(info agent.LineInfo) {
	t.chargeLimitWait()
	if info.Answered {
		t.ad.answered()
	}
	if info.Answered && t.first == 0 {
		t.first = time.Since(t.began)
	}
	if t.turn.begun.IsZero() && !info.Waiting {
		t.turn.begun = time.Now()
	}
	t.mu.Lock()
	t.answered = t.answered || info.Answered
	process, tools, delivered := t.process, info.Tools > 0, info.Delivered
	t.due = t.due && info.Waiting && !info.TurnOver
	waiting := t.direct && info.Waiting && !t.due
	changed, turned := tools != t.tools || waiting != t.waiting, delivered != t.delivered
	t.tools, t.waiting, t.delivered = tools, waiting, delivered
	t.mu.Unlock()
	if process != nil && changed {
		process.SetStall(t.stallTimeout(tools, waiting))
	}
	if process != nil && turned {
		if delivered {
			process.Delivered()
		} else {
			process.Working()
		}
	}
	t.call.tellQuota(info.Quota)
	t.follow(info, changed || info.Quota != nil || turned || info.Retrying != nil || t.retried || info.Activity != t.doing || info.Begun.Tool != "" || info.Turn != nil)
	t.spend(info)
	t.checkModel(info.Models)
	t.checkRunaway(info)
	if t.direct && info.TurnOver {
		t.turnOver()
	}
	if info.Retrying != nil {
		t.retrying(info.Retrying)
	} else if !info.Troubled {
		t.trouble = time.Time{}
	}
}

// spend charges a model call that has ended. If a limit is reached by that, the agent is stopped before the next one: when it
// waits for its tools, or, in a conversation, when its caller asks for more. The answer to what was asked is not lost; it is
// paid for.
func (t *eventLog) spend(info agent.LineInfo) {
	if info.Turn != nil {
		if reached := t.call.spending.turn(*info.Turn); reached != nil {
			t.reached = reached
		}
	}
	if t.reached == nil {
		return
	}
	goesOn := info.Continues || t.idle && !info.Waiting
	t.idle = t.direct && info.Waiting
	if goesOn {
		v := costVerdict(t.reached)
		v.Sent = ""
		t.stop(&earlyStop{verdict: v, stop: costStop(t.reached)})
	}
}

// follow takes note of the session as soon as it has a name, and puts on record what the agent is doing: at once if that has
// changed or a model call has ended, else twice a second at most.
func (t *eventLog) follow(info agent.LineInfo, changed bool) {
	if now := time.Now(); t.session == "" || changed || now.Sub(t.followed) > progressInterval/2 {
		t.followed, t.doing, t.retried = now, info.Activity, info.Retrying != nil
		account := t.follower.Account()
		if t.session == "" && account.Session != "" {
			t.session = account.Session
			t.sessions.begin(t.session, t.began)
		}
		used := t.sessions.soFar(account.Priced())
		t.call.live.progress(activity(info, &account), used)
		t.call.report(info, used)
	}
}

// activity says in a word or two what an agent is doing.
func activity(info agent.LineInfo, account *agent.Account) string {
	switch {
	case info.Retrying != nil:
		return "retrying"
	case info.Tools > 0 && info.Activity.Tool != "":
		return "tool " + info.Activity.Tool
	case info.Tools > 0 && len(account.Tools.Totals) > 0: // in the background
		return "tool " + account.Tools.Totals[len(account.Tools.Totals)-1].Name
	case info.Tools > 0:
		return "tool"
	case info.Delivered:
		return "done"
	case info.Waiting:
		return "waiting for its caller"
	}
	return "model"
}

// start hands over the process, of which there may have been events already.
func (t *eventLog) start(p Process) {
	t.reading.Lock()
	t.lookLater(nil)
	t.reading.Unlock()
	t.mu.Lock()
	t.process = p
	tools, waiting, delivered, stopping := t.tools, t.waiting, t.delivered, t.stopping
	t.mu.Unlock()
	if tools || waiting {
		p.SetStall(t.stallTimeout(tools, waiting))
	}
	if delivered {
		p.Delivered()
	}
	if stopping {
		p.Stop(t.ladder())
	}
}

// stallTimeout is how long the process may show no life: for ever while it waits for its caller.
func (t *eventLog) stallTimeout(tools, waiting bool) time.Duration {
	if waiting {
		return supervise.Unlimited
	}
	return t.call.stall(tools)
}

// asked says that, in a conversation, the caller has said something that the agent answers. Its silence counts from now on.
func (t *eventLog) asked() {
	t.mu.Lock()
	process, tools, waited := t.process, t.tools, t.waiting
	t.waiting, t.due = false, true
	t.mu.Unlock()
	if process != nil && waited {
		process.SetStall(t.stallTimeout(tools, false))
	}
}

// ladder is how the attempt is stopped before its time: with the care that tools under way need, or, if the model has not
// even answered, quickly, because the next request is due.
func (t *eventLog) ladder() supervise.Ladder {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answered {
		return t.call.traits.ladder
	}
	return supervise.Ladder{{Signal: syscall.SIGTERM, Wait: 2 * time.Second}}
}

// stop ends the attempt before its time, if that has not been done yet.
func (t *eventLog) stop(why *earlyStop) {
	t.mu.Lock()
	process, first := t.process, t.stopped == nil
	if first && why != nil {
		t.stopped = why
	}
	t.stopping = true
	t.mu.Unlock()
	if process != nil && (first || why == nil) {
		// Not here: the end of the output is waited for, and that waits for us.
		go process.Stop(t.ladder())
	}
}
