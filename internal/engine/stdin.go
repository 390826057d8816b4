package engine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// silence is how long the input of an agent that has its prompt already may stay silent. Without it, a caller that leaves
// stdin open and never writes to it would wait for ever.
func (k *turn) silence() time.Duration {
	if k.info.Silence > 0 {
		return k.info.Silence
	}
	return 10 * time.Second
}

// readInput reads the caller's stdin for an agent, once: all attempts get the same. The refusal says why there is none.
func (k *turn) readInput() *refusal {
	if k.info.NoInput || k.call.command.Stdin == nil {
		return nil
	}
	if f, ok := k.call.command.Stdin.(*os.File); ok {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 { // a terminal, the null device, or nothing
			return nil
		}
	}
	limit := k.info.MaxInput
	in := newInputReader(k.call.command.Stdin, limit+1)
	refused, whole := k.awaitInput(in)
	if !whole {
		in.abandoned.Store(true)
		return refused
	}
	switch {
	case in.err != nil:
		return unplanned(fmt.Errorf("%s: %w", "cannot read stdin", in.err))
	case int64(in.data.Len()) > limit:
		return unplanned(fmt.Errorf("stdin has more than the %d bytes that %s accepts. Put the text in a file and name that file in the prompt", limit, k.call.command.name()))
	}
	if in.data.Len() > 0 {
		k.first.Stdin = in.data.Bytes()
		k.next.Stdin = k.first.Stdin
	}
	return nil
}

// awaitInput waits until all of stdin is there, and reports whether it is: not if nothing comes and nothing need come, if the
// invocation is ended, or if it takes longer than an attempt may. In the last case refused says so. A CLI that itself waits
// for its input to end, whatever else it was given, waits here too: the writer may only be slow.
func (k *turn) awaitInput(in *inputReader) (refused *refusal, whole bool) {
	given := k.info.HasPrompt || k.first.Prompt != nil
	silence, limit := k.silence(), k.call.timeout()
	if given && limit > 0 {
		silence = min(silence, limit) // nothing need come, so that nothing is wrong if it does not
	}
	silent := time.NewTimer(silence)
	defer silent.Stop()
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	begun := in.begun
	for {
		select {
		case <-in.ended:
			return nil, true
		case <-begun:
			begun = nil
			silent.Stop()
		case <-silent.C:
			k.call.emit(belaytype.StdinSilent{For: silence, Awaited: !given})
			if given {
				return nil, false
			}
		case <-late:
			if given && begun != nil {
				continue // the other timer says what follows
			}
			return k.stdinTimeout(limit), false
		case <-k.pace.ctx.Done():
			return nil, false
		}
	}
}

// stdinTimeout is the refusal of an attempt that is not made because stdin does not end.
func (k *turn) stdinTimeout(limit time.Duration) *refusal {
	late := &belaytype.StdinTimeout{Command: k.call.command.name(), Limit: limit}
	return &refusal{code: -1, timedOut: true, expired: true, stop: &retry.Error{Cause: late}, message: k.call.causeText(late),
		verdict: verdict.Verdict{Class: verdict.Timeout, Rule: "stdin", Sent: verdict.SentNo}}
}

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
