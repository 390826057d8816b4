// Package host is what a proxy of package mcp needs around it to be belay mcp: its place in the state directory, and the
// settings that belay hands over to belayd for servers over a network. Both executables use it.
package host

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Recorder writes what a proxy leaves in the state directory: the log, and the record by which `belay ps` and `belay mcp
// status` know of it. Trouble with them is said once, on stderr, and stops nothing.
type Recorder struct {
	state *state.State
	say   io.Writer
	once  sync.Once

	secrets *redact.Known // of the server
	labels  label.Labels

	fold func() // has the log folded, to send an alert

	mu     sync.Mutex
	record *supervise.Record
	raised bool // an alert; used by the one goroutine that logs, and at the end
}

// Open gives a proxy its log, its gate and its record. secrets is what must not get into them; fold, which is called at the end,
// has the log folded.
func Open(o *mcp.Options, labels label.Labels, secrets *redact.Known, fold func()) *Recorder {
	b := &Recorder{say: o.Stderr, labels: labels, secrets: secrets, fold: fold}
	now := time.Now()
	o.ID = fmt.Sprintf("mcp-%012x-%08x", now.UnixMilli(), rand.Uint32())
	state, err := state.Open("")
	if err != nil {
		b.trouble(err)
		return b
	}
	b.state = state
	o.Gate = &gate.Gate{Store: state.Gates(), Key: "mcp:" + o.Name, Trouble: b.trouble}
	o.Log = b.append
	o.Status = b.update
	state.Records().Reclaim()
	state.Sweep()
	made, err := state.CreateRecord(supervise.Record{ID: o.ID, Command: o.Name, Profile: "mcp:" + o.Name, Started: now, Attempt: 1, Secrets: b.secrets,
		Name: labels.Name, Tags: labels.Tags, Parent: engine.EnclosingRun()})
	if err != nil {
		b.trouble(err)
	}
	b.record = made
	return b
}

func (b *Recorder) trouble(err error) {
	b.once.Do(func() { term.Printf(b.say, "belay: this server is not recorded: %v\n", err) })
}

// append puts an incident into the log, and raises an alert if there have been too many.
func (b *Recorder) append(e journal.Entry) {
	engine.SetLabels(&e, b.labels)
	log := journal.Log{Path: b.state.LogPath(), Secrets: b.secrets}
	alerts, _ := config.Alerts() // a file that cannot be read means the defaults
	raised, err := b.state.RecordFailure(log, e, alerts.For(e.Profile))
	if err != nil {
		b.trouble(err)
	}
	if raised != nil {
		term.Printf(b.say, "belay mcp: %s\n", message.Alert(e.Profile, raised.Failures, raised.Within))
		b.raised = true
	}
}

// update puts the server's state on record.
func (b *Recorder) update(s mcp.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.record == nil || b.record.Attempt == s.Generation && s.LastFailure == b.record.Reason && !b.record.Changed(s.Memory) {
		return
	}
	b.record.Memory, b.record.PeakMemory = s.Memory, max(b.record.PeakMemory, s.Memory)
	b.record.Attempt, b.record.Reason, b.record.Until = s.Generation, s.LastFailure, s.FailedAt
	if err := b.record.Update(); err != nil {
		b.trouble(err)
	}
}

// Close removes the record.
func (b *Recorder) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.record.Remove()
	b.record = nil
	if b.raised {
		b.fold() // not before: while the server runs, what we start would be taken for a part of its tree
	}
}
