package fleet

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/supervise"
)

// Open starts belayd, and tells it the name of the batch. stop is called with [*Ended] when belayd has ended.
func Open(ctx context.Context, c Caller, name string, stop context.CancelCauseFunc) (*Line, error) {
	path, argv, err := command.Belayd("batch --fleet", belayd.Courier)
	if err != nil {
		return nil, err
	}
	in, orders, err := os.Pipe()
	if err != nil {
		return nil, command.Fail(err)
	}
	l := newLine(c, &pipe{orders: orders, done: make(chan struct{}), out: bufio.NewWriterSize(orders, 64<<10)})
	if c.DSN != "" {
		argv = append(argv, "--dsn="+c.DSN)
	}
	reports, reportsIn := io.Pipe()
	go func() {
		defer close(l.pipe.done)
		defer in.Close()
		sup := command.Supervisor(ctx)
		if sup == nil {
			sup = &supervise.Supervisor{}
		}
		spec := supervise.Spec{Path: path, Args: argv, Env: belayd.Environ(os.Environ()), Stdin: in, Stdout: reportsIn, Stderr: c.Stderr, Placement: supervise.OwnGroup}
		exit, err := sup.Run(spec, nil)
		reportsIn.Close()
		<-l.heard // it may have said why
		ended := &Ended{said: l.failed}
		if err == nil {
			ended.code = exit.ShellCode()
		}
		stop(ended)
	}()
	go l.read(reports)
	return l, l.pipe.send(fleetpipe.Order{Batch: name, Except: c.Except})
}

// Close ends belayd.
func (l *Line) Close() { l.pipe.close() }

// mostFollowed is how many tasks are waited for at a time without -j. All are submitted at once.
const mostFollowed = 10_000

// Use has the tasks of a batch done by other machines: all at once, or so many as jobs says.
func (l *Line) Use(ctx context.Context, b *batch.Batch, jobs string) error {
	b.Do, b.Elsewhere, b.Written = l.do, true, l.written
	atOnce, err := strconv.Atoi(jobs)
	if b.Jobs = atOnce; err != nil { // none, or auto
		b.Jobs = mostFollowed
	}
	b.Jobs = max(1, min(b.Plan.Len(), b.Jobs))
	b.Halted = func() { l.pipe.send(fleetpipe.Order{Withdraw: true}) }
	b.Overspent = func() { l.pipe.send(fleetpipe.Order{Cancel: true}) }
	context.AfterFunc(ctx, func() { l.pipe.send(fleetpipe.Order{Cancel: true}) })
	return l.submitAll(ctx, b, atOnce)
}
