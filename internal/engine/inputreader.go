package engine

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// inputReader reads a stream in the background, which may never end.
type inputReader struct {
	source       io.Reader
	begun, ended chan struct{}
	once         sync.Once
	abandoned    atomic.Bool

	// Once it has ended:
	data bytes.Buffer
	err  error
}

// newInputReader begins to read, up to a limit.
func newInputReader(source io.Reader, limit int64) *inputReader {
	in := &inputReader{source: source, begun: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(in.ended)
		_, in.err = io.Copy(&in.data, io.LimitReader(in, limit))
	}()
	return in
}

// Read implements [io.Reader]: it notes that something has come, and ends once the input is no longer wanted.
func (in *inputReader) Read(p []byte) (int, error) {
	n, err := in.source.Read(p)
	in.once.Do(func() { close(in.begun) })
	if err == nil && in.abandoned.Load() {
		err = io.EOF
	}
	return n, err
}
