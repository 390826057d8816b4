package top

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// Spend is what the log has of a day. Fields are only ever added.
type Spend struct {
	Since        time.Time `json:"since"`
	Runs         int       `json:"runs"` // that have ended
	Failed       int       `json:"failed"`
	Attempts     int       `json:"attempts"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
	CostUSD      float64   `json:"cost_usd"`
	Estimated    int       `json:"estimated_costs"` // attempts whose cost is an estimate
	Unknown      int       `json:"unknown_costs"`   // attempts whose cost is not known
}

// add counts a line of the log.
func (s *Spend) add(e journal.Entry) {
	if e.Kind != "" {
		return
	}
	if e.Status != journal.Retry {
		s.Runs++
		if e.Status != journal.Success {
			s.Failed++
		}
	}
	if e.Attempt > 0 {
		s.Attempts++
	}
	u := usage(e)
	s.InputTokens += u.InputTokens
	s.OutputTokens += u.OutputTokens
	if u.CostUSD != nil {
		s.CostUSD += *u.CostUSD
		if u.Estimated {
			s.Estimated++
		}
	}
	s.Unknown -= u.Settles
	if u.CostUnknown() {
		s.Unknown++
	}
}

// usage is what an attempt has used. A cost that cannot be one is not known.
func usage(e journal.Entry) (u verdict.Usage) {
	if len(e.Usage) == 0 || json.Unmarshal(e.Usage, &u) != nil {
		return verdict.Usage{}
	}
	u.CostUSD = price.Credible(u.CostUSD)
	return u
}

// parts say it in words.
func (s *Spend) parts() []string {
	cost := dollars(s.CostUSD)
	if s.Estimated > 0 {
		cost = "~" + cost
	}
	if s.Unknown > 0 {
		cost = "≥ " + cost
	}
	runs := count(s.Runs, "run", "runs")
	if s.Failed > 0 {
		runs += fmt.Sprintf(" (%d failed)", s.Failed)
	}
	parts := []string{"today " + cost, runs}
	if n := s.InputTokens + s.OutputTokens; n > 0 {
		parts = append(parts, short(n)+" tokens")
	}
	return parts
}

// Ledger adds up what the log has of the present day. It reads what is new since it was last asked.
type Ledger struct {
	Path string // of the log

	today Spend
	file  os.FileInfo // the log as it was last read
	read  int64       // how much of it was read, in whole lines
}

// Today is what was spent on the day of now, in its zone.
func (l *Ledger) Today(now time.Time) (Spend, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	f, err := safefile.OpenOwn(l.Path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		l.file, l.today = nil, Spend{Since: midnight}
		return l.today, l.older(midnight)
	}
	if err != nil {
		return Spend{Since: midnight}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Spend{Since: midnight}, err
	}
	from := l.read
	if l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.read || !l.today.Since.Equal(midnight) {
		l.today = Spend{Since: midnight}
		whole := false
		if from, whole, err = since(f, info.Size(), midnight); err == nil && whole {
			err = l.older(midnight) // it may have been moved aside today
		}
		if err != nil {
			l.file = nil
			return l.today, err
		}
	}
	l.file = info
	l.read, err = l.sum(f, from, info.Size())
	return l.today, err
}

// sum counts the whole lines between two positions and returns where the last one of them ends.
func (l *Ledger) sum(f *os.File, from, to int64) (end int64, err error) {
	end = from
	tail := make([]byte, min(to-from, maxTail))
	if _, err := f.ReadAt(tail, to-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return end, err
	}
	last := strings.LastIndexByte(string(tail), '\n')
	if last < 0 && to-from <= maxTail {
		return end, nil // it is being written
	}
	end = to - int64(len(tail)) + int64(last) + 1
	for e := range journal.Read(io.NewSectionReader(f, from, end-from), nil) {
		if !e.Timestamp.Before(l.today.Since) {
			l.today.add(e)
		}
	}
	return end, nil
}

// maxTail is longer than a line can be.
const maxTail = 64 << 10

// since is a position before which the log has nothing of the day that begins then. whole says that this is its beginning, so that there may
// be more in a log that was moved aside.
func since(f *os.File, size int64, midnight time.Time) (from int64, whole bool, err error) {
	for part := int64(256 << 10); part < size; part *= 4 {
		from := size - part
		for e := range journal.Read(io.NewSectionReader(f, from, maxTail), nil) {
			// The line of a killed run has the time of its last sign of life, and comes later.
			if e.Rule != "killed" {
				if e.Timestamp.Before(midnight) {
					return from, false, nil
				}
				break
			}
		}
	}
	return 0, true, nil
}

// older counts what logs have of the day that were moved aside.
func (l *Ledger) older(midnight time.Time) error {
	moved, err := filepath.Glob(strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(l.Path) + ".*")
	if err != nil {
		return err
	}
	for _, path := range moved {
		f, err := safefile.OpenOwn(path, os.O_RDONLY)
		if err != nil {
			continue // it has just been removed, or it is not ours
		}
		info, err := f.Stat()
		if err != nil || info.ModTime().Before(midnight) {
			f.Close()
			continue
		}
		from, _, err := since(f, info.Size(), midnight)
		if err == nil {
			_, err = l.sum(f, from, info.Size())
		}
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
