package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// nameWidth is how wide the names before values are.
const nameWidth = 11

// page collects rows of names and values.
type page struct {
	columns int
	rows    []string
}

func (p *page) add(name, value string, style term.Style) {
	if value == "" {
		return
	}
	before := paint(pad(name, nameWidth, false), term.Faint)
	for _, text := range wrap(value, p.columns-nameWidth) {
		p.rows = append(p.rows, before+paint(text, style))
		before = strings.Repeat(" ", nameWidth)
	}
}

func (p *page) blank() { p.rows = append(p.rows, "") }

// lookRows is all that there is to say of the run or gate that is looked at.
func (m *Model) lookRows(columns int) []string {
	p := &page{columns: columns}
	p.blank()
	if m.look.gate != nil {
		p.gate(m.look.gate, m.Snapshot.At)
	} else {
		p.run(m.look, m.Snapshot.At)
	}
	return p.rows
}

func (p *page) gate(g *Gate, at time.Time) {
	style := term.Plain
	if g.Closed {
		style = term.Warning
	}
	p.add("gate", g.Key, term.Strong)
	p.add("state", g.State, style)
	if !g.Since.IsZero() {
		p.add("since", clock(g.Since, at), term.Plain)
	}
	if !g.Until.IsZero() {
		p.add("until", fmt.Sprintf("%s (%s left)", clock(g.Until, at), span(g.Until.Sub(at)+time.Second-1)), term.Plain)
	}
	p.add("reason", g.Reason, term.Plain)
	p.add("waiting", strings.Join(g.Waiting, ", "), term.Plain)
}

func (p *page) run(l *look, at time.Time) {
	r := l.run
	p.add("run", cmp.Or(r.ID, message.NotOnRecord()), term.Strong)
	command := r.Command
	if r.Profile != "" && r.Profile != r.Command {
		command += " (profile " + r.Profile + ")"
	}
	p.add("command", command, term.Plain)
	if l.ended {
		p.add("now", "ended", term.Strong)
	} else {
		p.add("now", now(r, at), runStyle(r))
	}
	if r.Attempt > 0 {
		p.add("attempt", fmt.Sprint(r.Attempt), term.Plain)
	}
	if !r.Started.IsZero() {
		started := clock(r.Started, at)
		if !l.ended {
			started += fmt.Sprintf(" (%s ago)", span(at.Sub(r.Started)))
		}
		p.add("started", started, term.Plain)
	}
	if r.Tokens > 0 {
		p.add("tokens", short(r.Tokens), term.Plain)
	}
	if r.CostUSD != nil {
		p.add("cost", dollars(*r.CostUSD), term.Plain)
	}
	p.add("session", r.Session, term.Plain)
	p.add("labels", label.Labels{Name: r.Name, Tags: r.Tags}.String(), term.Plain)
	p.add("directory", r.Project, term.Plain)
	p.add("parent", r.Parent, term.Plain)
	if r.Owner.PID > 0 && r.State != supervise.StateKilled {
		p.add("belay", fmt.Sprintf("process %d", r.Owner.PID), term.Plain)
	}
	if len(l.lines) == 0 {
		return
	}
	p.blank()
	for _, e := range l.lines {
		p.attempt(e, at)
	}
}

// attempt is a line of the log.
func (p *page) attempt(e journal.Entry, at time.Time) {
	what := fmt.Sprintf("attempt %d", e.Attempt)
	if e.Attempt == 0 {
		what = "not started"
	}
	status, style := "ok", term.Good
	if e.Status != journal.Success {
		status, style = cmp.Or(string(e.ErrorType), string(e.Status)), term.Bad
	}
	if e.Status == journal.Retry {
		style = term.Warning
	}
	p.rows = append(p.rows, clock(e.Timestamp.Time, at)+gap+what+": "+paint(status, style))
	p.wrapped(strings.Join(measures(e), ", "))
	p.wrapped(e.Error)
}

// wrapped adds a text that belongs to the row above it.
func (p *page) wrapped(text string) {
	for _, line := range wrap(text, p.columns-len(gap)) {
		p.rows = append(p.rows, gap+line)
	}
}

// measures are the figures of an attempt.
func measures(e journal.Entry) (list []string) {
	if e.Attempt > 0 {
		list = append(list, "took "+term.Span(seconds(e.ResponseTime)))
		if e.ExitCode >= 0 {
			list = append(list, message.ExitCodes(nil, e.ExitCode))
		}
	}
	if e.Signal != "" {
		list = append(list, e.Signal)
	}
	used := usage(e)
	if n := used.InputTokens + used.OutputTokens; n > 0 {
		list = append(list, short(n)+" tokens")
	}
	if used.CostUSD != nil {
		list = append(list, dollars(*used.CostUSD))
	}
	if wait := e.Planned(); wait > 0 {
		list = append(list, "retry after "+term.Span(seconds(wait)))
	}
	return list
}

func seconds(s float64) time.Duration { return time.Duration(min(s, 1e9) * float64(time.Second)) }

// helpRows say what the keys do.
func helpRows(columns int) (rows []string) {
	p := &page{columns: columns}
	p.blank()
	for _, key := range [][2]string{
		{"↑ ↓, j k", "select a run or a gate"},
		{"Enter", "show everything about it; Esc goes back"},
		{"Tab", "switch between runs and gates"},
		{"x, c", "cancel the run, after a question; for a killed run, end the processes it left"},
		{"r", "reset the gate, after a question"},
		{"Ctrl-L", "refresh now"},
		{"?", "show or hide this help"},
		{"q, Ctrl-C", "quit"},
	} {
		p.add(key[0], key[1], term.Plain)
	}
	return p.rows
}
