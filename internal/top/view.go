package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Rows is the screen for a size. A height of 0 means all there is, and a width of 0 that no row is cut, without a footer and without a
// choice: it is what is printed where there is no terminal.
func (m *Model) Rows(columns, height int) []string {
	rows := m.header(columns)
	if height == 0 {
		rows = append(rows, m.body(columns, 0)...)
	} else {
		rows = rows[:min(len(rows), max(0, height-2))]
		rows = append(rows, m.body(columns, max(0, height-1-len(rows)))...)
		for len(rows) < height-1 {
			rows = append(rows, "")
		}
		rows = append(rows[:max(0, height-1)], m.footer(columns))
	}
	for i, row := range rows {
		rows[i] = cut(row, columns)
	}
	return rows
}

// Fit scrolls back to what there is to see, for a size.
func (m *Model) Fit(columns, height int) {
	room := max(1, height-1-len(m.header(columns)))
	var all int
	switch {
	case m.help:
		all = len(helpRows(columns))
	case m.look != nil:
		all = len(m.lookRows(columns))
	}
	m.scroll = max(0, min(m.scroll, all-room))
}

// header says when it is, what runs, and what was spent today.
func (m *Model) header(columns int) []string {
	s := &m.Snapshot
	counts := map[string]int{}
	for _, r := range s.Runs {
		counts[r.State]++
	}
	var runs []string
	for _, state := range []string{supervise.StateRunning, supervise.StateWaiting, supervise.StateKilled} {
		if n := counts[state]; n > 0 {
			runs = append(runs, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(runs) == 0 {
		runs = []string{message.NothingRunning()}
	}
	parts := append([]string{paint(s.At.Format("15:04:05"), term.Strong), strings.Join(runs, ", ")}, s.Today.parts()...)
	most := 1
	if columns > 0 && columns < 80 {
		most = 2
		parts[1], parts[2] = parts[2], parts[1] // the shorter one fits beside the time
	}
	rows := flow(parts, columns)
	for len(rows) > most && len(parts) > 3 { // what is left out is the least of it
		parts = parts[:len(parts)-1]
		rows = flow(parts, columns)
	}
	if s.Trouble != "" {
		rows = append(rows, paint(s.Trouble, term.Bad))
	}
	return rows
}

// footer is the last line: what is asked, what was said, or what the keys are.
func (m *Model) footer(columns int) string {
	switch {
	case m.asked != nil:
		return paint(cut(m.asked.text, max(1, columns-width(yesNo)))+yesNo, term.Strong)
	case m.message != "":
		return paint(m.message, term.Strong)
	}
	keys := []string{"↑↓ select", "Enter details", "x cancel", "Tab gates", "? help", "q quit"}
	switch {
	case m.help:
		keys = []string{"Esc back", "q quit"}
	case m.look != nil && m.look.gate != nil:
		keys = []string{"Esc back", "r reset", "? help", "q quit"}
	case m.look != nil:
		keys = []string{"Esc back", "↑↓ scroll", "x cancel", "? help", "q quit"}
	case m.onGates:
		keys = []string{"↑↓ select", "Enter details", "r reset", "Tab runs", "? help", "q quit"}
	}
	// The last ones are what a new user needs: on a narrow screen those in the middle go.
	for len(keys) > 2 && columns > 0 && width(strings.Join(keys, gap)) > columns {
		at := 1
		if keys[0] != "Esc back" {
			at = 0
		}
		keys = append(keys[:at:at], keys[at+1:]...)
	}
	return paint(strings.Join(keys, gap), term.Faint)
}

// yesNo stands behind a question.
const yesNo = " (y/n)"

// body is what is between header and footer.
func (m *Model) body(columns, height int) []string {
	switch {
	case m.help:
		return window(helpRows(columns), m.scroll, height)
	case m.look != nil:
		return window(m.lookRows(columns), m.scroll, height)
	}
	return m.lists(columns, height)
}

// window is the part of rows that is scrolled to.
func window(rows []string, from, height int) []string {
	from = max(0, min(from, len(rows)-height))
	return rows[from:min(len(rows), from+height)]
}

// section is a table of the lists.
type section struct {
	name    string
	table   func(s *Snapshot, columns int) (heading string, rows []string)
	few     int    // which part of the screen its rows have at least, one of so many
	chosen  int    // the row that is chosen; -1 for none
	heading string // empty if it is not shown
	rows    []string
}

// lists are budgets, limits, runs and gates.
func (m *Model) lists(columns, height int) (rows []string) {
	choice := func(at int, has bool) int {
		if !has || height == 0 {
			return -1
		}
		return at
	}
	all := []*section{{name: "budgets", table: budgetTable, few: 12, chosen: -1}, {name: "limits", table: limitTable, few: 12, chosen: -1},
		{name: "runs", table: runTable, few: 8, chosen: choice(m.runAt, !m.onGates && len(m.Snapshot.Runs) > 0)},
		{name: "gates", table: gateTable, few: 8, chosen: choice(m.gateAt, m.onGates && len(m.Snapshot.Gates) > 0)}}
	for _, s := range all {
		if s.heading, s.rows = s.table(&m.Snapshot, columns); len(s.rows) == 0 {
			s.heading = ""
		}
	}
	order := []*section{all[2], all[3], all[0], all[1]}
	if m.onGates {
		order[0], order[1] = all[3], all[2]
	}
	spread(columns, height, order)
	for _, s := range all {
		if s.heading == "" {
			continue
		}
		rows = append(rows, "", s.heading)
		for i, row := range s.rows {
			if i == s.chosen {
				row = choose(row, columns)
			}
			rows = append(rows, row)
		}
	}
	if height > 0 && len(rows) > height { // there is no room for blank lines
		rows = slices.DeleteFunc(rows, func(row string) bool { return row == "" })
	}
	return rows
}

// size is how many lines sections take.
func size(list ...*section) (n int) {
	for _, s := range list {
		if s.heading != "" {
			n += 1 + len(s.rows)
		}
	}
	return n
}

// spread makes the sections fit. The first, which the keys are for, has most of the room; of the others a few rows are shown, on a very small
// screen only how many there are of the second.
func spread(columns, height int, list []*section) {
	if height == 0 || size(list...) <= height {
		return
	}
	if height < 8 {
		list[2].heading, list[3].heading = "", ""
	}
	left := height
	for i, s := range list {
		room := left
		for _, later := range list[i+1:] {
			room -= min(size(later), 1+height/later.few)
		}
		s.shrink(max(2-i, room), columns)
		left -= size(s)
	}
}

// shrink leaves that many lines of a section, heading included, the row that is chosen among them, and says in its heading
// what there is.
func (s *section) shrink(lines, columns int) {
	if s.heading == "" || size(s) <= lines {
		return
	}
	if lines < 1 {
		s.heading, s.rows = "", nil
		return
	}
	all := len(s.rows)
	n := lines - 1
	from := max(0, min(s.chosen-n/2, all-n))
	s.rows = s.rows[from : from+n]
	if s.chosen >= 0 {
		s.chosen -= from
	}
	if n == 0 {
		s.heading = paint(fmt.Sprintf("%s%d %s", noMarker, all, s.name), term.Faint)
		return
	}
	note := fmt.Sprintf("%s%d–%d of %d", gap, from+1, from+n, all)
	if n == 1 {
		note = fmt.Sprintf("%s%d of %d", gap, from+1, all)
	}
	left := columns - width(note)
	s.heading = paint(pad(cut(ansi.Strip(s.heading), left), left, false)+note, term.Faint)
}
