package ps

import (
	"io"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// reapLeft ends what killed belays have left behind.
func reapLeft(w, stderr io.Writer, records supervise.Records) error {
	report := records.Killed
	records.Killed = func(r supervise.Record) bool {
		ok := report(r)
		if ok {
			sayKilled(stderr, r)
		}
		return ok
	}
	ended, err := records.ReclaimAll()
	if err != nil {
		return command.Fail(err)
	}
	if len(ended) == 0 {
		term.Line(w, "nothing was left running")
	}
	for _, p := range ended {
		term.Line(w, message.Ended(p.String()))
	}
	return nil
}

// sayKilled says that a run was killed, and where its story is.
func sayKilled(w io.Writer, r supervise.Record) {
	if r.IsRun() { // others have none
		command.Say(w, message.WasKilled(printable.ShortID(r.ID), r.Command))
	}
}
