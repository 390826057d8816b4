package stdio

import (
	"io"
	"os"
	"sync"
)

// Output is the stdout of a call. All that a command of ours prints there goes through it, so that at the end one look at
// [Output.Err] tells whether the answer arrived, whichever function has printed it. Programs that we run get [Output.Raw].
type Output struct {
	raw io.Writer
	mu  sync.Mutex
	err error
}

// OutputOf is the output on a writer: the writer itself if it is an Output already.
func OutputOf(w io.Writer) *Output {
	if o, ok := w.(*Output); ok {
		return o
	}
	return &Output{raw: w}
}

// Write implements [io.Writer]. After the first failure nothing is written any more: a rest without its beginning could be
// taken for an answer.
func (o *Output) Write(p []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		n, o.err = o.raw.Write(p)
	}
	return n, o.err
}

// Err is the first failure of a write; nil if all went well.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Raw is the writer itself. A program that inherits it has the same terminal, pipe or file as without us, and whether its
// output arrives is its own affair.
func (o *Output) Raw() io.Writer { return o.raw }

// FileOf is the file that a stream is; nil if it is none.
func FileOf(stream any) *os.File {
	if o, ok := stream.(*Output); ok {
		stream = o.raw
	}
	f, _ := stream.(*os.File)
	return f
}
