package hook

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// runHook is belay hook.
func runHook(ctx context.Context, std stdio.Streams, h *hook.Hook) int {
	labels, err := command.TagFlag(h.Tags).Labels()
	if err != nil {
		return command.CodeOf(std, command.Fail(err))
	}
	if len(h.Tags) > 0 {
		h.Env = append(command.WithoutLabels(os.Environ()), labels.Environ()...)
	}
	in, done, err := std.InputFile()
	if err != nil {
		return command.CodeOf(std, command.Fail(err))
	}
	defer done()
	h.Stdin, h.Stdout, h.Stderr = in, std.Out.Raw(), std.Err
	h.Supervisor = command.Supervisor(ctx)
	h.Record = func(e journal.Entry) error { return recordHook(std.Err, e, labels) }
	markHook(h, labels)
	if command.OwnsProcess(ctx) != nil {
		stopHookBySignal(h)
	}
	defer context.AfterFunc(ctx, func() { h.Stop(syscall.SIGTERM) })()
	return h.Run()
}

// markHook gives a call the id by which what it starts is found should we be killed, and lets `belay ps` know of a call
// that takes a while. Its id names us, so that no record has to be written of the others; what is to go on in the
// background must not look like what a killed belay has left, and has a record at once.
func markHook(h *hook.Hook, labels label.Labels) {
	s, err := command.OpenState()
	if err != nil {
		return
	}
	if h.ID = s.Records().OwnedID(); h.KeepBackground {
		h.ID = fmt.Sprintf("hook-keep-%012x-%08x", time.Now().UnixMilli(), rand.Uint32())
	}
	h.Announce = func(begun time.Time) (withdraw func()) {
		if s.Prepare() != nil {
			return nil
		}
		rec, err := s.CreateRecord(supervise.Record{ID: h.ID, Command: h.Label(), Profile: "hook:" + h.Label(), Started: begun, Attempt: 1,
			Name: labels.Name, Tags: labels.Tags, Parent: engine.EnclosingRun()})
		if err != nil {
			return nil
		}
		return func() { rec.Remove() }
	}
}

// recordHook puts a failure into the log, and raises an alert if there have been too many of that hook. Nothing of the state
// directory is touched before there is a failure, or a call takes a while.
func recordHook(w io.Writer, e journal.Entry, labels label.Labels) error {
	engine.SetLabels(&e, labels)
	state, err := state.Open("")
	if err != nil {
		return err
	}
	alerts, _ := config.Alerts() // a file that cannot be read means the defaults
	raised, err := state.RecordFailure(state.Log(nil), e, alerts.For(e.Profile))
	if raised != nil {
		term.Printf(w, "belay hook: %s\n", message.Alert(e.Profile, raised.Failures, raised.Within))
		command.FoldLog() // an alert has to be sent; failures alone are folded when a user asks
	}
	return err
}
