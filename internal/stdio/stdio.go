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

// Streams are those of one call. An *os.File is handed to commands as it is, so that they have the same terminal, pipe or
// file as without us.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// New makes writers that are not files safe for concurrent use: commands write to them, and we meanwhile. A nil in is empty.
func New(in io.Reader, out, err io.Writer) Streams {
	s := Streams{in, out, err}
	if in == nil {
		s.In = strings.NewReader("")
	}
	if _, ok := out.(*os.File); !ok {
		s.Out = &lockedWriter{w: out}
	}
	if _, ok := err.(*os.File); !ok {
		s.Err = &lockedWriter{w: err}
		if reflect.TypeOf(err).Comparable() && out == err {
			s.Err = s.Out
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
	f, ok := stream.(*os.File)
	return ok && supervise.IsTerminal(f)
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
