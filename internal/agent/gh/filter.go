package gh

import (
	"bytes"
	"io"
	"strings"
	"time"
)

// maxLine is how much of a line of the trace is kept, and maxHeld how much is held back that may belong to a body.
const (
	maxLine = 256 << 10
	maxHeld = 1 << 20
)

// filter takes gh's stderr apart: the trace goes to a [trace], gh's own words to the user.
//
// The trace is what stands between "* Request at" and as many "* Request took". JSON, which is nearly all of it, is shown
// with its strings escaped and its lines indented and so cannot look like either. Other bodies are shown as they are. A
// "Request at" in one of them is told by its time: it is not now. A "Request took" is told by the real one that comes
// after it, so that what follows such a body is held back until another request begins or gh ends.
//
// With the trace on, gh also shows the git commands that it runs, more of a failed look-up, and before 2.30 what it takes a command for that it does not have;
// the user sees none of it.
type filter struct {
	user  io.Writer
	trace *trace
	// now is when a request may have begun: between the start and this. A saved trace has no such time.
	start time.Time
	now   func() time.Time

	line        []byte // what has come of the line
	long        bool   // and is not kept any more
	lineStarted bool   // the user has the beginning of the line
	open        int
	holding     bool
	held        []byte
	resolved    bool   // the line before says that a host was not found
	expansion   string // how gh's first line begins if it does not have the command; empty after that line
	err         error
}

const (
	beginMark = "* Request at "
	endMark   = "* Request took "
	gitMark   = "[git "
	dnsMark   = "error connecting to "
	lookMark  = "lookup "
)

// setTimes says when the traced attempt began and ended; a saved trace has no such times.
func (f *filter) setTimes(began, ended time.Time) {
	if !began.IsZero() {
		f.start, f.now = began, func() time.Time { return ended }
	}
}

// Write implements io.Writer. An error is the user's.
func (f *filter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		part := rest
		if end > 0 {
			part = rest[:end]
		}
		rest = rest[len(part):]
		f.add(part)
		if end > 0 {
			f.endLine()
		}
	}
	f.passOnEarly()
	return len(p), f.err
}

// Close passes on what was held back.
func (f *filter) Close() error {
	if f.open == 0 {
		f.release()
		f.passOn(f.line)
	}
	f.line = nil
	f.trace.finish()
	return f.err
}

func (f *filter) add(part []byte) {
	if f.open > 0 && len(f.line)+len(part) > maxLine {
		f.line = append(f.line, part[:max(0, min(len(part), maxLine-len(f.line)))]...)
		f.long = true
		return
	}
	f.line = append(f.line, part...)
}

func (f *filter) endLine() {
	text := bytes.TrimSuffix(f.line, []byte("\n"))
	switch {
	case f.open > 0:
		f.traceLine(text)
	case f.holding && requestDuration(text) >= 0:
		// There was one before this, so that one, and what followed it, was part of a body.
		f.held = nil
		f.trace.reopen()
		f.trace.end(requestDuration(text))
	default:
		f.ownLine(text)
	}
	f.line, f.long, f.expansion = f.line[:0], false, ""
}

// traceLine takes a line while requests are open.
func (f *filter) traceLine(text []byte) {
	if at, ok := f.begins(text); ok && bytes.HasPrefix(text, []byte(beginMark)) {
		f.open++
		f.trace.begin(at)
	} else if took := requestDuration(text); took >= 0 && !f.long {
		f.open--
		wasRaw := f.trace.end(took)
		f.holding = f.open == 0 && wasRaw
	} else {
		f.trace.incomplete = f.trace.incomplete || !f.trace.raw && bytes.HasPrefix(text, []byte(beginMark))
		f.trace.line(text)
	}
}

// ownLine takes a line of gh's own, which may end in the beginning of a trace: gh does not always end its lines.
func (f *filter) ownLine(text []byte) {
	if i := bytes.LastIndex(text, []byte(beginMark)); i >= 0 {
		if at, ok := f.begins(text[i:]); ok {
			f.release()
			f.passOn(text[:i])
			f.open, f.lineStarted, f.resolved = 1, false, false
			f.trace.begin(at)
			return
		}
	}
	// A line of a request that is not seen: the clock was set, or something has taken lines out.
	f.trace.incomplete = f.trace.incomplete || bytes.Contains(text, []byte(beginMark)) || requestDuration(text) >= 0
	whole := f.line // with its end
	isList := bytes.HasPrefix(text, []byte(gitMark)) || f.expansion != "" && bytes.HasPrefix(text, []byte(f.expansion))
	if !f.lineStarted && (isList && bytes.HasSuffix(text, []byte("]")) ||
		f.resolved && bytes.HasPrefix(text, []byte(lookMark))) {
		f.resolved = false
		return
	}
	f.resolved = !f.lineStarted && bytes.HasPrefix(text, []byte(dnsMark))
	f.lineStarted = false
	f.passOn(whole)
}

// passOn writes text to the user, or holds it back.
func (f *filter) passOn(text []byte) {
	if f.holding {
		if f.held = append(f.held, text...); len(f.held) > maxHeld {
			f.release()
		}
		return
	}
	if len(text) > 0 && f.err == nil {
		_, f.err = f.user.Write(text)
	}
}

func (f *filter) release() {
	held := f.held
	f.holding, f.held = false, nil
	f.passOn(held)
}

// passOnEarly passes on a line that has not ended, such as a question, unless it may become something else.
func (f *filter) passOnEarly() {
	if f.open > 0 || len(f.line) == 0 || f.holding {
		return
	}
	line := string(f.line)
	if strings.Contains(line, beginMark) && len(line) < maxLine {
		return
	}
	keep := 0
	for n := min(len(beginMark)-1, len(line)); n > 0; n-- {
		if strings.HasSuffix(line, beginMark[:n]) {
			keep = n
			break
		}
	}
	for _, mark := range []string{gitMark, lookMark, dnsMark, f.expansion} {
		if !f.lineStarted && mark != "" && len(line) < maxLine && (strings.HasPrefix(line, mark) || strings.HasPrefix(mark, line)) {
			return
		}
	}
	if len(line) > keep {
		f.passOn(f.line[:len(line)-keep])
		f.line = append(f.line[:0], line[len(line)-keep:]...)
		f.lineStarted = true
	}
}

// begins reads "* Request at 2026-11-15 00:26:56.985556891 +0000 UTC m=+0.758737373".
func (f *filter) begins(text []byte) (time.Time, bool) {
	rest, ok := strings.CutPrefix(string(text[:min(len(text), 200)]), beginMark)
	if !ok {
		return time.Time{}, false
	}
	fields := strings.Fields(rest)
	if len(fields) < 3 {
		return time.Time{}, false
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", strings.Join(fields[:3], " "))
	if err != nil || f.now == nil {
		return at, err == nil
	}
	const slack = 5 * time.Second // clocks are set while programs run
	return at, at.After(f.start.Add(-slack)) && at.Before(f.now().Add(slack))
}

// requestDuration is the time in "* Request took 32.246866ms"; negative for any other line.
func requestDuration(text []byte) time.Duration {
	rest, ok := strings.CutPrefix(string(text[:min(len(text), 100)]), endMark)
	if !ok || len(text) > 100 {
		return -1
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return -1
	}
	return d
}
