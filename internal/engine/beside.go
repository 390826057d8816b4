package engine

import (
	"bytes"
	"io"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// maxStderrLine is how much of a line on stderr is read for what it tells.
const maxStderrLine = 16 << 10

// stderrReader lets the follower read a standard error line by line, and passes all of it on.
type stderrReader struct {
	log    *eventLog
	reader agent.StderrReader
	to     io.Writer
	held   []byte
}

// Write implements [io.Writer].
func (r *stderrReader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		r.held = append(r.held, line[:min(len(line), maxStderrLine-len(r.held))]...)
		if rest = after; whole {
			r.log.stderrLine(r.reader, bytes.TrimSuffix(r.held, []byte("\r")))
			r.held = r.held[:0]
		}
	}
	return r.to.Write(p)
}

// stderrLine acts on what a line on stderr says.
func (t *eventLog) stderrLine(reader agent.StderrReader, line []byte) {
	t.reading.Lock()
	defer t.reading.Unlock()
	if info, ok := reader.StderrLine(line); ok && !t.closed {
		t.act(info)
	}
}

// looks are the pauses after which the CLI's own record is looked at when the model is about to be asked again: the CLI
// writes it a moment after its event.
var looks = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second}

// lookInterval is how often it is looked at otherwise.
const lookInterval = 10 * time.Second

// lookLater looks at the CLI's own record, if it has one, after these pauses and from then on at intervals.
func (t *eventLog) lookLater(pauses []time.Duration) {
	reader, ok := t.follower.(agent.RecordReader)
	if !ok || t.closed {
		return
	}
	pause, rest := lookInterval, pauses
	if len(pauses) > 0 {
		pause, rest = pauses[0], pauses[1:]
	}
	if t.look != nil {
		t.look.Stop()
	}
	t.look = time.AfterFunc(pause, func() {
		t.reading.Lock()
		defer t.reading.Unlock()
		if t.closed {
			return
		}
		if info, ok := reader.Look(); ok {
			if info.Turn != nil { // else it says no more than that it is alive
				t.act(info)
			}
			t.beat()
		}
		t.lookLater(rest)
	})
}

// beat is a sign of life that does not show on the streams.
func (t *eventLog) beat() {
	t.mu.Lock()
	process, tools, waiting := t.process, t.tools, t.waiting
	t.mu.Unlock()
	if process != nil {
		process.SetStall(t.stallTimeout(tools, waiting))
	}
}

func (t *eventLog) exitCode(code int) int {
	if coder, ok := t.follower.(agent.ExitCoder); ok {
		return coder.ExitCode(code)
	}
	return code
}
