package term

import (
	"cmp"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// A line in place is redrawn where it stands and leaves nothing behind: it has no end of line, so nothing scrolls; the cursor is put back
// to its beginning, so that what is printed next stands where it would without it; and it is cleared before that. It is drawn only by a
// process in the foreground, and never behind output that has not ended its line.

const (
	// statusDelay is how long nothing is shown of a run: most commands have ended by then.
	statusDelay = 2 * time.Second
	// redrawInterval is how often a line in place is drawn.
	redrawInterval = time.Second
	// minStatus is the narrowest terminal on which a line in place is worth while.
	minStatus = 20
	// blockedTimeout is how long the end of a line in place waits for a terminal that takes no output, as after Ctrl-S. The run
	// must not wait for that.
	blockedTimeout = 250 * time.Millisecond
)

// terminal is what a line in place is drawn on.
type terminal interface {
	// width is the number of its columns; 0 if that is not known.
	width() int
	// inFront reports whether we are in the foreground of it.
	inFront() bool
	// writable reports whether it takes output now.
	writable() bool
	// suspends sends a value when we are asked to stop, as by Ctrl-Z, until end is called; stop then stops us, and returns when we are
	// continued.
	suspends() (asked <-chan os.Signal, stop, end func())
}

// cursor says what is known of the place of the cursor.
type cursor int

const (
	cursorUnknown cursor = iota // somewhere: what ran before may have printed half a line
	cursorAtStart               // at the beginning of a line
	cursorInLine                // behind output that has not ended its line
)

// Beside says where stdout goes, and returns the screen: lines are redrawn in place if that is the same terminal, a regular file or the null
// device. Where a pager or another program reads stdout, the terminal may be theirs.
func (s *Screen) Beside(stdout io.Writer) *Screen {
	s.inPlace = nil
	file, out := stdio.FileOf(s.w), stdio.FileOf(stdout)
	if s.tty && out != nil && leavesTerminal(out, file) {
		s.inPlace = newTerminal(file)
	}
	return s
}

// leavesTerminal reports whether what is written to out is on that terminal too, or on none.
func leavesTerminal(out, terminal *os.File) bool {
	info, err := out.Stat()
	if err != nil {
		return false
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return true
	}
	return info.Mode().IsRegular() || sameTerminal(out, terminal)
}

// Output returns a writer for output of a command: before it is written to the terminal, a line in place is cleared. What is not written to
// the terminal is returned as it is.
func (s *Screen) Output(w io.Writer) io.Writer {
	file := stdio.FileOf(w)
	if s.inPlace == nil || file == nil || !supervise.IsTerminal(file) || !sameTerminal(file, stdio.FileOf(s.w)) {
		return w
	}
	return &output{s, w}
}

// output is a stream on the terminal that a line in place is drawn on.
type output struct {
	screen *Screen
	w      io.Writer
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	s := o.screen
	s.lock()
	defer s.unlock()
	s.clear()
	n, err := o.w.Write(p)
	if n > 0 {
		s.cursor = cursorInLine
		if p[n-1] == '\n' {
			s.cursor = cursorAtStart
		}
	}
	return n, err
}

// Status shows that a command is at work, until stop is called: a line in place, which is asked for its text once a second and told how many
// columns there are, or, where there is no terminal for that, a line a minute, unless that is empty.
func (s *Screen) Status(inPlace func(columns int) string, plain func() string) (stop func()) {
	switch {
	case s.inPlace != nil:
		return s.showInPlace(statusDelay, inPlace)
	case s.dumb:
		return func() {}
	}
	return Every(Beat, func() {
		if text := plain(); text != "" {
			s.Line("%s", text)
		}
	})
}

// showInPlace draws a line in place every second, from after so long until stop is called.
func (s *Screen) showInPlace(after time.Duration, text func(columns int) string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if after > 0 {
			select {
			case <-done:
				return
			case <-time.After(after):
			}
		}
		suspended, suspend, end := s.inPlace.suspends()
		defer end()
		tick := time.NewTicker(redrawInterval)
		defer tick.Stop()
		for {
			s.draw(text)
			select {
			case <-done:
				return
			case <-suspended:
				s.remove()
				suspend()
				s.lock()
				s.cursor = cursorUnknown // the shell has written since
				s.unlock()
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(done)
		select {
		case <-ended:
		case <-time.After(blockedTimeout):
		}
		s.remove()
	}
}

// remove clears a line in place, unless the terminal takes no output.
func (s *Screen) remove() {
	if !s.lockWithin(blockedTimeout) {
		return
	}
	defer s.unlock()
	if s.drawn > 0 && !s.inPlace.writable() {
		s.drawn = 0
	}
	s.clear()
}

// draw draws a line in place, if it may stand there now.
func (s *Screen) draw(text func(columns int) string) {
	s.lock()
	defer s.unlock()
	if !s.inPlace.inFront() {
		s.drawn = 0 // what has the terminal now has drawn over it
		return
	}
	if s.cursor == cursorInLine || !s.inPlace.writable() {
		return
	}
	width := s.inPlace.width()
	if width == 0 {
		width = 80
	}
	if width < minStatus {
		s.clear()
		return
	}
	room := width - 1 - printable.Width(s.Prefix) // the last column stays free: some terminals wrap once it is used
	line := printable.CutEnd(printable.Line(text(room)), room, ellipsis())
	shown := s.palette.Paint(Faint, s.Prefix) + line
	io.WriteString(s.w, s.eraseWrapped(width)+s.inPlaceSequence(shown))
	s.drawn = printable.Width(s.Prefix) + printable.Width(line)
}

// The sequences that every terminal knows which is not dumb.
const (
	eraseToEndOfLine   = "\x1b[K"
	eraseToEndOfScreen = "\x1b[J"
	saveCursor         = "\x1b7"
	restoreCursor      = "\x1b8"
	cursorRight        = "\x1b[C"
	wrapOff            = "\x1b[?7l" // whatever a character's width is taken for, and however narrow the terminal has become
	wrapOn             = "\x1b[?7h"

	// eraseBelow erases from the cursor to the end of the screen, and not from the first column on: tmux takes that in the first row for a
	// screen that is cleared, and keeps what was there in its history.
	eraseBelow = saveCursor + eraseToEndOfLine + cursorRight + eraseToEndOfScreen + restoreCursor
)

// inPlaceSequence writes a text from where the cursor stands, over what was drawn there, and puts the cursor back. Where the cursor may
// stand within a line, what is left of it stays.
func (s *Screen) inPlaceSequence(text string) string {
	if s.cursor == cursorAtStart {
		return "\r" + wrapOff + text + eraseToEndOfLine + wrapOn + "\r"
	}
	return saveCursor + wrapOff + text + eraseToEndOfLine + wrapOn + restoreCursor
}

// eraseWrapped erases what was drawn if the terminal has become narrower since: most have wrapped it then, so that its end is below the
// cursor. It is erased from the second column on, since tmux keeps in its history what is erased from the first one of the screen; the
// first is written over.
func (s *Screen) eraseWrapped(width int) string {
	if s.drawn < width || s.drawn == 0 {
		return ""
	}
	return eraseBelow
}

// clear removes a line in place. The lock is held.
func (s *Screen) clear() {
	if s.drawn == 0 {
		return
	}
	if s.inPlace.inFront() {
		sequence := ""
		if s.cursor == cursorAtStart {
			sequence = "\r"
		}
		if width := s.inPlace.width(); width > 0 {
			sequence += s.eraseWrapped(width)
		}
		io.WriteString(s.w, sequence+eraseToEndOfLine)
	}
	s.drawn = 0
}

func (s *Screen) lock()   { s.busy <- struct{}{} }
func (s *Screen) unlock() { <-s.busy }

// lockWithin is lock, unless that takes longer.
func (s *Screen) lockWithin(d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case s.busy <- struct{}{}:
		return true
	case <-late.C:
		return false
	}
}

// ellipsis stands for what was cut off.
func ellipsis() string {
	if UTF8() {
		return "…"
	}
	return "..."
}

// UTF8 reports whether the locale has more characters than ASCII. Windows has no locale of this kind, and its consoles know UTF-8.
func UTF8() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return runtime.GOOS == "windows" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
