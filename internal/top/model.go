package top

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
)

// Model is what is shown and what the user has chosen of it.
type Model struct {
	Snapshot Snapshot

	onGates   bool   // the keys are for the gates
	run, gate string // what is chosen, by id and key: a list may change below it
	runAt     int    // and where it was
	gateAt    int

	look   *look
	help   bool
	scroll int // in what is looked at

	asked   *question
	message string
}

// look is one run or gate that is looked at.
type look struct {
	run   supervise.Record
	ended bool // the run
	lines []journal.Entry
	gate  *Gate // nil for a run
}

// question is what is asked before something is done.
type question struct {
	text   string
	action Action
}

// Update takes over a new snapshot. What is chosen stays chosen; if it is gone, what has taken its place is.
func (m *Model) Update(s Snapshot) {
	m.Snapshot = s
	m.runAt = place(s.Runs, m.runAt, func(r supervise.Record) bool { return r.ID != "" && r.ID == m.run })
	m.gateAt = place(s.Gates, m.gateAt, func(g Gate) bool { return g.Key == m.gate })
	m.remember()
	if m.look == nil {
		return
	}
	if g := m.look.gate; g != nil {
		at := slices.IndexFunc(s.Gates, func(now Gate) bool { return now.Key == g.Key })
		if at < 0 {
			m.look.gate = &Gate{Key: g.Key, State: "healthy"}
		} else {
			m.look.gate = &s.Gates[at]
		}
		return
	}
	at := slices.IndexFunc(s.Runs, func(r supervise.Record) bool { return r.ID == m.look.run.ID })
	if m.look.ended = at < 0; at >= 0 {
		m.look.run = s.Runs[at]
	}
}

// place is where the chosen one is in a list now.
func place[T any](list []T, was int, chosen func(T) bool) int {
	if at := slices.IndexFunc(list, chosen); at >= 0 {
		return at
	}
	return max(0, min(was, len(list)-1))
}

// remember notes by their names what is chosen.
func (m *Model) remember() {
	m.run, m.gate = "", ""
	if m.runAt < len(m.Snapshot.Runs) {
		m.run = m.Snapshot.Runs[m.runAt].ID
	}
	if m.gateAt < len(m.Snapshot.Gates) {
		m.gate = m.Snapshot.Gates[m.gateAt].Key
	}
}

// Looked is the run that is looked at, whose lines of the log are to be shown; ok is false if there is none.
func (m *Model) Looked() (run supervise.Record, ok bool) {
	if m.look == nil || m.look.gate != nil {
		return supervise.Record{}, false
	}
	return m.look.run, true
}

// SetLines takes over what the log has of a run.
func (m *Model) SetLines(run string, lines []journal.Entry) {
	if looked, ok := m.Looked(); ok && looked.ID == run {
		m.look.lines = lines
	}
}

// Say shows a message until the next key.
func (m *Model) Say(text string) { m.message = text }

// Press does what a key asks for, by its name in package tea.
func (m *Model) Press(key string) Action {
	m.message = ""
	if key == "ctrl+c" {
		return Action{Kind: Quit}
	}
	if q := m.asked; q != nil {
		m.asked = nil
		if key == "y" || key == "Y" {
			return q.action
		}
		m.message = "nothing was done"
		return Action{}
	}
	switch key {
	case "q":
		return Action{Kind: Quit}
	case "?", "h":
		m.help, m.scroll = !m.help, 0
	case "esc", "left":
		m.back()
	case "ctrl+l":
		return Action{Kind: Refresh}
	default:
		if m.help {
			m.scrollBy(key)
			break
		}
		return m.pressed(key)
	}
	return Action{}
}

// pressed does what a key asks for in the lists, or while one of them is looked at.
func (m *Model) pressed(key string) Action {
	switch key {
	case "enter", "right":
		if m.look != nil && key == "enter" {
			m.back()
			break
		}
		m.openLook()
		return Action{Kind: Refresh}
	case "tab", "shift+tab":
		m.onGates, m.look = !m.onGates, nil
	case "x", "c":
		m.askCancel()
	case "r":
		m.askReset()
	default:
		if m.look != nil {
			m.scrollBy(key)
		} else {
			m.choose(key)
		}
	}
	return Action{}
}

// back leaves the help, or what is looked at.
func (m *Model) back() {
	m.scroll = 0
	if m.help {
		m.help = false
		return
	}
	m.look = nil
}

// step is how far a key moves in a list.
func step(key string) int {
	const far = 1 << 20
	switch key {
	case "up", "k":
		return -1
	case "down", "j":
		return 1
	case "pgup":
		return -10
	case "pgdown", "space":
		return 10
	case "home", "g":
		return -far
	case "end", "G":
		return far
	}
	return 0
}

// choose moves the choice.
func (m *Model) choose(key string) {
	at, n := &m.runAt, len(m.Snapshot.Runs)
	if m.onGates {
		at, n = &m.gateAt, len(m.Snapshot.Gates)
	}
	*at = max(0, min(*at+step(key), n-1))
	m.remember()
}

// scrollBy moves in what is looked at. How far it goes down is known when it is drawn.
func (m *Model) scrollBy(key string) { m.scroll = max(0, m.scroll+step(key)) }

// openLook looks at what is chosen.
func (m *Model) openLook() {
	m.scroll = 0
	s := &m.Snapshot
	switch {
	case m.onGates && m.gateAt < len(s.Gates):
		m.look = &look{gate: &s.Gates[m.gateAt]}
	case !m.onGates && m.runAt < len(s.Runs):
		m.look = &look{run: s.Runs[m.runAt]}
	}
}

// askCancel asks whether the run is to be cancelled, or what killed ones have left to be ended.
func (m *Model) askCancel() {
	run, ok := m.Looked()
	if m.look == nil && !m.onGates && m.runAt < len(m.Snapshot.Runs) {
		run, ok = m.Snapshot.Runs[m.runAt], true
	}
	switch {
	case !ok:
		m.message = "no run is selected"
	case m.look != nil && m.look.ended:
		m.message = message.RunEnded()
	case run.State == supervise.StateKilled:
		n := 0
		for _, r := range m.Snapshot.Runs {
			n += len(r.Left)
		}
		m.asked = &question{fmt.Sprintf("End %d %s left by killed runs?", n, message.Verb(n, "process", "processes")), Action{Kind: Reap}}
	default:
		m.asked = &question{fmt.Sprintf("Cancel %s (%s)?", printable.ShortID(run.ID), run.Command), Action{Kind: Cancel, Run: run}}
	}
}

// askReset asks whether the gate is to be reset.
func (m *Model) askReset() {
	var g *Gate
	switch {
	case m.look != nil:
		g = m.look.gate
	case m.onGates && m.gateAt < len(m.Snapshot.Gates):
		g = &m.Snapshot.Gates[m.gateAt]
	}
	switch {
	case g == nil && len(m.Snapshot.Gates) > 0:
		m.message = "no gate is selected; press Tab for the gates"
	case g == nil:
		m.message = message.GatesHealthy()
	case g.Full:
		m.message = "nothing to reset: all slots of this gate are in use"
	default:
		m.asked = &question{fmt.Sprintf("Reset gate %s (%s)?", g.Key, g.State), Action{Kind: Reset, Gate: g.Key}}
	}
}
