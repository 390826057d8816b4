package overview

import (
	"time"

	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// Left puts runs on record whose belay was killed, and returns them and what is left of such runs, as it is shown.
func Left(s *state.State) (killed, left []supervise.Record, err error) {
	killed, found, _ := s.ReportKilled() // what cannot be put on record now, the next one does
	unrecorded, err := s.Records().Unrecorded()
	if err != nil {
		return killed, nil, err
	}
	for _, r := range found {
		left = append(left, abandoned(r))
	}
	if len(unrecorded) > 0 {
		left = append(left, abandoned(supervise.Record{Command: "hook", Profile: "hook", Left: unrecorded}))
	}
	return killed, left, nil
}

// abandoned is the record of a killed run as it is shown.
func abandoned(r supervise.Record) supervise.Record {
	r.State, r.Reason, r.Until = supervise.StateKilled, "", time.Time{}
	return r
}

// RunJSON is a run for programs.
func RunJSON(r supervise.Record, detached bool) any {
	left := make([]int, 0, len(r.Left))
	for _, p := range r.Left {
		left = append(left, p.PID)
	}
	if r.ID == "" {
		return struct {
			Command string `json:"command"`
			State   string `json:"state"`
			Left    []int  `json:"left_running"`
		}{r.Command, r.State, left}
	}
	return struct {
		supervise.Record
		PID      int   `json:"pid"`
		Left     []int `json:"left_running,omitempty"`
		Detached bool  `json:"detached,omitempty"`
	}{r, r.Owner.PID, left, detached}
}
