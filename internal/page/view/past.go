package view

import (
	"context"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/verdict"
)

// pageSize is how many rows a list has.
const pageSize = 100

// Runs are past runs, newest first.
type Runs struct {
	Period
	Runs []record.Invocation `json:"runs"`
	// More is where older ones begin; null if there are none.
	More *time.Time `json:"more,omitempty"`
	// Cut says that there are more in an order that is not that of time.
	Cut bool `json:"cut,omitempty"`
}

// Runs returns past runs. The address may say before which time they ended.
func (s *Source) Runs(ctx context.Context, q url.Values) (runs Runs, err error) {
	f, p, err := s.filter(q, "")
	if err != nil {
		return runs, err
	}
	if before, err := time.Parse(time.RFC3339Nano, q.Get("before")); err == nil && (f.Until.IsZero() || before.Before(f.Until)) {
		f.Until = before
	}
	n := f.Limit
	f.Limit++
	list, err := s.DB.Runs.Recent(ctx, f)
	if err != nil {
		return runs, err
	}
	runs = Runs{Period: p, Runs: append([]record.Invocation{}, list...)}
	if len(list) > n && f.Order != "" {
		runs.Runs, runs.Cut = list[:n], true
	} else if len(list) > n {
		more := list[n-1].Ended // others may have ended at the same millisecond: they come again rather than not at all
		if list[n].Ended.Before(more) {
			runs.Runs = list[:n]
		}
		runs.More = &more
	}
	return runs, nil
}

// Story is all that is on record of a run.
type Story struct {
	record.Invocation
	List []record.Attempt `json:"attempt_list"`
	// Inside are runs that were started in it.
	Inside []record.Invocation `json:"inside"`
	// Running says that it is under way.
	Running *Run `json:"running,omitempty"`
	// Resume is the command that continues its session; empty if there is none to continue.
	Resume string `json:"resume,omitempty"`
	// Readable says that its session may be read.
	Readable bool `json:"readable,omitempty"`
	// Again is the command that runs it again, as far as that is on record: without its arguments, among which may be a prompt, or the one for its batch.
	Again string `json:"again,omitempty"`
}

// Story returns that of the run whose id the address has.
func (s *Source) Story(ctx context.Context, q url.Values) (story Story, err error) {
	id := q.Get("id")
	if id == "" {
		return story, os.ErrNotExist
	}
	story = Story{List: []record.Attempt{}, Inside: []record.Invocation{}}
	for _, r := range s.Now().Runs {
		if r.ID == id {
			story.Running = &r
		}
	}
	found, err := s.DB.Runs.ByID(ctx, id)
	switch {
	case err != nil:
		return story, err
	case found == nil && story.Running == nil:
		return story, os.ErrNotExist
	case found == nil: // its first attempt is not over
		r := story.Running
		story.Invocation = record.Invocation{ID: id, Profile: r.Profile, Command: r.Command, Parent: r.Parent, Session: r.Session,
			Outcome: record.Outcome{Status: "retry"}, Labels: record.Labels{Name: r.Name, Tags: r.Tags, Project: r.Project}}
		if r.Started != nil {
			story.Started = r.Started.Time
		}
		return story, nil
	}
	story.Invocation = *found
	attempts, err := s.DB.Runs.Attempts(ctx, record.Filter{Invocation: id})
	if err != nil {
		return story, err
	}
	story.List = append(story.List, attempts...)
	inside, err := s.DB.Runs.Children(ctx, id, pageSize)
	if err != nil {
		return story, err
	}
	story.Inside = append(story.Inside, inside...)
	if story.Session != "" && story.Running == nil {
		story.Resume = resumeCommand(story.Profile, story.Session)
	}
	story.Readable = isReadable(story.Profile, story.Machine)
	if story.Running == nil {
		story.Again = s.again(found)
	}
	return story, nil
}

