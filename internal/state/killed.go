package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// ReportKilled puts the runs on record whose Belay was killed, and ends nothing. It returns those, and the ones of which
// processes are left, for [supervise.Records.Reclaim] to end. A state directory that cannot be trusted is left alone.
func (s *State) ReportKilled() (told, left []supervise.Record, err error) {
	info, err := os.Stat(s.Dir)
	if err != nil || trusted(s.Dir, info) != nil {
		return nil, nil, nil
	}
	return s.Records().ReportKilled()
}

// killed puts a run on record whose Belay was killed, with what the CLI's own record tells of its use, and its session as
// interrupted. It reports whether that is done. Its time is that of the last sign of life.
func (s *State) killed(rec supervise.Record) bool {
	if !rec.IsRun() { // its client has ended it
		return true
	}
	lines := s.Lines(rec)
	var last journal.Entry
	if len(lines) > 0 {
		last = lines[len(lines)-1]
	}
	if last.Status != journal.Retry && len(lines) > 0 {
		return true // it was killed after its end
	}
	// A file's time comes from a coarser clock: it may be before the last line, which was written first.
	e := journal.Entry{Timestamp: journal.Time{Time: latest(latest(rec.Started, rec.Written), last.Timestamp.Time)}, Invocation: rec.ID,
		Profile: cmp.Or(rec.Profile, "generic"), Command: rec.Command, Attempt: max(rec.Attempt, 1), Status: journal.Error,
		ErrorType: verdict.Interrupted, Rule: "killed", ExitCode: -1, Session: rec.Session,
		Parent: rec.Parent, Name: rec.Name, Tags: rec.Tags, Project: rec.Project,
		Batch: rec.Batch, Task: rec.Task, Line: rec.Line}
	if e.Traceparent = rec.Traceparent; rec.Telemetry {
		e.Telemetry = &rec.Telemetry
	}
	if rec.State == supervise.StateWaiting {
		if e.Attempt = 0; last.Attempt == rec.Attempt { // the wait after it; how much of it was waited is not known
			e.GateWait = -last.Planned()
		}
	} else {
		began := latest(latest(rec.Started, rec.Since), last.Timestamp.Time)
		e.Attempt = max(e.Attempt, last.Attempt+1)
		s.recallAttempt(rec, began, &e)
		e.ResponseTime = max(e.Timestamp.Sub(began), 0).Seconds()
	}
	e.Error = killedText(rec)
	if log := s.Log(nil); log.Append(e) != nil {
		return false
	}
	s.interrupt(rec, append(lines, e))
	s.sweep(time.Now())
	return true
}

// recallAttempt fills in what an agent's own record tells of the attempt. Where it tells nothing, what was used is not known.
func (s *State) recallAttempt(rec supervise.Record, began time.Time, e *journal.Entry) {
	cli := profile.Find(rec.Profile)
	if cli == nil || !cli.IsAgent() {
		return
	}
	used := verdict.Usage{Unknown: true}
	if rec.Session != "" && cli.Recall != nil {
		if account, at, ok := cli.Recall(rec.Home, rec.Session, began, s.Prices); ok {
			used = account.Priced()
			e.Timestamp.Time = latest(e.Timestamp.Time, at)
			e.Requests, e.Model = account.Requests, account.Model
		}
	}
	used.Unknown = used.Unknown || len(rec.Left) > 0 // it may go on
	e.Usage = used.JSON()
}

// interrupt ends the session of a run, if it is on record as running, with what the run's lines say was used in it.
func (s *State) interrupt(rec supervise.Record, lines []journal.Entry) {
	session := s.Session(rec.Profile, rec.Session)
	if session.Status != SessionRunning {
		return
	}
	session.Status = SessionInterrupted
	for _, e := range lines {
		var used verdict.Usage
		if e.Session == rec.Session && json.Unmarshal(e.Usage, &used) == nil {
			session.Usage = session.Usage.Add(used)
			if used.CostUnknown() {
				session.ToldCost, session.ToldTokens = nil, 0
			}
		}
		session.Updated = latest(session.Updated, e.Timestamp.Time)
	}
	s.SaveSession(session)
}

// killedText says what is known of the end.
func killedText(rec supervise.Record) string {
	how := "belay was killed"
	if rec.Restarted {
		how = "belay ended with the system"
	}
	what := cmp.Or(rec.Command, "the command")
	switch {
	case rec.State == supervise.StateWaiting && rec.Reason != "":
		return fmt.Sprintf("%s while it waited to run %s: %s", how, what, rec.Reason)
	case rec.State == supervise.StateWaiting:
		return fmt.Sprintf("%s while it waited to run %s", how, what)
	}
	return fmt.Sprintf("%s while %s was running", how, what)
}

// maxLookBack is how much of the log is looked at for a run's earlier lines.
const maxLookBack = 64 << 20

// Lines are the lines that the log has of a run. It is read from its end, as far back as the run reaches.
func (s *State) Lines(rec supervise.Record) (lines []journal.Entry) {
	for size := int64(1 << 20); ; size *= 4 {
		lines = nil
		var first journal.Time
		whole := s.Recent(size, func(e journal.Entry) {
			if first.IsZero() {
				first = e.Timestamp
			}
			if e.Invocation == rec.ID && e.Kind == "" {
				lines = append(lines, e)
			}
		})
		if whole || size >= maxLookBack || first.Before(rec.Started) {
			return lines
		}
	}
}

// latest is the later one of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
