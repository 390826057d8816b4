package engine

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/input"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// stdin is the caller's standard input as an agent is given it.
type stdin struct {
	call  *call.Call
	pace  *admission.Pace
	info  *agent.Info
	given bool // the agent has its prompt already: nothing need come
}

// silence is how long the input of an agent that has its prompt already may stay silent. Without it, a caller that leaves
// stdin open and never writes to it would wait for ever.
func (k *stdin) silence() time.Duration {
	if k.info.Silence > 0 {
		return k.info.Silence
	}
	return 10 * time.Second
}

// mostStdin is what is kept in memory of the input for a CLI that has no limit of its own: more than any model reads.
const mostStdin = 256 << 20

// read reads the caller's stdin for an agent, once: all attempts get the same. The refusal says why there is none.
func (k *stdin) read() ([]byte, *admission.Refusal) {
	if k.info.NoInput || k.call.Command.Stdin == nil {
		return nil, nil
	}
	if f, ok := k.call.Command.Stdin.(*os.File); ok {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 { // a terminal, the null device, or nothing
			return nil, nil
		}
	}
	limit := cmp.Or(k.info.MaxInput, mostStdin)
	in := input.NewReader(k.call.Command.Stdin, limit+1)
	refused, whole := k.await(in)
	if !whole {
		in.Abandoned.Store(true)
		return nil, refused
	}
	switch {
	case in.Err != nil:
		return nil, unplanned(fmt.Errorf("%s: %w", "cannot read stdin", in.Err))
	case int64(in.Data.Len()) > limit:
		return nil, unplanned(fmt.Errorf("stdin has more than the %d bytes that %s accepts. Put the text in a file and name that file in the prompt", limit, k.call.Command.Name()))
	}
	return in.Data.Bytes(), nil
}

// await waits until all of stdin is there, and reports whether it is: not if nothing comes and nothing need come, if the
// invocation is ended, or if it takes longer than an attempt may. In the last case refused says so. A CLI that itself waits
// for its input to end, whatever else it was given, waits here too: the writer may only be slow.
func (k *stdin) await(in *input.Reader) (refused *admission.Refusal, whole bool) {
	silence, limit := k.silence(), k.call.Timeout()
	if k.given && limit > 0 {
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
	begun := in.Begun
	for {
		select {
		case <-in.Ended:
			return nil, true
		case <-begun:
			begun = nil
			silent.Stop()
		case <-silent.C:
			k.call.Emit(belaytype.StdinSilent{For: silence, Awaited: !k.given})
			if k.given {
				return nil, false
			}
		case <-late:
			if k.given && begun != nil {
				continue // the other timer says what follows
			}
			return k.timeout(limit), false
		case <-k.pace.Ctx.Done():
			return nil, false
		}
	}
}

// timeout is the refusal of an attempt that is not made because stdin does not end.
func (k *stdin) timeout(limit time.Duration) *admission.Refusal {
	late := &belaytype.StdinTimeout{Command: k.call.Command.Name(), Limit: limit}
	return &admission.Refusal{Code: -1, TimedOut: true, Expired: true, Stop: &retry.Error{Cause: late}, Message: k.call.CauseText(late),
		Verdict: verdict.Verdict{Class: verdict.Timeout, Rule: "stdin", Sent: verdict.SentNo}}
}
