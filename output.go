package belay

import (
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/belay-run/belay/verdict"
)

// maxMemory is how much held output stays in memory; more goes to a file.
const maxMemory = 1 << 20

// Output is what a command has printed on one stream while it was held back. It can be read as often as needed.
type Output struct {
	mu     sync.Mutex
	dir    string // where a file may be made; empty means the system's place for temporary files
	memory bytes.Buffer
	file   *os.File
	size   int64
}

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil && o.memory.Len()+len(p) <= maxMemory {
		o.size += int64(len(p))
		return o.memory.Write(p)
	}
	if o.file == nil {
		if err := o.spill(); err != nil {
			return 0, err
		}
	}
	n, err := o.file.WriteAt(p, o.size)
	o.size += int64(n)
	return n, err
}

// spill moves what is held to a file without a name: nothing is left of it however we end.
func (o *Output) spill() error {
	f, err := os.CreateTemp(o.dir, "held-*")
	if err != nil && o.dir != "" {
		f, err = os.CreateTemp("", "belay-held-*")
	}
	if err != nil {
		return err
	}
	os.Remove(f.Name()) // where an open file cannot be removed, Close does it
	if _, err := f.WriteAt(o.memory.Bytes(), 0); err != nil {
		f.Close()
		os.Remove(f.Name())
		return err
	}
	o.file, o.memory = f, bytes.Buffer{}
	return nil
}

// Size is how many bytes it holds.
func (o *Output) Size() int64 {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// Reader reads it from the beginning.
func (o *Output) Reader() io.Reader {
	if o == nil {
		return bytes.NewReader(nil)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		return io.NewSectionReader(o.file, 0, o.size)
	}
	return bytes.NewReader(o.memory.Bytes())
}

// String is all of it.
func (o *Output) String() string {
	data, _ := io.ReadAll(o.Reader())
	return string(data)
}

// Reset empties it.
func (o *Output) Reset() {
	o.Close()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size = 0
}

// Close frees it. An Output that is not closed goes with the process.
func (o *Output) Close() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
		o.file = nil
	}
	o.memory = bytes.Buffer{}
	return nil
}

// sink takes one stream of an attempt: what the verdict reads is always kept, the rest is held or passed on live.
type sink struct {
	capture *verdict.Capture
	held    *Output // what is not passed on yet
	kept    *Output // a copy of what is
	live    io.Writer
	first   func() // called at the first byte, if not nil

	// spilled says that it could not be held any longer (the disk is full, say) and was passed on: nothing is lost,
	// but the attempt can no longer be taken back.
	spilled bool
	// broken says that nobody takes the output any more.
	broken bool
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
	if s.held != nil && !s.spilled {
		if _, err := s.held.Write(p); err == nil {
			return len(p), nil
		}
		s.spilled = true
		if err := s.pass(); err != nil {
			s.broken = true
			return 0, err
		}
	}
	if s.kept != nil {
		s.kept.Write(p) // what cannot be kept is still passed on
	}
	n, err := s.live.Write(p)
	s.broken = err != nil
	return n, err
}

// replace puts something else in the place of what was held.
func (s *sink) replace(text string) {
	if s != nil && s.held != nil && !s.spilled {
		s.held.Reset()
		io.WriteString(s.held, text)
	}
}

// deliver passes on what was held.
func (s *sink) deliver() error {
	if s == nil || s.held == nil || s.spilled {
		return nil
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
func (s *sink) output() *Output {
	switch {
	case s == nil:
		return nil
	case s.held != nil:
		return s.held
	}
	return s.kept
}

func (s *sink) holds() bool { return s != nil && s.held != nil }

// final says why the attempt must be the last one, whatever came of it; empty if nothing speaks against another.
func (s *sink) final() string {
	switch {
	case s == nil:
		return ""
	case s.broken:
		return "nobody reads its output any more"
	case s.spilled:
		return "its output could not be held any longer and was passed on"
	}
	return ""
}
