package top

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// books is a log that a test writes, and the ledger over it.
type books struct {
	t *testing.T
	Ledger
}

func newBooks(t *testing.T) *books {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &books{t: t, Ledger: Ledger{Path: filepath.Join(dir, "log.jsonl")}}
}

func (b *books) append(when time.Time, e journal.Entry) {
	b.t.Helper()
	e.Timestamp, e.Invocation = journal.Time{Time: when}, "run"
	if e.Status == "" {
		e.Attempt, e.Status = 1, journal.Success
	}
	if err := (&journal.Log{Path: b.Path}).Append(e); err != nil {
		b.t.Fatal(err)
	}
}

// spends is an attempt that has cost that much.
func spends(usd float64) journal.Entry {
	return journal.Entry{Attempt: 1, Status: journal.Success, Usage: verdict.Usage{InputTokens: 10, OutputTokens: 1, CostUSD: &usd}.JSON()}
}

// want checks a sum, against a ledger too that reads all of it anew.
func (b *books) want(now time.Time, runs int, usd float64) {
	b.t.Helper()
	for name, l := range map[string]*Ledger{"going on": &b.Ledger, "anew": {Path: b.Path}} {
		got, err := l.Today(now)
		if err != nil || got.Runs != runs || fmt.Sprintf("%.4f", got.CostUSD) != fmt.Sprintf("%.4f", usd) {
			b.t.Errorf("%s: %d runs and $%.4f (%v), want %d and $%.4f", name, got.Runs, got.CostUSD, err, runs, usd)
		}
	}
}

func TestLedger_CountsToday(t *testing.T) {
	b := newBooks(t)
	b.want(at, 0, 0) // no log at all
	b.append(at.Add(-15*time.Hour), spends(100))
	b.append(at.Add(-time.Hour), spends(1))
	b.want(at, 1, 1)
	retry := spends(0.5)
	retry.Status = journal.Retry
	b.append(at, retry)
	b.append(at, journal.Entry{Attempt: 0, Status: journal.Error, ErrorType: verdict.LimitReached}) // refused
	b.append(at, journal.Entry{Kind: journal.Audit, Event: "gate_reset", Status: journal.Success})
	b.want(at, 2, 1.5)
	got, _ := b.Today(at)
	if got.Failed != 1 || got.Attempts != 2 || got.InputTokens != 20 || got.OutputTokens != 2 {
		t.Errorf("it counts %+v", got)
	}
	b.want(at.AddDate(0, 0, 1), 0, 0) // the next day
	b.want(at.Add(-15*time.Hour), 3, 101.5)
	zone := time.FixedZone("east", 10*3600+1800)
	b.want(at.In(zone), 1, 0.5) // where the day has begun half an hour ago
}

// An attempt whose cost is not known is counted, until a later one includes it.
func TestLedger_UnknownCosts(t *testing.T) {
	b := newBooks(t)
	b.append(at, journal.Entry{Attempt: 1, Status: journal.Retry, Usage: verdict.Usage{Unknown: true}.JSON()})
	if got, _ := b.Today(at); got.Unknown != 1 || got.parts()[0] != "today ≥ $0.00" {
		t.Errorf("%+v, %q", got, got.parts())
	}
	usd := 0.25
	b.append(at, journal.Entry{Attempt: 2, Status: journal.Success, Usage: verdict.Usage{CostUSD: &usd, Settles: 1, Estimated: true}.JSON()})
	b.append(at, journal.Entry{Attempt: 1, Status: journal.Success, Usage: []byte(`{"total_cost_usd":-1e300}`)})
	if got, _ := b.Today(at); got.Unknown != 0 || got.parts()[0] != "today ~$0.25" {
		t.Errorf("%+v, %q", got, got.parts())
	}
}

// Only what is new is read, and a line that is being written is read when it is whole.
func TestLedger_HalfALine(t *testing.T) {
	b := newBooks(t)
	b.append(at, spends(1))
	b.want(at, 1, 1)
	b.append(at, spends(2))
	data, err := os.ReadFile(b.Path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(data) - 1; cut > len(data)-60; cut -= 7 {
		if err := os.Truncate(b.Path, int64(cut)); err != nil {
			t.Fatal(err)
		}
		b.want(at, 1, 1)
		if err := os.WriteFile(b.Path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.want(at, 2, 3)
}

// A log that is moved aside in the course of the day still counts, and so does a long day.
func TestLedger_LongAndMoved(t *testing.T) {
	b := newBooks(t)
	for range 800 {
		b.append(at.AddDate(0, 0, -1), spends(9))
	}
	// A run that was killed yesterday is put on record today, with the time of its last sign of life.
	for i := range 1000 {
		if i%2 == 0 {
			b.append(at.AddDate(0, 0, -1), journal.Entry{Attempt: 1, Status: journal.Error, Rule: "killed", ExitCode: -1})
		}
		b.append(at, spends(0.002))
	}
	b.want(at, 1000, 2)
	if err := os.Rename(b.Path, b.Path+".20261116T140322Z"); err != nil {
		t.Fatal(err)
	}
	later := time.Now()
	if err := os.Chtimes(b.Path+".20261116T140322Z", later, later); err != nil {
		t.Fatal(err)
	}
	b.want(at, 1000, 2)
	b.append(at, spends(1))
	b.want(at, 1001, 3)
}
