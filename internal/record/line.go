package record

import (
	"bytes"
	"encoding/json"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/record/logfile"
	"github.com/belay-run/belay/verdict"
)

// piece is the lines up to a position.
type piece struct {
	to    int64
	lines []line
	torn  int
}

// line is an entry, what it says was used, its digest where it has no other key, and its place among those it came with.
type line struct {
	journal.Entry
	usage   verdict.Usage
	digest  string
	place   int
	machine string // empty in the record of one machine

	settled int64 // milliseconds of the wait that it has planned which have been waited
	took    int64 // of the last line of a run: how long that has taken, in milliseconds
}

// read reads the next whole lines. A last line without an end is left for later, unless the log is no longer written to.
func read(f *logfile.File, from int64) (p piece, err error) {
	text, to, torn, err := f.Text(from, !f.Live())
	p.to, p.torn = to, torn
	p.lines = make([]line, 0, len(text)/256)
	for raw := range bytes.Lines(text) {
		p.add(raw, "")
	}
	return p, err
}

// add adds a line, if there is an entry in it, of a machine.
func (p *piece) add(raw []byte, machine string) {
	l := journal.Parse(raw)
	if l.Torn {
		p.torn++
	}
	if l.Entry == nil {
		return
	}
	one := line{Entry: *l.Entry, usage: usageOf(l.Entry.Usage), machine: machine}
	one.Redact() // the log may be that of an older version
	if one.Kind != "" {
		one.digest = logfile.Digest(append([]byte(machine), raw...))
	}
	p.lines = append(p.lines, one)
}

// usageOf reads what a CLI has reported. What cannot be read counts as zero, and a cost that cannot be one as unknown.
func usageOf(data json.RawMessage) (u verdict.Usage) {
	if len(data) > 0 && json.Unmarshal(data, &u) != nil {
		return verdict.Usage{}
	}
	u.CostUSD = price.Credible(u.CostUSD)
	u.Estimated = u.Estimated && u.CostUSD != nil
	return u
}

// figures are what a line adds to the sums.
func (l *line) figures() Figures {
	if l.Kind != "" { // it is not about an attempt
		return Figures{Faults: 1}
	}
	u := l.usage
	f := Figures{WaitMS: l.waited(), ResponseMS: ms(l.ResponseTime), Waits: Waits{InnerRetries: int64(l.InnerRetries), InnerWaitMS: ms(l.InnerWait), GateWaitMS: ms(l.GateWait)}, Requests: int64(l.Requests),
		PeakMemory: int64(max(l.PeakMemory, l.PeakTree, 0)), Usage: u, Unknown: Unknown{UnknownUsage: countIf(u.Unknown), EstimatedCosts: countIf(u.Estimated)},
		Attempts: countIf(l.Attempt > 0), Refused: countIf(l.Attempt <= 0 && l.Status != journal.Success), Succeeded: countIf(l.Status == journal.Success)}
	// An attempt may report the costs of earlier ones.
	f.UnknownCosts = countIf(u.CostUnknown()) - int64(u.Settles)
	f.NoCosts = countIf(u.CostUSD == nil && u.CostUnknown()) - int64(u.Settles)
	if final(&l.Entry) {
		f.Invocations, f.TookMS = 1, l.took
		f.NotDone = countIf(l.ErrorType == verdict.NotDone)
		if c := l.Check; c != nil && c.Passed && f.Succeeded*f.Attempts > 0 {
			f.DoneFirst, f.DoneLater = countIf(c.Round == 0), countIf(c.Round > 0)
		}
	}
	return f
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

// final says that the invocation ended with this line.
func final(e *journal.Entry) bool { return e.Status != journal.Retry }

// fault says that a line is about a failure of a hook or an MCP server: as in faulty, and as alerts count them.
func fault(e *journal.Entry) bool {
	switch {
	case e.Status != journal.Error:
		return false
	case e.Kind == journal.MCP:
		return alert.CountsCall(string(e.ErrorType))
	}
	return e.Kind == journal.Hook && alert.Counts(string(e.ErrorType), e.Rule, true)
}

// handled says that a line is about an error that a program has met and handled itself.
func handled(e *journal.Entry) bool { return e.Kind == journal.Audit && e.Event == journal.Failure }

// begun is when the attempt of a line began, what it had to wait for included.
func (l *line) begun() int64 {
	at := l.Timestamp.UnixMilli() - ms(l.ResponseTime) - ms(l.GateWait)
	if l.Check != nil { // which comes behind it
		at -= ms(l.Check.Time)
	}
	return at
}

func (l *line) quarter() int64 { return floorDiv(l.Timestamp.UnixMilli(), quarter) }

// labels are what a line is labelled with.
func (l *line) labels() [][2]string { return labelList(l.Name, l.Project, l.machine, l.Tags) }

// waited is what a line says that has been waited, in milliseconds. What it only plans is not known to be over before the
// next line of its run has come: see settleWaits.
func (l *line) waited() int64 {
	return ms(l.WaitTime) - ms(l.Planned()) + ms(l.GateWait) + l.settled
}
