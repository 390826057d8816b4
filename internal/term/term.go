// Package term writes what Belay says to the user, and nothing else does: answers and tables on stdout, messages on stderr. [Printf],
// [Text], [JSON] and [Table] show what comes from commands, files and services without the control characters in it.
//
// A [Screen] is for messages: one line for each thing that happened, and a countdown
// that redraws itself where there is a terminal. Where there is none, the lines are plain, and one is written at least
// once a minute, because CI systems end a job that prints nothing for long.
package term

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
)

// Beat is the longest silence while something is waited for.
const Beat = 60 * time.Second

// Screen is where Belay writes its messages.
type Screen struct {
	w     io.Writer
	tty   bool
	color bool
	// Prefix stands before every line.
	Prefix string

	mu    sync.Mutex
	drawn bool // a line that redraws itself stands there now
}

// New returns the screen on w.
func New(w io.Writer) *Screen {
	s := &Screen{w: w, Prefix: "belay: "}
	file, ok := w.(*os.File)
	s.tty = ok && supervise.IsTerminal(file) && os.Getenv("TERM") != "dumb"
	s.color = colored(s.tty)
	return s
}

// colored follows the conventions: NO_COLOR beats all, then CLICOLOR_FORCE and FORCE_COLOR decide, and on a terminal CLICOLOR.
func colored(tty bool) bool {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintf(s.w, "%s%s\n", s.dim(s.Prefix), printable.Line(sprintf(format, args)))
}

// clear removes a line that redraws itself.
func (s *Screen) clear() {
	if s.drawn {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.drawn = false
	}
}

func (s *Screen) dim(text string) string {
	if s.color {
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}

// Countdown shows the time that is left until a moment, until stop is called. On a terminal it is one line that redraws
// itself; elsewhere it is a line a minute.
func (s *Screen) Countdown(what string, until time.Time) (stop func()) {
	every := Beat
	if s.tty {
		every = time.Second
		s.draw(what, until)
	}
	return s.repeat(every, func() {
		if s.tty {
			s.draw(what, until)
		} else if left := time.Until(until); left > 0 {
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
	return s.repeat(Beat, func() { s.Line("%s (%s)", what, Span(time.Since(begun))) })
}

func (s *Screen) repeat(every time.Duration, do func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
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
		s.mu.Lock()
		defer s.mu.Unlock()
		s.clear()
	}
}

func (s *Screen) draw(what string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := max(0, time.Until(until))
	fmt.Fprintf(s.w, "\r\x1b[K%s%s: %s, at %s", s.dim(s.Prefix), printable.Line(what), clock(left), until.Local().Format("15:04:05 MST"))
	s.drawn = true
}

// clock shows what is left of a countdown: 0:07, 1:47:22.
func clock(d time.Duration) string {
	n := int((d + time.Second - 1) / time.Second)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}

// Span shows a duration in at most two units: see [printable.Span].
func Span(d time.Duration) string { return printable.Span(d) }

// LiftCommand is what to type to lift a gate: see [printable.LiftCommand].
func LiftCommand(key string) string { return printable.LiftCommand(key) }
