package term

import (
	"io"
	"strings"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/stdio"
)

// Notice is how a terminal is told to notify its user. All of them ring the bell.
type Notice int

const (
	Bell   Notice = iota // nothing else, which every terminal knows
	OSC9                 // iTerm2's, which others have taken over
	OSC99                // kitty's
	OSC777               // rxvt's, which others have taken over
)

// Notify makes the terminal notify its user, where there is one that takes output. The cursor stays where it is.
func (s *Screen) Notify(how Notice, text string) {
	file := stdio.FileOf(s.w)
	if !s.tty || file != nil && !takesOutput(file) || !s.lockWithin(blockedTimeout) {
		return
	}
	defer s.unlock()
	io.WriteString(s.w, how.sequence(s.Prefix+text))
}

// sequence is what is written to the terminal. A text of OSC 9 that begins with a number is a command to some terminals, 9;4 sets their
// progress bar; so it must not begin with one.
func (n Notice) sequence(text string) string {
	const bell, osc, end = "\a", "\x1b]", "\x1b\\"
	text = printable.Line(text)
	switch n {
	case OSC9:
		return osc + "9;" + text + end + bell
	case OSC99:
		return osc + "99;;" + text + end + bell
	case OSC777:
		return osc + "777;notify;Belay;" + strings.ReplaceAll(text, ";", ",") + end + bell
	}
	return bell
}

// IsTerminal reports whether messages go to a terminal that is not dumb.
func (s *Screen) IsTerminal() bool { return s.tty }
