package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/alert"
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

// mcpRecorder writes what a proxy leaves in the state directory: the log, and the record by which `belay ps` and `belay mcp
// status` know of it. Trouble with them is said once, on stderr, and stops nothing.
type mcpRecorder struct {
	state *state.State
	say   io.Writer
	once  sync.Once

	secrets *redact.Known // of the server
	labels  label.Labels

	mu     sync.Mutex
	record *supervise.Record
	raised bool // an alert; used by the one goroutine that logs, and at the end
}

func openMCPRecorder(o *mcp.Options, labels label.Labels) *mcpRecorder {
	b := &mcpRecorder{say: o.Stderr, labels: labels, secrets: &redact.Known{Env: slices.Concat(os.Environ(), o.Env), Args: o.Args}}
	now := time.Now()
	o.ID = fmt.Sprintf("mcp-%012x-%08x", now.UnixMilli(), rand.Uint32())
	state, err := state.Open("")
	if err != nil {
		b.trouble(err)
		return b
	}
	b.state = state
	o.Gate = mcpGate(state, o.Name, b.trouble)
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

func (b *mcpRecorder) trouble(err error) {
	b.once.Do(func() { term.Printf(b.say, "belay: %s\n", message.NoServerRecord(err)) })
}

// append puts an incident into the log, and raises an alert if there have been too many.
func (b *mcpRecorder) append(e journal.Entry) {
	setLabels(&e, b.labels)
	log := journal.Log{Path: b.state.LogPath(), Secrets: b.secrets}
	if err := log.Append(e); err != nil {
		b.trouble(err)
	}
	if e.Status != journal.Error || !alert.CountsCall(string(e.ErrorType)) {
		return
	}
	alerts, _ := config.Alerts() // a file that cannot be read means the defaults
	store := alert.Files{Dir: filepath.Join(b.state.Dir, "alerts")}
	raised, err := store.Failed(e.Profile, alerts.For(e.Profile), time.Now())
	if err != nil {
		b.trouble(err)
	}
	if raised == nil {
		return
	}
	term.Printf(b.say, "belay mcp: %s\n", message.Alert(e.Profile, raised.Failures, raised.Within))
	detail, _ := json.Marshal(map[string]any{"failures": raised.Failures, "within_s": raised.Within.Seconds()})
	log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Alert, Event: "raised", Profile: e.Profile,
		Status: journal.Success, Error: e.Error, Detail: detail, Parent: e.Parent, Name: e.Name, Tags: e.Tags, Project: e.Project})
	b.raised = true
}

// update puts the server's state on record.
func (b *mcpRecorder) update(s mcp.Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.record == nil || b.record.Attempt == s.Generation && s.LastFailure == b.record.Reason {
		return
	}
	b.record.Attempt, b.record.Reason, b.record.Until = s.Generation, s.LastFailure, s.FailedAt
	if err := b.record.Update(); err != nil {
		b.trouble(err)
	}
}

func (b *mcpRecorder) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.record.Remove()
	b.record = nil
	if b.raised {
		foldLog() // not before: while the server runs, what we start would be taken for a part of its tree
	}
}
