package transcript

import (
	"bytes"
	"io"
	"os"

	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// sink takes one stream of an attempt: what the verdict reads is always kept, the rest is held or passed on live.
type sink struct {
	capture *verdict.Capture
	held    *output.Output // what is not passed on yet
	kept    *output.Output // a copy of what is
	live    io.Writer
	first   func() // called at the first byte, if not nil

	// spilled says that it could not be held any longer (the disk is full, say) and was passed on: nothing is lost,
	// but the attempt can no longer be taken back.
	spilled bool
	// dropped says that what was held is not passed on any more, though it can be read.
	dropped bool
	// broken says that the output can no longer be written.
	broken bool
	// checked says that it is an answer, which counts only if it was passed on; unwritten is why it was not.
	checked   bool
	unwritten error
	// showing says that an agent's progress is shown as it comes: what was held has been passed on, and the attempt can
	// still be repeated. unseen says that its reader has gone.
	showing, unseen bool
	// chatter is what the command says only because of how we start it: it is not passed on.
	chatter []byte
}

// Write implements [io.Writer].
func (s *sink) Write(p []byte) (int, error) {
	if s.first != nil {
		s.first()
		s.first = nil
	}
	if s.capture != nil {
		s.capture.Write(p)
	}
	if rest, ok := bytes.CutPrefix(p, s.chatter); ok && len(s.chatter) > 0 {
		s.chatter = nil
		if _, err := s.write(rest); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return s.write(p)
}

// write passes on or holds what is not for the verdict alone.
func (s *sink) write(p []byte) (int, error) {
	if s.showing {
		s.show(p)
		return len(p), nil
	}
	if s.held != nil && !s.spilled {
		_, err := s.held.Write(p)
		if err == nil || s.held.Keeps() { // then there is no other place for it
			return len(p), err
		}
		s.spilled = true
		if err := s.pass(); err != nil {
			s.broken = true
			return 0, err
		}
	}
	if s.kept != nil {
		s.kept.Write(p) // what cannot be kept is still passed on, and the result says that it is missing
	}
	n, err := s.live.Write(p)
	s.broken = err != nil
	if s.checked && s.unwritten == nil {
		s.unwritten = err
	}
	return n, err
}

// show writes what does not have to be read: the command continues without a reader, as it does where all is held.
func (s *sink) show(p []byte) {
	if s.kept != nil {
		s.kept.Write(p)
	}
	if !s.unseen {
		_, err := s.live.Write(p)
		s.unseen = err != nil
	}
}

// replace puts something else in the place of what was held.
func (s *sink) replace(text string) {
	if s != nil && s.held != nil && !s.spilled {
		s.held.Reset()
		io.WriteString(s.held, text)
	}
}

// drop says that what was held is not to be passed on: its attempt does not count.
func (s *sink) drop() {
	if s != nil {
		s.dropped = true
	}
}

// deliver passes on what was held.
func (s *sink) deliver() error {
	if s == nil {
		return nil
	}
	if s.held == nil || s.spilled || s.dropped || s.unseen || s.live == io.Discard {
		return s.unwritten
	}
	return s.pass()
}

// pass writes what was held, in large pieces.
func (s *sink) pass() error {
	_, err := io.CopyBuffer(s.live, s.held.Reader(), make([]byte, 256<<10))
	return err
}

// excerpt is what the verdict reads.
func (s *sink) excerpt() verdict.Excerpt {
	if s == nil || s.capture == nil {
		return verdict.Excerpt{}
	}
	return s.capture.Excerpt()
}

// output is what was held or kept; nil if nothing was.
func (s *sink) output() *output.Output {
	switch {
	case s == nil:
		return nil
	case s.held != nil:
		return s.held
	}
	return s.kept
}

// incomplete is why what is held is not all of it; nil if it is.
func (s *sink) incomplete() error {
	if !s.holds() {
		return nil
	}
	return s.held.Lost()
}

func (s *sink) holds() bool { return s != nil && s.held != nil }

// final says why the attempt must be the last one, whatever came of it; empty if nothing speaks against another.
func (s *sink) final() string {
	switch {
	case s == nil:
		return ""
	case s.broken:
		return message.Unread()
	case s.spilled:
		return "its output could not be held back any longer and was passed on"
	}
	return ""
}

// newSink decides what becomes of one stream: handed over as it is, passed on live, or held. repeats says that there may be
// more than one attempt.
func newSink(c *call.Call, w io.Writer, stdout, repeats bool, ad admission.Admission) (*sink, io.Writer) {
	_, isFile := w.(*os.File)
	kept := c.Settings.Keep || c.Checks()
	reported := kept || c.Command.Stdout == nil
	// Others wait for the first answer, which of a generic command is the first thing it prints.
	leased := stdout && ad.Leased()
	if isFile && !repeats && !c.Profile.Reads() && call.Lower(c.Settings.Stall, c.Settings.AtMost.Stall) <= 0 && !reported && !leased {
		return nil, w
	}
	s := &sink{capture: verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail), live: w, checked: stdout && c.Checks()}
	if w == nil {
		s.live = io.Discard
	}
	if leased {
		s.first = ad.Answered
	}
	switch {
	case w == nil && stdout:
		s.held = c.NewOutput()
		s.held.Keep(output.MaxSpare)
	case repeats && !c.Settings.Stream:
		s.held = c.NewOutput()
		if s.checked { // the check needs all of it
			s.held.Keep(output.MaxSpare)
		}
	case kept && stdout:
		s.kept = c.NewOutput()
		s.kept.Keep(output.MaxSpare)
	}
	return s, s
}
