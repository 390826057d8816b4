package state

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
)

// RecordFailure puts the failure of a hook, of an MCP server or of a program's own call into the log, and counts it for alerts. It
// returns the alert that it raises, if it does.
func (s *State) RecordFailure(log journal.Log, e journal.Entry, set alert.Settings) (*alert.Raised, error) {
	err := log.Append(e)
	counts := alert.Counts(string(e.ErrorType), e.Rule, true)
	if e.Kind == journal.MCP {
		counts = alert.CountsCall(string(e.ErrorType))
	}
	if e.Status != journal.Error || !counts {
		return nil, err
	}
	raised, aerr := s.CountFailure(log, e, set)
	return raised, errors.Join(err, aerr)
}

// CountFailure counts a failure that is on record among those of its integration. If that raises an alert, the alert is put on
// record and returned.
func (s *State) CountFailure(log journal.Log, e journal.Entry, set alert.Settings) (*alert.Raised, error) {
	raised, err := s.Alerts().Failed(e.Integration(), set, time.Now())
	if raised == nil {
		return nil, err
	}
	if e.Kind != "" {
		e.Invocation = "" // that of a proxy is not a run's
	}
	detail, _ := json.Marshal(map[string]any{"failures": raised.Failures, "within_s": raised.Within.Seconds()})
	return raised, errors.Join(err, log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Alert, Event: "raised",
		Profile: e.Integration(), Invocation: e.Invocation, Status: journal.Success, Error: e.Error, Detail: detail,
		Parent: e.Parent, Name: e.Name, Tags: e.Tags, Project: e.Project, Batch: e.Batch, Task: e.Task, Line: e.Line}))
}
