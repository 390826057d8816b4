package input

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// Reader reads a stream in the background, which may never end.
type Reader struct {
	source       io.Reader
	Begun, Ended chan struct{}
	once         sync.Once
	Abandoned    atomic.Bool

	// Once it has ended:
	Data bytes.Buffer
	Err  error
}

// NewReader begins to read, up to a limit.
func NewReader(source io.Reader, limit int64) *Reader {
	in := &Reader{source: source, Begun: make(chan struct{}), Ended: make(chan struct{})}
	go func() {
		defer close(in.Ended)
		_, in.Err = io.Copy(&in.Data, io.LimitReader(in, limit))
	}()
	return in
}

// Read implements [io.Reader]: it notes that something has come, and ends once the input is no longer wanted.
func (in *Reader) Read(p []byte) (int, error) {
	n, err := in.source.Read(p)
	in.once.Do(func() { close(in.Begun) })
	if err == nil && in.Abandoned.Load() {
		err = io.EOF
	}
	return n, err
}
