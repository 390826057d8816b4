package runrecord

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Record tells others of a run.
type Record struct {
	ID      string    `json:"id"`
	Command string    `json:"command"`
	Profile string    `json:"profile,omitempty"`
	Started time.Time `json:"started"`
	// State is what the run does now: StateRunning or StateWaiting.
	State   string    `json:"state"`
	Attempt int       `json:"attempt,omitempty"`
	Reason  string    `json:"reason,omitempty"` // what it waits for
	Until   time.Time `json:"until,omitzero"`
	// Session is an agent's name for what the present attempt does, Home where its CLI keeps what it knows of that, and
	// Since when the attempt began. They are there once the agent has said its session's name.
	Session string    `json:"session_id,omitempty"`
	Home    string    `json:"home,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Activity is what an agent is doing, Tokens and CostUSD what the run has used so far as far as it has told. They are
	// written at most once a second.
	Activity string   `json:"activity,omitempty"`
	Tokens   int64    `json:"tokens,omitempty"`
	CostUSD  *float64 `json:"cost_usd,omitempty"`
	// Memory is how many bytes the processes of the run use, where that has a limit; it is written when it has changed by a twentieth.
	Memory int64 `json:"memory_bytes,omitempty"`
	// PeakMemory is the most that those of an MCP server have used so far, likewise.
	PeakMemory int64 `json:"peak_memory_bytes,omitempty"`
	// Name and Tags are the labels of the run, Project is the directory that its work belongs to, and Parent the run that it was
	// started in.
	Name    string            `json:"name,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Project string            `json:"project,omitempty"`
	Parent  string            `json:"parent,omitempty"`
	// Batch are the results of the batch that the run is a task of, as a path; Task is its id there, and Line its line in the file of tasks.
	Batch string `json:"batch,omitempty"`
	Task  string `json:"task,omitempty"`
	Line  int    `json:"line,omitempty"`
	// Telemetry says that the run is to be sent as a trace, and Traceparent is the caller's.
	Telemetry   bool   `json:"telemetry,omitempty"`
	Traceparent string `json:"traceparent,omitempty"`
	// Lines says that an agent prints lines which can be looked at (package look).
	Lines bool `json:"lines,omitempty"`
	// Reported says that Killed is not to be told: it has been, when the owner was found dead and only processes were left of the run, or the
	// run is not to be put on record.
	Reported bool `json:"reported,omitempty"`

	// Secrets are known of the run, and taken out of what is written; nil means those of this process.
	Secrets *redact.Known `json:"-"`

	Owner proctable.Owner `json:"-"`
	// Written is when the record was last written, of a run whose owner was found dead; Left are the processes of it that
	// live, and Restarted says that the system does not run any more in which they did.
	Written   time.Time        `json:"-"`
	Left      []proctable.Proc `json:"-"`
	Restarted bool             `json:"-"`

	path string
	// rows is where it is a row, at that offset; nil if it has a file of its own.
	rows   *Rows
	offset int64
	asked  bool // the owner has looked for requests to stop; there may be more of them
}

// Changed reports whether so much memory is so different from what is on record that it is worth writing.
func (rec *Record) Changed(memory int64) bool {
	return max(memory-rec.Memory, rec.Memory-memory) > rec.Memory/20
}

// IsRun reports whether it is the record of a run: hooks and MCP servers have one too, and are not in the log as such.
func (rec *Record) IsRun() bool {
	return !strings.HasPrefix(rec.Profile, "mcp:") && !strings.HasPrefix(rec.Profile, "hook:")
}

// The states of a run.
const (
	StateRunning = "running"
	StateWaiting = "waiting"
	// StateKilled is how a run is shown whose owner was killed and of which processes are left. It is not written.
	StateKilled = "killed"
)

// maxRecord bounds what is read of a record, which has a few hundred bytes.
const maxRecord = 1 << 20

// replacement is how the name of a record ends that is about to replace another.
const replacement = ".new"

// encode writes the record as JSON. The first time is by hand: encoding/json costs more when it is first used than all
// else that a record takes.
func (rec *Record) encode() []byte {
	rec = rec.redacted()
	plain := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
	}
	usual := rec.State == StateRunning && rec.Attempt == 1 && rec.Reason == "" && rec.Until.IsZero() && rec.Session == "" && rec.Activity == "" && rec.Tokens == 0 && rec.CostUSD == nil && !rec.Reported && rec.Name == "" && len(rec.Tags) == 0 && rec.Parent == ""
	if !usual || !plain(rec.ID+rec.Command+rec.Profile+rec.Project+rec.Batch+rec.Task) {
		data, _ := json.Marshal(rec) // everything in a record can be encoded
		return append(data, '\n')
	}
	b := append([]byte(`{"id":"`), rec.ID...)
	b = append(append(b, `","command":"`...), rec.Command...)
	b = append(append(b, `","profile":"`...), rec.Profile...)
	b = rec.Started.AppendFormat(append(b, `","started":"`...), time.RFC3339Nano)
	b = append(append(append(b, `","state":"`...), rec.State...), `","attempt":1`...)
	if rec.Project != "" {
		b = append(append(append(b, `,"project":"`...), rec.Project...), '"')
	}
	if rec.Batch != "" {
		b = append(append(append(b, `,"batch":"`...), rec.Batch...), '"')
	}
	if rec.Task != "" {
		b = append(append(append(b, `,"task":"`...), rec.Task...), '"')
	}
	if rec.Line > 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(rec.Line), 10)
	}
	return append(b, "}\n"...)
}

// redacted is the record as it may be written: all that is written goes through it.
func (rec *Record) redacted() *Record {
	clean := *rec
	clean.Command, clean.Profile, clean.Activity = redact.Text(rec.Command), redact.Text(rec.Profile), redact.Text(rec.Activity)
	clean.Batch, clean.Task = redact.Text(rec.Batch), redact.Text(rec.Task)
	clean.Name, clean.Tags, clean.Project = redact.Text(rec.Name), label.RedactedTags(rec.Tags), redact.Text(rec.Project)
	clean.Reason, clean.Session = rec.Secrets.Text(rec.Reason), redact.ID(rec.Session)
	return &clean
}

// name is the name of the record's file.
func (rec *Record) name() string {
	return fmt.Sprintf("%s.%d.%d.%s", rec.Owner.Boot, rec.Owner.PID, rec.Owner.Start, rec.ID)
}

// parseName takes the name of a record apart, or of its replacement. What is not exactly one is not ours to touch.
func parseName(name string) (Record, bool) {
	name = strings.TrimSuffix(name, replacement)
	part := strings.Split(name, ".")
	if len(part) != 4 || part[0] == "" || part[3] == "" || strings.ContainsAny(name, "/,\x00") {
		return Record{}, false
	}
	pid, err := strconv.Atoi(part[1])
	if err != nil || pid < 1 {
		return Record{}, false
	}
	start, err := strconv.ParseUint(part[2], 10, 64)
	if err != nil {
		return Record{}, false
	}
	rec := Record{ID: part[3], Owner: proctable.Owner{Boot: part[0], PID: pid, Start: start}}
	return rec, rec.name() == name
}

// parseRowsName takes the name of a file with rows apart.
func parseRowsName(name string) (Record, bool) {
	base, ok := strings.CutSuffix(name, rowsSuffix)
	if !ok {
		return Record{}, false
	}
	rec, ok := parseName(base)
	return rec, ok && rec.name() == base
}
