package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// rows is how rows of one kind are inserted.
type rows struct {
	into     string
	columns  int
	conflict string
}

// rowsPerInsert is how many rows go into one statement: more gain little.
const rowsPerInsert = 32

// insert inserts n rows and returns how many there are more, or were changed.
func (r rows) insert(ctx context.Context, conn *sql.Conn, n int, row func(int) []any) (changed int64, err error) {
	args := make([]any, 0, rowsPerInsert*r.columns)
	for next := 0; next < n; {
		size := rowsPerInsert
		if n-next < rowsPerInsert {
			size = 1
		}
		stmt, err := conn.PrepareContext(ctx, r.statement(size))
		if err != nil {
			return changed, err
		}
		for ; n-next >= size; next += size {
			args = args[:0]
			for i := range size {
				args = append(args, row(next+i)...)
			}
			res, err := stmt.ExecContext(ctx, args...)
			if err != nil {
				stmt.Close()
				return changed, err
			}
			rows, err := res.RowsAffected()
			if err != nil {
				stmt.Close()
				return changed, err
			}
			changed += rows
		}
		stmt.Close()
	}
	return changed, nil
}

func (r rows) statement(size int) string {
	one := "(?" + strings.Repeat(", ?", r.columns-1) + ")"
	return "INSERT INTO " + r.into + " VALUES " + one + strings.Repeat(", "+one, size-1) + " ON CONFLICT " + r.conflict
}

// sums are what lines add up to.
type sums struct {
	wait, response int64 // milliseconds
	requests       int64
	innerRetries   int64
	used           verdict.Usage // without the cost
	cost           *float64      // of the attempts that have reported it
	unknownUsage   int64         // how many have used more than they have reported
	unknownCosts   int64         // how many have a cost that is not known, or not all of it
	estimatedCosts int64         // how many have an estimated cost
	noCosts        int64         // of how many nothing is known of the cost
}

func (s *sums) add(l *line) {
	s.wait += l.waited()
	s.response += ms(l.ResponseTime)
	s.requests += int64(l.Requests)
	s.innerRetries += int64(l.InnerRetries)
	u := l.usage
	s.cost = addCost(s.cost, u.CostUSD)
	u.CostUSD, u.Estimated = nil, false
	s.used = s.used.Add(u)
	s.unknownUsage += l.unknownUsage()
	s.unknownCosts += l.unknownCosts()
	s.estimatedCosts += l.estimatedCosts()
	s.noCosts += l.noCosts()
}

// addCost is the sum of what is known.
func addCost(a, b *float64) *float64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := *a + *b
	return &sum
}

// unknownUsage is 1 for an attempt that has used more than it has reported.
func (l *line) unknownUsage() int64 {
	if l.usage.Unknown {
		return 1
	}
	return 0
}

// unknownCosts is 1 for an attempt whose cost is not known, or not all of it, negative for one that reports those of earlier ones.
func (l *line) unknownCosts() int64 {
	n := -int64(l.usage.Settles)
	if l.usage.CostUnknown() {
		n++
	}
	return n
}

// noCosts is 1 for an attempt of whose cost nothing is known, negative for one that reports those of earlier ones.
func (l *line) noCosts() int64 {
	n := -int64(l.usage.Settles)
	if l.usage.CostUSD == nil && l.usage.CostUnknown() {
		n++
	}
	return n
}

// estimatedCosts is 1 for an attempt whose cost is estimated.
func (l *line) estimatedCosts() int64 {
	if l.usage.Estimated {
		return 1
	}
	return 0
}

// tally is a row of the rollup.
type tally struct {
	sums
	attempts, refused, ended, succeeded int64
	faults                              int64
	innerWait, gateWait                 int64 // milliseconds, part of wait
	spread                              spread
}

func (t *tally) add(l *line) {
	e := &l.Entry
	if e.Kind != "" { // it is not about an attempt
		t.faults++
		return
	}
	t.sums.add(l)
	t.spread.add(l)
	t.innerWait += ms(e.InnerWait)
	t.gateWait += ms(e.GateWait)
	if e.Attempt > 0 {
		t.attempts++
	} else {
		t.refused++
	}
	if final(e) {
		t.ended++
	}
	if e.Status == journal.Success {
		t.succeeded++
	}
}

func (a rollupKey) compare(b rollupKey) int {
	return cmp.Or(cmp.Compare(a.quarter, b.quarter), cmp.Compare(a.profile, b.profile), cmp.Compare(a.model, b.model), cmp.Compare(a.class, b.class))
}

// classOf is the class of an outcome; the log leaves it out where all went well.
func classOf(e *journal.Entry) string {
	if e.ErrorType == "" {
		if e.Status == journal.Success {
			return string(verdict.OK)
		}
		return string(verdict.Unknown)
	}
	return string(e.ErrorType)
}

// ms are milliseconds of seconds.
func ms(seconds float64) int64 {
	if n := math.Round(seconds * 1000); n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	return 0
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func nullTime(t journal.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func nullCost(c *float64) any {
	if c == nil {
		return nil
	}
	return *c
}

func nullInt(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}

func nullZero(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// nullTags are tags as JSON.
func nullTags(tags map[string]string) any {
	if len(tags) == 0 {
		return nil
	}
	data, _ := json.Marshal(tags) // texts always have a form
	return string(data)
}

// tagsOf reads tags that are on record.
func tagsOf(text string) (tags map[string]string) {
	if text != "" {
		json.Unmarshal([]byte(text), &tags) // what cannot be read is none
	}
	return tags
}

// nullList is a list as JSON.
func nullList[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	data, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	return string(data)
}

// floorDiv rounds down, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
