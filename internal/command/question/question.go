// Package question is what the commands that read the record have in common: flags that choose ([Question.Ask]), a record that is up to date,
// of this machine or of a fleet, and an answer as rows of a table or as JSON ([Listing]). [Answer] goes through all of it.
package question

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/when"
	"github.com/belay-run/belay/verdict"
)

// Question is a request that the record answers.
type Question struct {
	*request.Request
	JSON   bool
	Filter record.Filter
	Now    time.Time
	// Following is set where later rows come below the same headings; nil for a table that is whole at once.
	Following *term.Following
	// State and DB are there once the question was asked.
	State *state.State
	DB    *record.DB

	fleet *store.Store // nil if it is about this machine alone, or PostgreSQL is out of reach
}

// New makes a question of a request. [Question.Ask] asks it.
func New(r *request.Request) *Question {
	return &Question{Request: r, JSON: r.On("json"), Now: time.Now(),
		Filter: record.Filter{Profile: cmp.Or(r.Text("profile"), r.Text("integration")), Class: r.Text("class"), Session: r.Text("session"),
			Invocation: r.Text("invocation"), Machine: r.Text("machine")}}
}

// Answer asks the record and answers the question.
func Answer(ctx context.Context, r *request.Request, answer func(context.Context, *Question) error) (int, error) {
	q := New(r)
	err := q.Ask(ctx)
	defer q.Close()
	if err == nil {
		err = answer(ctx, q)
	}
	return 0, err
}

// Ask checks the flags, opens the record and brings it up to date.
func (q *Question) Ask(ctx context.Context) error {
	for _, check := range []func() error{q.times, q.labels, q.Check, func() error { return CheckFleet(q.Request) }} {
		if err := check(); err != nil {
			return err
		}
	}
	if q.Has("n") {
		n, err := strconv.Atoi(q.Text("n"))
		if err != nil || n < 0 {
			return &request.UsageError{Err: message.Error(fmt.Sprintf("-n: %q is not a number of lines. Use -n 20, or -n 0 for all", q.Text("n")))}
		}
		q.Filter.Limit = n
	}
	return q.open(ctx)
}

// labels reads the flags that choose runs by their labels and their class.
func (q *Question) labels() (err error) {
	q.Filter.Name = q.Text("name")
	if text := q.Text("tag"); text != "" {
		if q.Filter.Tags, err = label.Parse(text); err != nil {
			return &request.UsageError{Err: fmt.Errorf("--tag: %w", err)}
		}
	}
	if dir := q.Text("project"); dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return &request.UsageError{Err: fmt.Errorf("--project: %w", err)}
		}
		q.Filter.Project = label.Project(dir)
	}
	if results := q.Text("batch"); results != "" {
		if q.Filter.Batch, err = filepath.Abs(results); err != nil {
			return &request.UsageError{Err: fmt.Errorf("--batch: %w", err)}
		}
	}
	if c := q.Filter.Class; c != "" && c != record.Failed {
		if q.Filter.Class = string(message.ClassNamed(c)); q.Filter.Class == "" {
			_, err := verdict.ParseClass(c)
			return &request.UsageError{Err: message.Error(fmt.Sprintf("--class: %v, or failed for all but ok", err))}
		}
	}
	return nil
}

func (q *Question) times() error {
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"since", q.Text("since"), &q.Filter.Since}, {"until", q.Text("until"), &q.Filter.Until}} {
		if t.text == "" || t.name == "since" && t.text == "all" {
			continue
		}
		at, err := when.Parse(t.text, q.Now)
		if err != nil {
			return &request.UsageError{Err: fmt.Errorf("--%s: %w", t.name, err)}
		}
		*t.into = at
	}
	if f := q.Filter; !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return &request.UsageError{Err: message.Error(message.SinceAfterUntil(q.Text("since"), q.Text("until")))}
	}
	return nil
}

// open opens the record. If it cannot be brought up to date, open says so and the answer comes from what it holds.
func (q *Question) open(ctx context.Context) error {
	LazyGC()
	dir, err := state.DefaultDir()
	if err != nil {
		return err
	}
	q.State = &state.State{Dir: dir}
	if q.On("fleet") {
		q.DB, q.fleet, err = openFleet(ctx, q.Request, q.State)
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		if q.State, err = state.Open(dir); err != nil {
			return err
		}
		q.State.ReportKilled() // what cannot be written now is found by the next one
	}
	if q.DB, err = record.Open(dir); err != nil {
		return database.OpenError(dir, err)
	}
	_, err = q.DB.Fold(ctx)
	SayOf(q.Request, q.DB)
	if err != nil {
		q.Say(message.RecordStale(database.Full(err), database.Locked(err), err))
	}
	return nil
}

// Close closes what was opened to answer.
func (q *Question) Close() {
	if q.DB != nil {
		SayOf(q.Request, q.DB)
		q.DB.Close()
	}
	if q.fleet != nil {
		q.fleet.Close()
	}
}

// Clock shows a time as far as it is needed: today's without the day.
func (q *Question) Clock(t time.Time) string { return Clock(t, q.Now) }

// Clock shows a time as far as it is needed now: today's without the day.
func Clock(t, now time.Time) string {
	return message.Clock(t, now, time.TimeOnly, time.DateTime)
}
