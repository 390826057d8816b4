//go:build !norecord

package companion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/when"
	"github.com/belay-run/belay/verdict"
)

// question is what the commands that read the record have in common.
type question struct {
	caller
	*arguments
	json      bool
	filter    record.Filter
	following *term.Following // nil for a table that is whole at once
	now       time.Time
	out       io.Writer
	state     *state.State
	db        *record.DB
	fleet     *store.Store // nil if it is about this machine alone, or PostgreSQL is out of reach
}

func newQuestion(from caller, args *arguments) *question {
	return &question{caller: from, arguments: args, json: args.on("json"), now: time.Now(), out: from.Out,
		filter: record.Filter{Profile: cmp.Or(args.text("profile"), args.text("integration")), Class: args.text("class"), Session: args.text("session"),
			Invocation: args.text("invocation"), Machine: args.text("machine")}}
}

// ask checks the flags, opens the record and brings it up to date.
func (q *question) ask(ctx context.Context) error {
	for _, check := range []func() error{q.times, q.labels, q.check, q.checkFleet} {
		if err := check(); err != nil {
			return err
		}
	}
	if q.has("n") {
		n, err := strconv.Atoi(q.text("n"))
		if err != nil || n < 0 {
			return &usageError{err: message.Error(fmt.Sprintf("-n: %q is not a number of lines. Use -n 20, or -n 0 for all", q.text("n")))}
		}
		q.filter.Limit = n
	}
	return q.open(ctx)
}

// labels reads the flags that choose runs by their labels and their class.
func (q *question) labels() (err error) {
	q.filter.Name = q.text("name")
	if text := q.text("tag"); text != "" {
		if q.filter.Tags, err = label.Parse(text); err != nil {
			return &usageError{err: fmt.Errorf("--tag: %w", err)}
		}
	}
	if dir := q.text("project"); dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return &usageError{err: fmt.Errorf("--project: %w", err)}
		}
		q.filter.Project = label.Project(dir)
	}
	if results := q.text("batch"); results != "" {
		if q.filter.Batch, err = filepath.Abs(results); err != nil {
			return &usageError{err: fmt.Errorf("--batch: %w", err)}
		}
	}
	if c := q.filter.Class; c != "" && c != record.Failed {
		if _, err := verdict.ParseClass(c); err != nil {
			return &usageError{err: message.Error(fmt.Sprintf("--class: %v, or failed for all but ok", err))}
		}
	}
	return nil
}

func (q *question) times() error {
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"since", q.text("since"), &q.filter.Since}, {"until", q.text("until"), &q.filter.Until}} {
		if t.text == "" || t.name == "since" && t.text == "all" {
			continue
		}
		at, err := when.Parse(t.text, q.now)
		if err != nil {
			return &usageError{err: fmt.Errorf("--%s: %w", t.name, err)}
		}
		*t.into = at
	}
	if f := q.filter; !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return &usageError{err: message.Error(message.SinceAfterUntil(q.text("since"), q.text("until")))}
	}
	return nil
}

// lazyGC lets the heap, of a few megabytes, grow before it is collected: a fifth of what a fold costs, and a tenth of a job of the fleet.
func lazyGC() { debug.SetGCPercent(400) }

// open opens the record. If it cannot be brought up to date, open says so and the answer comes from what it holds.
func (q *question) open(ctx context.Context) error {
	lazyGC()
	dir, err := state.DefaultDir()
	if err != nil {
		return err
	}
	q.state = &state.State{Dir: dir}
	if q.on("fleet") {
		return q.openFleet(ctx)
	}
	if _, err := os.Stat(dir); err == nil {
		if q.state, err = state.Open(dir); err != nil {
			return err
		}
		q.state.ReportKilled() // what cannot be written now is found by the next one
	}
	if q.db, err = record.Open(dir); err != nil {
		return openTrouble(dir, err)
	}
	_, err = q.db.Fold(ctx)
	q.sayOf(q.db)
	if err != nil {
		q.say(message.RecordStale(record.Full(err), record.Locked(err), err))
	}
	return nil
}

// sayOf says what the record has to say.
func (c caller) sayOf(d *record.DB) {
	for _, text := range d.Said {
		c.say(text)
	}
	d.Said = nil
}

func openTrouble(dir string, err error) error {
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return message.Error(fmt.Sprintf("cannot open the record: %v. Move that file away, and the record is rebuilt from the log", refused), refused)
	case errors.Is(err, record.ErrNewer):
		return err
	case record.Full(err):
		return message.Error(message.RecordFull(dir, err), err)
	case record.Locked(err):
		return message.Error(fmt.Sprintf("the record in %s is busy (%v). Try again", dir, err), err)
	}
	return message.Error(message.RecordUnusable(dir, err), err)
}

func (q *question) close() {
	if q.db != nil {
		q.sayOf(q.db)
		q.db.Close()
	}
	if q.fleet != nil {
		q.fleet.Close()
	}
}

// clock shows a time as far as it is needed: today's without the day.
func (q *question) clock(t time.Time) string {
	return message.Clock(t, q.now, time.TimeOnly, time.DateTime)
}

// shortID is the end of an id: runs that begin together differ there, not at the front.
func shortID(id string) string { return id[max(0, len(id)-8):] }

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func dollars(c *float64) string {
	if c == nil {
		return ""
	}
	return printable.Dollars(*c)
}
