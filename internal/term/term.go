// Package term writes what Belay says to the user, and nothing else does: answers and tables on stdout, messages on stderr. [Printf],
// [Text], [JSON] and [Table] show what comes from commands, files and services without the control characters in it.
//
// A [Screen] is for messages: one line for each thing that happened, and a countdown or a status line
// that is redrawn in place where there is a terminal. Where there is none, the lines are plain, and one is written at least
// once a minute, because CI systems end a job that prints nothing for long.
package term

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/stdio"
)

// Beat is the longest silence while something is waited for.
const Beat = 60 * time.Second

// Screen is where Belay writes its messages.
type Screen struct {
	w       io.Writer
	tty     bool
	dumb    bool // it is a terminal on which nothing can be redrawn
	palette Palette
	// Prefix stands before every line.
	Prefix string
	// Rewrite changes a line before it is written, for a log in which some texts have a meaning; nil leaves it as it is.
	Rewrite func(string) string

	inPlace terminal      // where lines are redrawn in place; nil where they are not
	busy    chan struct{} // full while it is written to
	drawn   int           // how wide the line is that stands there in place; 0 if there is none
	cursor  cursor        // where the cursor was before that
}

// New returns the screen on w.
func New(w io.Writer) *Screen {
	s := &Screen{w: w, Prefix: "belay: ", busy: make(chan struct{}, 1)}
	s.tty = stdio.IsTerminal(w)
	s.dumb = s.tty && (os.Getenv("TERM") == "dumb" || !takesEscapes(stdio.FileOf(w)))
	if s.tty = s.tty && !s.dumb; s.tty {
		s.inPlace = newTerminal(stdio.FileOf(w))
	}
	s.palette = Palette{Colored(s.tty)}
	return s
}

// Colored reports whether what is written to a terminal, or to something else, has colours. It follows the conventions: NO_COLOR beats all, then CLICOLOR_FORCE and FORCE_COLOR decide, and on a terminal CLICOLOR.
func Colored(tty bool) bool {
	off := func(name string) bool { v := os.Getenv(name); return v == "0" || v == "false" }
	set := func(name string) bool { return os.Getenv(name) != "" && !off(name) }
	switch {
	case os.Getenv("NO_COLOR") != "":
		return false
	case set("CLICOLOR_FORCE"), set("FORCE_COLOR"):
		return true
	}
	return tty && !off("FORCE_COLOR") && !off("CLICOLOR")
}

// Line writes one line. What the arguments bring may be anyone's, as with [Printf].
func (s *Screen) Line(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the calls
	}
	s.lock()
	defer s.unlock()
	s.clear()
	text := printable.Line(sprintf(format, args))
	if s.Rewrite != nil {
		text = s.Rewrite(text)
	}
	fmt.Fprintf(s.w, "%s%s\n", s.palette.Paint(Faint, s.Prefix), text)
	s.cursor = cursorAtStart
}

// Countdown shows the time that is left until a moment, until stop is called: in one line that is redrawn in place, or in a line a minute.
func (s *Screen) Countdown(what string, until time.Time) (stop func()) {
	if s.inPlace != nil {
		return s.showInPlace(0, func(int) string {
			return fmt.Sprintf("%s: %s, at %s", what, clock(time.Until(until)), until.Local().Format("15:04:05 MST"))
		})
	}
	return Every(Beat, func() {
		if left := time.Until(until); left > 0 {
			s.Line("still waiting: %s left, until %s", Span(left), until.Local().Format("15:04:05 MST"))
		}
	})
}

// Pulse writes a line a minute where there is no terminal, until stop is called.
func (s *Screen) Pulse(what string) (stop func()) {
	if s.tty {
		return func() {}
	}
	begun := time.Now()
	return Every(Beat, func() { s.Line("%s (%s)", what, Span(time.Since(begun))) })
}

// Every calls a function again and again, until stop is called. When that returns, no call is going on.
func Every(interval time.Duration, do func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				do()
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// clock shows what is left of a countdown: 0:07, 1:47:22.
func clock(d time.Duration) string {
	return Elapsed(max(d, 0) + time.Second - 1)
}

// Elapsed shows how long something takes so far: 0:07, 1:47:22.
func Elapsed(d time.Duration) string {
	n := int(d / time.Second)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}

// Span shows a duration in at most two units: see [printable.Span].
func Span(d time.Duration) string { return printable.Span(d) }

// LiftCommand is what to type to lift a gate: see [printable.LiftCommand].
func LiftCommand(key string) string { return printable.LiftCommand(key) }