// again is the command that runs a run again; empty if none is known.
func (s *Source) again(run *record.Invocation) string {
	if run.Batch != "" {
		e, err := s.entry(run.Batch)
		if err != nil || e.Retry == "" || run.Class == string(verdict.OK) {
			return ""
		}
		return "cd " + printable.Quoted(e.Dir) + " && " + e.Retry
	}
	words := []string{"belay", "run"}
	if run.Name != "" {
		words = append(words, "--name", printable.Quoted(run.Name))
	}
	for _, key := range slices.Sorted(maps.Keys(run.Tags)) {
		words = append(words, "--tag", printable.Quoted(key+"="+run.Tags[key]))
	}
	command := strings.Join(append(words, "--", printable.Quoted(run.Command)), " ")
	if run.Project != "" {
		command = "cd " + printable.Quoted(run.Project) + " && " + command
	}
	return command
}

// Sessions are conversations with agents, the one that was used last first.
type Sessions struct {
	Period
	Sessions []Session `json:"sessions"`
}

// Session is a conversation, and the command that continues it.
type Session struct {
	record.Session
	Resume   string `json:"resume,omitempty"`
	Readable bool   `json:"readable,omitempty"`
}

// Sessions returns those of the filters.
func (s *Source) Sessions(ctx context.Context, q url.Values) (all Sessions, err error) {
	f, p, err := s.filter(q, "")
	if err != nil {
		return all, err
	}
	list, err := s.DB.Sessions.List(ctx, f, q.Get("status"))
	all = Sessions{Period: p, Sessions: []Session{}}
	for _, session := range slices.Backward(list) {
		one := Session{Session: session, Readable: isReadable(session.Profile, session.Machine)}
		if one.Status != "running" {
			one.Resume = resumeCommand(one.Profile, one.ID)
		}
		all.Sessions = append(all.Sessions, one)
	}
	return all, err
}

// isReadable reports whether the sessions of a profile can be read, on the machine that they are on; empty is this one.
func isReadable(name, machine string) bool {
	cli := profile.Find(name)
	return cli != nil && cli.Records != nil && machine == ""
}

// Transcript is the end of what was said and done in a session.
type Transcript struct {
	Profile string          `json:"profile"`
	Session string          `json:"session"`
	Before  int             `json:"before"` // parts that are left out
	Parts   []history.Entry `json:"parts"`
}

// Transcript returns that of the session whose id the address has, from the record of its CLI.
func (s *Source) Transcript(_ context.Context, q url.Values) (t Transcript, err error) {
	cli, path := profile.FindRecord(q.Get("id"), os.Environ())
	if cli == nil {
		return t, os.ErrNotExist
	}
	t.Profile, t.Session = cli.Name, q.Get("id")
	parts, before, err := history.Last(cli.Records, path, s.State.Prices, pageSize)
	t.Parts, t.Before = append([]history.Entry{}, parts...), before
	return t, err
}

// Alerts are what has failed again and again, newest first.
type Alerts struct {
	Period
	Alerts []record.Alert `json:"alerts"`
}

// Alerts returns those of the filters.
func (s *Source) Alerts(ctx context.Context, q url.Values) (Alerts, error) {
	f, p, err := s.filter(q, "")
	if err != nil {
		return Alerts{}, err
	}
	list, err := s.DB.Alerts.List(ctx, f)
	return Alerts{p, reversed(list)}, err
}

// Audit is what failed and what was changed by hand, newest first.
type Audit struct {
	Period
	Rows []record.AuditRow `json:"rows"`
}

// Audit returns that of the filters.
func (s *Source) Audit(ctx context.Context, q url.Values) (Audit, error) {
	f, p, err := s.filter(q, "")
	if err != nil {
		return Audit{}, err
	}
	list, err := s.DB.Trail.Audit(ctx, f, q.Get("action"))
	return Audit{p, reversed(list)}, err
}

// reversed is a list from its end; never nil.
func reversed[T any](list []T) []T {
	slices.Reverse(list)
	return append([]T{}, list...)
}

// resumeCommand is the command that continues a session of a profile; empty if that cannot be done.
func resumeCommand(name, session string) string {
	cli := profile.Find(name)
	if cli == nil || cli.ContinueHint() == "" {
		return ""
	}
	return message.ResumeCommand(session, cli.ContinueHint())
}
