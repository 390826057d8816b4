package term

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
)

// model is a terminal as a person sees it: it interprets what is written to it. A line that is too long takes several rows, and is laid out
// anew when the terminal is resized, as most terminals do.
type model struct {
	t *testing.T

	mu         sync.Mutex
	cols       int
	lines      [][]rune // each with a zero behind a wide character
	line, at   int      // where the cursor is
	saved      [2]int
	noWrap     bool
	rest       []byte // a sequence or a character that is not whole yet
	background bool
	blocked    bool
	wrapped    int // rows that began because a line was too long
	wide       int // the widest that a line was while wrapping was off
	suspended  chan os.Signal
	stops      int
}

func newModel(t *testing.T, cols int) *model {
	return &model{t: t, cols: cols, lines: [][]rune{nil}, suspended: make(chan os.Signal)}
}

func (m *model) width() int     { m.mu.Lock(); defer m.mu.Unlock(); return m.cols }
func (m *model) inFront() bool  { m.mu.Lock(); defer m.mu.Unlock(); return !m.background }
func (m *model) writable() bool { m.mu.Lock(); defer m.mu.Unlock(); return !m.blocked }

func (m *model) suspends() (<-chan os.Signal, func(), func()) {
	return m.suspended, func() {
		m.mu.Lock()
		m.stops++
		m.mu.Unlock()
		time.Sleep(10 * time.Second)
	}, func() {}
}

func (m *model) set(change func()) { m.mu.Lock(); defer m.mu.Unlock(); change() }

// Write implements [io.Writer].
func (m *model) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocked {
		m.t.Error("a terminal that takes no output was written to")
	}
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
func (m *model) step(data []byte) int {
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
	m.t.Errorf("unknown sequence %q", data)
	return 2
}

func (m *model) control(parameter string, final byte) {
	switch string(final) + parameter {
	case "K":
		m.eraseRow()
	case "J":
		m.eraseRow()
		m.lines[m.line] = m.lines[m.line][:min(len(m.lines[m.line]), m.at)]
		m.lines = m.lines[:m.line+1]
	case "l?7":
		m.noWrap = true
	case "h?7":
		m.noWrap = false
	default:
		if final != 'm' {
			m.t.Errorf("unknown control %q %c", parameter, final)
		}
	}
}

// eraseRow erases from the cursor to the end of its row.
func (m *model) eraseRow() {
	line := m.lines[m.line]
	end := m.at - m.at%m.cols + m.cols
	if len(line) <= end {
		m.lines[m.line] = line[:min(len(line), m.at)]
		return
	}
	m.lines[m.line] = slices.Clone(line[:m.at])
	m.lines = slices.Insert(m.lines, m.line+1, slices.Clone(line[end:]))
}

func (m *model) put(r rune) {
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
			m.t.Errorf("control character %q", r)
		}
		m.print(r, printable.Width(string(r)))
	}
}

func (m *model) print(r rune, width int) {
	if width == 0 {
		return
	}
	column := m.at % m.cols
	if m.noWrap && column+width > m.cols-1 {
		m.wide = m.cols
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
		m.wide = max(m.wide, column+width)
	}
}

func (m *model) place(r rune) {
	line := m.lines[m.line]
	for len(line) <= m.at {
		line = append(line, ' ')
	}
	line[m.at] = r
	m.at++
	m.lines[m.line] = line
}

// text is what can be read: all lines, without blanks at their ends.
func (m *model) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	for _, line := range m.lines {
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(string(line), "\x00", ""), " "))
	}
	return strings.Join(lines, "\n")
}

// row is the line that the cursor is in.
func (m *model) row() string {
	lines := strings.Split(m.text(), "\n")
	return lines[min(m.line, len(lines)-1)]
}
