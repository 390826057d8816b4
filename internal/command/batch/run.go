package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/batch/fleet"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// run runs the batch, and says how it stands and what has become of it.
func (r *taskRunner) run(b *batch.Batch, results string, line batchCommand) error {
	r.view = &batchView{settings: r.settings, stderr: r.std.Err, batch: b, screen: term.New(r.std.Err).Beside(r.std.Out), results: results, command: line, said: map[string]bool{}, trees: works{}}
	b.Ledger.Notice = r.view.line
	r.view.begin()
	if err := setup.KeepAwake(r.settings, r.view.line); err != nil {
		return errors.Join(err, b.Ledger.Close(false))
	}
	s := r.prepareState()
	record := r.openRecord(s, results)
	if b.MaxCost > 0 && record != nil {
		b.Book = s.RunCosts().Book(record.ID, &budget.Terms{Limit: b.MaxCost})
		defer b.Book.Remove()
	}
	r.results, _ = filepath.Abs(results)
	r.remember(s, results, line)
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	if command.OwnsProcess(r.ctx) != nil {
		go r.obey(command.CatchSignals(true), cancel, record)
	}
	r.awaitStart(ctx, record)
	r.starter.Supervisor = command.Supervisor(r.ctx)
	b.NoWait = !r.waits(r.settings)
	if b.MaxLack = r.settings.MaxWait; b.MaxLack == 0 && !r.settings.NoWait && !r.settings.Chosen("max-wait") {
		b.MaxLack = usualMaxWait
	}
	b.Do = r.do
	b.Ended, b.FailuresOnly = r.view.ended, true
	if b.MaxJobs = maxJobs(r.settings); b.Jobs == 0 && len(r.template.Command()) > 0 && commandProfile(r.template.Command()) == nil {
		b.Jobs = runtime.NumCPU() // a plain command is bound by the machine, and says nothing of a service
	}
	if r.options.fleet {
		line, err := fleet.Open(ctx, r.caller(), b.Ledger.FleetBatch(), cancel)
		if err == nil {
			defer line.Close()
			err = line.Use(ctx, b, r.options.jobs)
		}
		if err != nil {
			r.rows.Close()
			record.Remove()
			return errors.Join(err, b.Ledger.Close(false))
		}
	}
	begun := time.Now()
	stop := r.view.follow(record)
	sum, err := b.Run(ctx)
	stop()
	r.rows.Close()
	record.Remove()
	over := err == nil && sum.Complete()
	if over && sum.Counts[batch.Failed]+sum.Counts[batch.Skipped] == 0 {
		b.Ledger.RemoveSpool(results)
	}
	cerr := b.Ledger.Close(over)
	switch {
	case err != nil:
		return command.Fail(err)
	case cerr != nil && sum.Stop != batch.Unwritable:
		sum.Stop, sum.Err = batch.Unwritable, cerr
	}
	return r.view.end(&sum, time.Since(begun))
}

// remember lets belay ui find the batch. If that does not work, it is not shown there.
func (r *taskRunner) remember(s *state.State, results string, command batchCommand) {
	path, err := filepath.Abs(results)
	dir, derr := os.Getwd()
	if err != nil || derr != nil || s == nil {
		return
	}
	e := batch.Entry{Results: path, Tasks: command.tasks, Dir: dir, Started: time.Now(), Retry: command.retrying(),
		Again: command.again().words(func(word string) string { return word })}
	if r.view.batch.Ledger.IsNew() {
		e.Owner, _ = filepath.Abs(command.tasks)
	}
	secrets := &redact.Known{Env: r.env, Args: command.args}
	secret := func(text string) bool { return secrets.Text(text) != text }
	if secret(e.Retry) || slices.ContainsFunc(e.Again, secret) {
		e.Retry, e.Again = "", nil
	}
	if slices.ContainsFunc(e.Again, func(word string) bool { return !utf8.ValidString(word) }) { // which JSON would not give back
		e.Again = nil
	}
	batch.Registry{Dir: s.BatchDir()}.Note(e)
}

// usualMaxWait is what may be waited where --max-wait does not say so.
const usualMaxWait = 5 * time.Minute

// prepareState is the state directory; nil if it cannot be used, which stops nothing.
func (r *taskRunner) prepareState() *state.State {
	s := &state.State{}
	if err := s.Prepare(); err != nil {
		r.view.line(message.NoRecord(nil, err))
		return nil
	}
	return s
}

// openRecord tells others that the batch runs; what its tasks leave behind when it is killed is found by that.
func (r *taskRunner) openRecord(s *state.State, results string) *supervise.Record {
	if s == nil {
		return nil
	}
	if ended, err := s.Records().Reclaim(); err == nil && len(ended) > 0 {
		r.view.say(message.Reclaimed(command.ProcNames(ended)))
	}
	s.Sweep()
	s.Ready, r.state = true, s
	id := engine.NewID()
	if d := detach.Of(r.ctx); d != nil {
		id = d.ID
	}
	record, err := s.CreateRecord(supervise.Record{ID: id, Command: "batch", Profile: "generic", Started: time.Now(), Attempt: 1, Activity: filepath.Base(results),
		Name: r.settings.Name, Tags: r.settings.Tags, Parent: engine.EnclosingRun()})
	if err != nil {
		r.view.line(message.NoRecord(nil, err))
		return nil
	}
	r.env = supervise.Mark(r.env, id)
	r.rows, _ = s.Records().CreateRows(id) // else each has a file of its own
	return record
}

// obey stops the batch at the first request to end, and kills what runs at the second.
func (r *taskRunner) obey(caught command.Signals, cancel context.CancelCauseFunc, record *supervise.Record) {
	caught.End(func(sig syscall.Signal) {
		time.AfterFunc(stoppingDelay, r.sayStopping)
		var cause error = command.Interrupt(sig)
		if by, ok := record.TakeRequest(); ok && sig == syscall.SIGTERM {
			cause = command.RequestedStop(by, command.Interrupt(sig))
		}
		cancel(cause)
	}, r.killAll)
}
