// Package output holds what a command has printed until it is known what becomes of it: in memory, then in a file without a name.
package output

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"

	"github.com/belay-run/belay/belaytype"
)

// maxMemory is how much held output stays in memory; more goes to a file.
const maxMemory = 1 << 20

// Output is what a command has printed on one stream while it was held back. It can be read as often as needed.
type Output struct {
	once sync.Once
	fill func(io.Writer) // writes it when it is first wanted; nil if that has been done

	mu     sync.Mutex
	dir    string // where a file may be made; empty means the system's place for temporary files
	memory bytes.Buffer
	file   *os.File
	size   int64
	// spare is how much of it stays in memory, at the end, if the disk takes no more; 0 if there is another place for it.
	spare int
	rest  bytes.Buffer
	full  error // why the disk takes no more
	lost  error // why it is not whole
}

// New returns an Output whose file, if it needs one, is in that directory; empty means the system's place for temporary files.
func New(dir string) *Output { return &Output{dir: dir} }

// MaxSpare is how much of a command's output stays in memory if the disk takes no more.
const MaxSpare = 64 << 20

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return 0, o.lost
	}
	var err error
	if o.file == nil && o.rest.Len() == 0 {
		if o.memory.Len()+len(p) <= maxMemory {
			o.size += int64(len(p))
			return o.memory.Write(p)
		}
		if err = o.spill(); err != nil && o.spare == 0 {
			return 0, err
		}
	}
	n := 0
	if o.file != nil && o.rest.Len() == 0 {
		n, err = o.file.WriteAt(p, o.size)
		if o.size += int64(n); err == nil || o.spare == 0 {
			return n, err
		}
	}
	if err != nil {
		o.full = err
	}
	if o.rest.Len()+len(p)-n > o.spare {
		o.lost = o.full
		return n, o.lost
	}
	m, _ := o.rest.Write(p[n:])
	o.size += int64(m)
	return len(p), nil
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

// filled makes sure that it is all there.
func (o *Output) filled() {
	o.once.Do(func() {
		if o.fill != nil {
			o.fill(o)
		}
	})
}

// Size is how many bytes it holds.
func (o *Output) Size() int64 {
	if o == nil {
		return 0
	}
	o.filled()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// ReadAt implements [io.ReaderAt].
func (o *Output) ReadAt(p []byte, off int64) (n int, err error) {
	o.filled()
	o.mu.Lock()
	defer o.mu.Unlock()
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	if room := max(0, o.size-off); int64(len(p)) > room {
		p, err = p[:room], io.EOF
	}
	for n < len(p) {
		at, begin := off+int64(n), o.size-int64(o.rest.Len()) // where the rest begins
		var m int
		var failed error
		switch {
		case at >= begin:
			m = copy(p[n:], o.rest.Bytes()[at-begin:])
		case o.file != nil:
			m, failed = o.file.ReadAt(p[n:min(int64(len(p)), int64(n)+begin-at)], at)
		default:
			m = copy(p[n:], o.memory.Bytes()[at:])
		}
		n += m
		if failed != nil && !(failed == io.EOF && m > 0) {
			return n, failed
		}
	}
	return n, err
}

// Reader reads it from the beginning.
func (o *Output) Reader() io.Reader {
	if o == nil {
		return bytes.NewReader(nil)
	}
	all := io.NewSectionReader(o, 0, o.Size())
	if err := o.Lost(); err != nil {
		return io.MultiReader(all, failingReader{err})
	}
	return all
}

// Lost is why it is not whole; nil if it is.
func (o *Output) Lost() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// failingReader stands where the rest of an output is missing.
type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// String is all of it.
func (o *Output) String() string {
	data, _ := io.ReadAll(o.Reader())
	return string(data)
}

// WithoutEnd shows the same without the end of its last line. It is good for as long as the other one is.
func (o *Output) WithoutEnd() *Output {
	last := make([]byte, 1)
	size := o.Size()
	if n, _ := o.ReadAt(last, size-1); size > 0 && n == 1 && last[0] == '\n' {
		size--
	}
	return &Output{dir: o.dir, spare: math.MaxInt, fill: func(w io.Writer) { io.Copy(w, io.NewSectionReader(o, 0, size)) }}
}

// Public is the same as callers have it.
func (o *Output) Public() *belaytype.Output {
	if o == nil {
		return nil
	}
	return belaytype.NewOutput(o)
}

// Reset empties it.
func (o *Output) Reset() { o.Close() }

// Close frees it: it then holds nothing. An Output that is not closed goes with the process.
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
	o.memory, o.rest, o.size, o.full, o.lost = bytes.Buffer{}, bytes.Buffer{}, 0, nil, nil
	return nil
}

// Keep lets so much of it stay in memory, at the end, if the disk takes no more.
func (o *Output) Keep(n int) { o.spare = n }

// Keeps reports whether there is no other place for what the disk does not take.
func (o *Output) Keeps() bool { return o.spare > 0 }

// FillLater says what writes it when it is first wanted.
func (o *Output) FillLater(fill func(io.Writer)) { o.fill = fill }

// Since is the part of it that begins at from and is still to come.
func (o *Output) Since(from int64) *section { return &section{of: o, from: from} }

// section is the part of an output that begins somewhere and has come since: what is written to it, the output has.
type section struct {
	of         *Output
	from, size int64
}

func (s *section) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return len(p), nil
}

func (s *section) ReadAt(p []byte, off int64) (int, error) { return s.of.ReadAt(p, s.from+off) }
func (s *section) Size() int64                             { return s.size }
func (s *section) Close() error                            { return nil }
