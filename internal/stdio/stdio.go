// Package stdio is where a call of one of our executables reads and writes: the standard streams, or what a test has in their
// place.
package stdio

import (
	"io"
	"os"
	"reflect"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/supervise"
)

// Streams are the streams of one call. An *os.File is handed to commands as it is, so that they have the same terminal, pipe or
// file as without us; for Out that is its [Output.Raw].
type Streams struct {
	In  io.Reader
	Out *Output
	Err io.Writer
}

// New makes writers that are not files safe for concurrent use: commands write to them, and we meanwhile. A nil in is empty.
func New(in io.Reader, out, err io.Writer) Streams {
	s := Streams{in, OutputOf(out), err}
	if in == nil {
		s.In = strings.NewReader("")
	}
	if FileOf(out) == nil {
		s.Out = OutputOf(&lockedWriter{w: out})
	}
	if FileOf(err) == nil {
		s.Err = &lockedWriter{w: err}
		if reflect.TypeOf(err).Comparable() && out == err {
			s.Err = s.Out.Raw()
		}
	}
	return s
}

// InputFile is the input as a file, which is what a process can be given. What is none flows through a pipe until it ends or
// done is called.
func (s Streams) InputFile() (f *os.File, done func(), err error) {
	if f, ok := s.In.(*os.File); ok {
		return f, func() {}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	go func() {
		defer w.Close()
		io.Copy(w, s.In)
	}()
	return r, func() { r.Close() }, nil
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f := FileOf(stream)
	return f != nil && supervise.IsTerminal(f)
}

// lockedWriter lets several goroutines write to one writer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
