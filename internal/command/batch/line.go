package batch

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// batchLine says in one line how a batch stands, or what has become of it.
type batchLine struct {
	batch.Progress
	done       string // how many tasks are done; empty means that the line says it in its own way
	doing      string // what one of those that run does
	unfinished int    // tasks of a batch that has ended
	isShort    bool   // there is little room
}

func (l batchLine) String() string {
	done, about := fmt.Sprintf("%d of %d done", l.Done, l.Total), "about "
	if l.isShort {
		done, about = fmt.Sprintf("%d/%d done", l.Done, l.Total), ""
		l.Skipped, l.Paused = 0, 0
	}
	parts := []string{cmp.Or(l.done, done)}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(l.Failed, "failed")
	add(l.Skipped, "skipped")
	add(l.Running, "running")
	add(l.Paused, "waiting for a limit")
	add(l.unfinished, "unfinished")
	in := max(0, time.Until(l.Until)).Round(time.Second)
	left := time.Duration(l.Left * float64(time.Second)).Round(time.Second)
	switch {
	case !l.Until.IsZero() && l.isShort:
		parts = append(parts, "limit lifts in "+printable.Span(in))
	case !l.Until.IsZero() && in > 0:
		parts = append(parts, fmt.Sprintf("limit lifts at %s (in %s)", message.When(l.Until), printable.Span(in)))
	case !l.Until.IsZero():
		parts = append(parts, "limit lifts at "+message.When(l.Until))
	case left > 0:
		parts = append(parts, about+printable.Span(left)+" left")
	}
	switch {
	case l.Cost > 0 && l.Expected > l.Cost:
		parts = append(parts, printable.Dollars(l.Cost)+" of "+about+printable.Dollars(l.Expected))
	case l.Cost > 0:
		parts = append(parts, printable.Dollars(l.Cost))
	}
	if l.doing != "" {
		parts = append(parts, l.doing)
	}
	return strings.Join(parts, ", ")
}

// liveLine says how a batch stands in so many columns, and what its tasks do: another one each second.
func liveLine(p batch.Progress, columns int) string {
	l := batchLine{Progress: p}
	if len(p.Tasks) > 0 {
		t := p.Tasks[int(time.Now().Unix())%len(p.Tasks)]
		if l.doing = message.BatchTask(t.Task, t.Line); t.Doing != "" {
			l.doing += ": " + t.Doing
		}
		l.doing += fmt.Sprintf(" (%s)", printable.Span(time.Since(t.Since).Truncate(time.Second)))
	}
	line := l.String()
	// What matters least goes first.
	for _, less := range []func(){func() { l.isShort = true }, func() { l.Expected = 0 }, func() { l.doing = "" }, func() { l.Running = 0 }} {
		if printable.Width(line) <= columns {
			break
		}
		less()
		line = l.String()
	}
	return line
}
