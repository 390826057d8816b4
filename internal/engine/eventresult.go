package engine

import (
	"cmp"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

func (t *eventLog) outcome(o *verdict.Outcome) { o.Stderr = t.errors.excerpt() }

func (t *eventLog) judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict {
	if !exited {
		o.ExitCode, o.Signal = 0, "" // that is our doing
	}
	return t.follower.Judge(o, now)
}

func (t *eventLog) excerpt() verdict.Excerpt { return t.capture.Excerpt() }

// account is asked when the attempt was judged.
func (t *eventLog) account() agent.Account {
	if t.ended == nil {
		a := t.follower.Account()
		a.Model = cmp.Or(t.substitution.Used, a.Model)
		t.ended = &a
		if a.Quota != nil {
			t.call.tellQuota(a.Quota)
			t.call.report(agent.LineInfo{Delivered: true, Quota: a.Quota}, t.sessions.soFar(a.Priced()))
		}
	}
	return *t.ended
}

// worked reports whether something may have been done. Text alone, without events, does not tell.
func (t *eventLog) worked() bool { return t.account().Active || t.plain && t.form == agent.Text }

func (t *eventLog) version() string { return t.account().Version }

// deliver passes on what the caller asked for, once the attempt is known to count.
func (t *eventLog) deliver() error { return errors.Join(t.deliverAnswer(), t.errors.deliver()) }

func (t *eventLog) deliverAnswer() error {
	switch {
	case t.live == nil || t.broken || t.direct:
	case t.form == agent.Stream || t.plain:
		t.show(t.held)
	case t.form == agent.Text && t.stoppedEarly() != nil && !t.hasDelivered(): // it has nothing to say but that it was stopped
	default:
		t.show(t.held)
		if err := t.follower.Render(writerFunc(t.render), t.form); err != nil {
			t.broken = true
		}
		t.show(t.trailing)
	}
	if t.broken {
		return io.ErrClosedPipe
	}
	return nil
}

// writerFunc is a function that is an [io.Writer].
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// render passes on what the CLI would have printed.
func (t *eventLog) render(p []byte) (int, error) {
	t.shown = t.shown || len(p) > 0
	return t.live.Write(p)
}

func (t *eventLog) output() *Output {
	if t.answer != nil {
		return t.answer
	}
	if answer := t.follower.Answer(); answer.IsPrinted() {
		t.answer = t.held.withoutEnd()
	} else {
		t.answer = t.call.newOutput()
		t.answer.spare = math.MaxInt
		t.answer.fill = func(w io.Writer) { answer.WriteTo(w) }
	}
	return t.answer
}

func (t *eventLog) stderr() *Output { return t.errors.output() }

func (t *eventLog) discard() {
	t.held.Close()
	t.trailing.Close()
	for _, line := range t.long {
		line.Close()
	}
	t.live = nil
	t.errors.drop()
}

func (*eventLog) replace(string) {} // only what a caller has done can be found out afterwards

func (t *eventLog) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tools
}

func (t *eventLog) hasDelivered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.delivered && !t.due
}

func (t *eventLog) stoppedEarly() *earlyStop {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

func (t *eventLog) unread() bool { return t.broken }

func (t *eventLog) incomplete() error { return t.held.Lost() }

func (t *eventLog) final() string {
	if t.broken {
		return message.Unread()
	}
	return t.errors.final()
}

// silent: there is nothing on stdout, and on stderr something else. Events say it without a word there.
func (t *eventLog) silent(why string) bool {
	why = why[:min(len(why), 40)]
	return !t.shown && (why == "" || !strings.Contains(t.errors.excerpt().Text(), why))
}

func (t *eventLog) describe(e *journal.Entry, a *agent.Account) {
	e.FirstToken, e.InnerRetries = t.first.Seconds(), t.inner+a.Unseen
	for _, one := range a.Tools.Totals {
		e.Tools = append(e.Tools, journal.Tool{Name: one.Name, Count: one.Count, Time: milliseconds(one.Time)})
	}
	for _, call := range a.Tools.Calls {
		e.ToolCalls = append(e.ToolCalls, journal.ToolCall{Name: call.Name, Start: milliseconds(call.Start.Sub(t.began)), Time: milliseconds(call.Time)})
	}
	e.ToolsCut = a.Tools.Cut
	e.ModelAsked = t.substitution.Asked
}

// milliseconds are seconds that are rounded to them.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }
