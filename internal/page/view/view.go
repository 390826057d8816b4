package view

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/when"
	"github.com/belay-run/belay/verdict"
)

// Source is where views come from.
type Source struct {
	State *state.State
	DB    *record.DB
	// Belay is where belay is, by which batches are run again; empty if none can be.
	Belay string
	// Fleet is what all machines of a fleet do now; nil if the views are about this machine. DB is the record of the fleet then.
	Fleet Fleet

	batches statuses
}

// Fleet is what all machines of a fleet do now. None of it waits for anything.
type Fleet interface {
	// Now is what runs and what keeps it waiting, as it was last heard of. Trouble says how old that is, if PostgreSQL cannot be reached.
	Now() Now
	// Stamp is another one when there is more in the logs of the machines.
	Stamp() string
}

// Unclear is a question that cannot be answered because of how it is put.
type Unclear struct{ Err error }

func (u *Unclear) Error() string { return u.Err.Error() }
func (u *Unclear) Unwrap() error { return u.Err }

// Fold brings the record up to date.
func (s *Source) Fold(ctx context.Context) error {
	if s.Fleet == nil {
		s.State.ReportKilled() // what cannot be written now is found by the next one
	}
	_, err := s.DB.Fold(ctx)
	return err
}

// Progress is how much of the log is in the record, in bytes.
func (s *Source) Progress(ctx context.Context) (done, total int64) { return s.DB.Progress(ctx) }

// Period is the time that a view is about. Times are what the address says, and what they mean now.
type Period struct {
	Since string     `json:"since,omitempty"`
	Until string     `json:"until,omitempty"`
	From  *time.Time `json:"from,omitempty"`
	To    *time.Time `json:"to,omitempty"`
}

// filter reads the filters of an address, whose names are those of the flags of belay log. usual is since when, if it does not say so.
func (s *Source) filter(q url.Values, usual string) (f record.Filter, p Period, err error) {
	f = record.Filter{Profile: q.Get("profile"), Class: q.Get("class"), Name: q.Get("name"), Project: q.Get("project"), Session: q.Get("session"), Machine: q.Get("machine"),
		Batch: q.Get("batch"), Model: q.Get("model"), Gate: q.Get("gate"), Text: q.Get("q"), Order: q.Get("sort"), Limit: pageSize}
	if n, err := strconv.Atoi(q.Get("n")); err == nil && n > 0 && n <= 1000 {
		f.Limit = n
	}
	if f.Class != "" && f.Class != record.Failed {
		if _, err := verdict.ParseClass(f.Class); err != nil {
			return f, p, &Unclear{err}
		}
	}
	if text := q.Get("tag"); text != "" {
		if f.Tags, err = label.Parse(text); err != nil {
			return f, p, &Unclear{err}
		}
	}
	if p.Since, p.Until = q.Get("since"), q.Get("until"); p.Since == "" {
		p.Since = usual
	}
	if p.Since == "all" {
		p.Since = ""
	}
	now := time.Now()
	for _, t := range []struct {
		text string
		at   *time.Time
		told **time.Time
	}{{p.Since, &f.Since, &p.From}, {p.Until, &f.Until, &p.To}} {
		if t.text == "" {
			continue
		}
		if *t.at, err = when.Parse(t.text, now); err != nil {
			return f, p, &Unclear{err}
		}
		*t.told = t.at
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return f, p, &Unclear{errors.New(message.SinceAfterUntil(p.Since, p.Until))}
	}
	return f, p, nil
}

// Choices are what filters can be set to.
type Choices struct {
	Profiles []string `json:"profiles"`
	Classes  []string `json:"classes"`
	Names    []string `json:"names"`
	Projects []string `json:"projects"`
	Machines []string `json:"machines"` // of a fleet
	Tags     []string `json:"tags"`     // KEY=VALUE
	TagKeys  []string `json:"tag_keys"` // to group by
}

// maxChoices bounds the values that are offered of a filter. Others can be typed.
const maxChoices = 200

// Choices returns what filters can be set to.
func (s *Source) Choices(ctx context.Context, _ url.Values) (c Choices, err error) {
	c = Choices{Classes: []string{record.Failed}, Tags: []string{}}
	for _, class := range verdict.Classes() {
		c.Classes = append(c.Classes, string(class))
	}
	for _, of := range []struct {
		group record.Group
		into  *[]string
	}{{record.ByProfile, &c.Profiles}, {record.ByName, &c.Names}, {record.ByProject, &c.Projects}, {record.ByMachine, &c.Machines}} {
		list, err := s.DB.Stats.Values(ctx, of.group, maxChoices)
		if err != nil {
			return c, err
		}
		*of.into = append([]string{}, list...)
	}
	keys, err := s.DB.Stats.TagKeys(ctx, 50)
	if err != nil {
		return c, err
	}
	c.TagKeys = append([]string{}, keys...)
	for _, key := range keys {
		values, err := s.DB.Stats.Values(ctx, record.Group("tag."+key), 20)
		if err != nil {
			return c, err
		}
		for _, v := range values {
			c.Tags = append(c.Tags, key+"="+v)
		}
	}
	return c, nil
}
