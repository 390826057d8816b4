package stdio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/test/must"
)

// What is a file stays that file: a command that inherits it has the caller's own descriptor.
func TestNew_KeepsFiles(t *testing.T) {
	r, w, err := os.Pipe()
	must.OK(t, err)
	defer r.Close()
	defer w.Close()
	s := stdio.New(r, w, w)
	if s.In != io.Reader(r) || s.Out.Raw() != io.Writer(w) || s.Err != io.Writer(w) {
		t.Errorf("%+v", s)
	}
	if f, done, err := s.InputFile(); f != r || err != nil {
		t.Errorf("%v, %v", f, err)
	} else {
		done()
		if _, err := r.Stat(); err != nil {
			t.Error("the caller's file was closed")
		}
	}
	if stdio.IsTerminal(s.In) || stdio.IsTerminal(s.Out) {
		t.Error("a pipe is no terminal")
	}
}

// Both writers may be one buffer, and many may write.
func TestNew_OneBufferForBoth(t *testing.T) {
	var b bytes.Buffer
	s := stdio.New(nil, &b, &b)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { fmt.Fprintln(s.Out, "out") })
		all.Go(func() { fmt.Fprintln(s.Err, "err") })
	}
	all.Wait()
	if got := strings.Count(b.String(), "out\n") + strings.Count(b.String(), "err\n"); got != 100 {
		t.Errorf("%d lines are whole", got)
	}
	if stdio.IsTerminal(s.Out) {
		t.Error("a buffer is no terminal")
	}
}

func TestStreams_InputFile(t *testing.T) {
	for name, in := range map[string]io.Reader{"hello": strings.NewReader("hello"), "": nil} {
		f, done, err := stdio.New(in, io.Discard, io.Discard).InputFile()
		must.OK(t, err)
		if got, err := io.ReadAll(f); string(got) != name || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		done()
	}
}

// failing fails from its second write on, unless it was told to work again.
type failing struct {
	writes int
	err    error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes++; f.writes > 1 && f.err != nil {
		return 0, f.err
	}
	return len(p), nil
}

// A failure is remembered, even if its caller overlooked it, and nothing follows what is missing.
func TestOutput(t *testing.T) {
	full := errors.New("no space left on device")
	f := &failing{err: full}
	out := stdio.New(nil, f, io.Discard).Out
	fmt.Fprint(out, "a")
	if err := out.Err(); err != nil {
		t.Error(err)
	}
	fmt.Fprint(out, "b")
	f.err = nil
	if n, err := fmt.Fprint(out, "c"); n != 0 || err != full || out.Err() != full || f.writes != 2 {
		t.Errorf("%d, %v, %v after %d writes", n, err, out.Err(), f.writes)
	}
	if stdio.OutputOf(out) != out {
		t.Error("an output has another one in front of it")
	}
}
