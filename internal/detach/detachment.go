package detach

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// Arg is the first argument of a belay that was detached. The id of the run, the time that it starts at and the whole command line follow.
const Arg = "__detached"

// underWay is what a detached belay tells the one that has started it, once it is on its way. One that ends before has been refused.
const underWay = "under way\n"

// argsKey is the key of the whole command line in a context.
type argsKey struct{}

// WithArgs returns a context that knows the whole command line.
func WithArgs(ctx context.Context, args []string) context.Context {
	return context.WithValue(ctx, argsKey{}, args)
}

// Detachment is the run that a detached belay is for. It is nil in a belay that was not detached.
type Detachment struct {
	ID     string
	at     time.Time
	report io.WriteCloser
	once   sync.Once
	cancel context.CancelCauseFunc
}

// detachmentKey is the key of a detachment in a context.
type detachmentKey struct{}

// Of is the detached run that the context belongs to; nil if there is none.
func Of(ctx context.Context) *Detachment {
	d, _ := ctx.Value(detachmentKey{}).(*Detachment)
	return d
}

// Execute is a belay that was detached: it executes the same command line, with its output spooled.
func Execute(ctx context.Context, std stdio.Streams, args []string, execute func(context.Context, stdio.Streams, []string) error) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // the one that has started us may have gone
	if len(args) < 3 {
		return command.Usage(message.Error(message.NoSuchCommand(Arg)), "")
	}
	d := &Detachment{ID: args[0], report: stdio.FileOf(std.Out)}
	if args[1] != "" {
		var err error
		if d.at, err = time.Parse(time.RFC3339Nano, args[1]); err != nil {
			return command.Fail(err)
		}
	}
	input, err := io.ReadAll(std.In)
	if err != nil {
		return command.Fail(err)
	}
	state, err := command.OpenState()
	if err != nil {
		return err
	}
	w, err := state.Spools().Adopt(d.ID)
	if err != nil {
		return command.Fail(message.Error(message.CannotDetach(err), err))
	}
	streams := stdio.New(bytes.NewReader(input), w.Stdout, w.Stderr)
	ctx, d.cancel = context.WithCancelCause(context.WithValue(ctx, detachmentKey{}, d))
	defer d.cancel(nil)
	if end := command.OwnsProcess(ctx); end != nil {
		ctx = command.OwnProcess(ctx, func(code int) {
			w.Finish(code)
			end(code)
		})
	}
	code := command.CodeOf(streams, execute(ctx, streams, args[2:]))
	w.Finish(code)
	return command.Exit(code)
}

// observe notices that the run is on its way.
func (d *Detachment) observe(e belaytype.Event) {
	switch e.(type) {
	case belaytype.AttemptStarted, belaytype.AtGate, belaytype.ScopeBusy, belaytype.Waiting:
		d.Begun()
	}
}

// Begun tells the belay that has started this one that the run is on its way. If that one is gone, its user knows nothing of the run, and it is stopped.
func (d *Detachment) Begun() {
	if d == nil {
		return
	}
	d.once.Do(func() {
		_, err := io.WriteString(d.report, underWay)
		d.report.Close()
		if err != nil {
			d.cancel(message.Error("belay run --detach was interrupted"))
		}
	})
}

// Attend lets the runner of a detached run have its id, and tell that it is on its way.
func (d *Detachment) Attend(r *engine.Runner) {
	if d == nil {
		return
	}
	r.ID = d.ID
	observe, postponed := r.Observe, r.Postponed
	r.Observe = func(e belaytype.Event) {
		d.observe(e)
		observe(e)
	}
	r.Postponed = func(p engine.Postponed) {
		d.Begun()
		postponed(p)
	}
}
