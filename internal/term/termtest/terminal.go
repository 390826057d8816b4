// Package termtest has a terminal for tests of what is drawn on one.
package termtest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
)

// Terminal is a terminal as a person sees it: it interprets what is written to it. A line that is too long takes several rows, and is laid
// out anew when the terminal is resized, as most terminals do.
type Terminal struct {
	mu       sync.Mutex
	cols     int
	lines    [][]rune // each with a zero behind a wide character
	line, at int      // where the cursor is
	saved    [2]int
	noWrap   bool
	rest     []byte // a sequence or a character that is not whole yet
	wrapped  int
	widest   int
	faults   []string
}

// New returns an empty terminal of that many columns.
func New(cols int) *Terminal { return &Terminal{cols: cols, lines: [][]rune{nil}} }

// Width is the number of its columns.
func (m *Terminal) Width() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cols
}

// Resize changes the number of its columns.
func (m *Terminal) Resize(cols int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cols, m.widest = cols, 0
}

// Wrapped is how many rows began because a line was too long.
func (m *Terminal) Wrapped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrapped
}

// Widest is how many columns were used at most since the last resize while lines were not to be wrapped, as in a line in place.
func (m *Terminal) Widest() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.widest
}

// Faults are what was written that the terminal does not know, and modes that were left behind.
func (m *Terminal) Faults() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	faults := slices.Clone(m.faults)
	if m.noWrap {
		faults = append(faults, "lines are not wrapped any more")
	}
	return faults
}

// Write implements [io.Writer].
func (m *Terminal) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data := append(m.rest, p...)
	for len(data) > 0 {
		n := m.step(data)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	m.rest = slices.Clone(data)
	return len(p), nil
}

// step interprets one character or sequence, and returns its length; 0 if it is not whole.
func (m *Terminal) step(data []byte) int {
	if data[0] != 0x1b {
		if !utf8.FullRune(data) {
			return 0
		}
		r, n := utf8.DecodeRune(data)
		m.put(r)
		return n
	}
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '7':
		m.saved = [2]int{m.line, m.at}
		return 2
	case '8':
		m.line, m.at = m.saved[0], m.saved[1]
		return 2
	case '[':
		end := bytes.IndexFunc(data[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return 0
		}
		m.control(string(data[2:2+end]), data[2+end])
		return 3 + end
	}
	m.faults = append(m.faults, fmt.Sprintf("unknown sequence %q", data[:2]))
	return 2
}

func (m *Terminal) control(parameter string, final byte) {
	switch string(final) + parameter {
	case "K":
		m.eraseRow()
	case "J":
		if m.at%m.cols == 0 { // in its first row tmux moves what is erased into its history
			m.faults = append(m.faults, "the screen is erased from a first column on")
		}
		m.eraseRow()
		m.lines[m.line] = m.lines[m.line][:min(len(m.lines[m.line]), m.at)]
		m.lines = m.lines[:m.line+1]
	case "C":
		m.at++
	case "l?7":
		m.noWrap = true
	case "h?7":
		m.noWrap = false
	default:
		if final != 'm' {
			m.faults = append(m.faults, fmt.Sprintf("unknown control %q %c", parameter, final))
		}
	}
}

// eraseRow erases from the cursor to the end of its row.
func (m *Terminal) eraseRow() {
	line := m.lines[m.line]
	end := m.at - m.at%m.cols + m.cols
	if len(line) <= end {
		m.lines[m.line] = line[:min(len(line), m.at)]
		return
	}
	m.lines[m.line] = slices.Clone(line[:m.at])
	m.lines = slices.Insert(m.lines, m.line+1, slices.Clone(line[end:]))
}

func (m *Terminal) put(r rune) {
	switch r {
	case '\r':
		m.at -= m.at % m.cols
	case '\n':
		if next := m.at - m.at%m.cols + m.cols; next < len(m.lines[m.line]) {
			m.at = next
			return
		}
		if m.line++; m.line == len(m.lines) {
			m.lines = append(m.lines, nil)
		}
		m.at = 0
	case '\a':
	default:
		if printable.Controls(r) {
			m.faults = append(m.faults, fmt.Sprintf("control character %q", r))
		}
		m.print(r, printable.Width(string(r)))
	}
}

func (m *Terminal) print(r rune, width int) {
	if width == 0 {
		return
	}
	column := m.at % m.cols
	if m.noWrap && column+width > m.cols-1 {
		m.widest = m.cols
		return
	}
	if !m.noWrap && m.at > 0 && column == 0 && m.at == len(m.lines[m.line]) {
		m.wrapped++
	}
	if column+width > m.cols { // a wide character does not fit
		m.place(' ')
	}
	m.place(r)
	if width == 2 {
		m.place(0)
	}
	if m.noWrap {
		m.widest = max(m.widest, column+width)
	}
}

func (m *Terminal) place(r rune) {
	line := m.lines[m.line]
	for len(line) <= m.at {
		line = append(line, ' ')
	}
	line[m.at] = r
	m.at++
	m.lines[m.line] = line
}

// Text is what can be read: all lines, without blanks at their ends.
func (m *Terminal) Text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	for _, line := range m.lines {
		lines = append(lines, shown(line))
	}
	return strings.Join(lines, "\n")
}

// Row is the line that the cursor is in, and Column its place there.
func (m *Terminal) Row() (line string, column int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return shown(m.lines[m.line]), m.at
}

func shown(line []rune) string {
	return strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " ")
}
