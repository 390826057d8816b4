package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// Figures are what a group of runs adds up to. A new one is a field here and a row of [figures]; [line.figures] reads it from the log.
type Figures struct {
	Key         string        `json:"key"`
	Invocations int64         `json:"invocations"` // that ended
	Succeeded   int64         `json:"succeeded"`
	Refused     int64         `json:"refused"` // not started at all, although there was something to do
	Attempts    int64         `json:"attempts"`
	Requests    int64         `json:"requests"` // to the services, as far as the commands report them
	Faults      int64         `json:"faults"`   // of hooks and MCP servers
	WaitMS      int64         `json:"wait_ms"`
	ResponseMS  int64         `json:"response_ms"`
	Usage       verdict.Usage `json:"usage"` // the cost is what is known of that of the attempts
	Unknown
	Checked
	// PeakMemory is the most memory that an attempt was seen to have, in bytes.
	PeakMemory int64 `json:"peak_memory_bytes"`

	// Of what follows only some sums are kept.

	Waits   `json:"-"`
	NoCosts int64   `json:"-"` // attempts of whose cost nothing is known
	Lost    float64 `json:"-"` // what is known of the cost of attempts that failed; what a session goes on from is not lost

	sizes, firstTokens int64 // of the tables that only count
}

// Unknown is how much of the usage and the costs is not known for sure.
type Unknown struct {
	UnknownCosts   int64 `json:"unknown_costs"`   // attempts with a cost that is not known, or not all of it
	UnknownUsage   int64 `json:"unknown_usage"`   // attempts that have used more than they have reported
	EstimatedCosts int64 `json:"estimated_costs"` // attempts with an estimated cost
}

// Checked is how many runs were done, or not, by what their check says. A run that had nothing to do is none of them.
type Checked struct {
	DoneFirst int64 `json:"done_first"` // without feedback from it
	DoneLater int64 `json:"done_later"` // with feedback
	NotDone   int64 `json:"not_done"`   // ended because they did not pass it
}

// Waits is what the commands have waited by themselves, and what was waited for them.
type Waits struct {
	InnerRetries int64
	InnerWaitMS  int64 // of the whole wait, what the commands have waited by themselves
	GateWaitMS   int64 // of the whole wait, what was waited at gates
	TookMS       int64 // by the runs that have ended, waits included
}

// Figure is one of the figures: where it is kept, how it is added up, and how belay stats shows it.
type Figure struct {
	column string // its name in the tables
	in     places
	of     Sums
	// rollup is what is added up of a rollup, and row of the rows of attempts, which are a; empty means the column.
	rollup, row string
	at          func(*Figures) any // an int64, a float64 or a cost that may not be known

	// CSV is its name there, as in JSON; empty if it is left out.
	CSV string
	// Heading is the heading of its column in belay stats, Place the one from the left, and Drop says how soon a narrow terminal leaves it out.
	Heading     string
	Place, Drop int
	// Look says how it is shown in that column.
	Look Look
	// Page is the heading of its column on the page, among the sums of Spending.
	Page string
	// Checks says that it is about checks, and left out of CSV and the page where there were none.
	Checks bool
	// fold is the function that adds it up; empty means sum. The largest, where it is not known, is left out of CSV and the page.
	fold string
	// since is the version of the schema that adds its column to the tables that were there before; 0 for a column that they have had from the start.
	since int
}

// places are tables that have a column for a figure.
type places int

const (
	inAttempts places = 1 << iota
	inRuns
	inSessions
	inRollups
	inMeters
	inSpreads
	inFirstTokens
	everywhere = inAttempts | inRuns | inSessions | inRollups | inMeters
)

// tables are those that have columns for figures.
var tables = []struct {
	name string
	places
	since int // the version of the schema that makes it
}{{"attempts", inAttempts, 1}, {"invocations", inRuns, 1}, {"sessions", inSessions, 1}, {"rollup", inRollups, 1}, {"meters", inMeters, 9}, {"label_rollup", inRollups, 10}}

// Look is how a figure is shown in a column of text.
type Look int

const (
	Always       Look = iota // also if it is 0
	Rare                     // empty if it is 0
	Bad                      // the same, in the colour of errors
	Milliseconds             // a duration; empty if it is 0
	Bytes                    // a size; empty if it is 0
)

// Sums say which figures a point is to have: fewer are added up sooner.
type Sums int

const (
	// Reliability is how many runs and attempts there were, how they have ended, how long they took and waited, and how often integrations have failed.
	Reliability Sums = 1 << iota
	// Spending is how many runs and attempts there were, and their tokens and costs.
	Spending
)

// figures are all of them, in the order that CSV has them.
var figures = []Figure{
	{column: "ended", in: inRollups | inMeters, of: Reliability | Spending, row: "a.status <> 'retry'", at: func(f *Figures) any { return &f.Invocations }, CSV: "invocations"},
	{column: "succeeded", in: inRollups, of: Reliability, row: "a.status = 'success'", at: func(f *Figures) any { return &f.Succeeded }, CSV: "succeeded"},
	{column: "refused", in: inRollups | inMeters, of: Reliability, row: "a.attempt = 0 AND a.status <> 'success'", at: func(f *Figures) any { return &f.Refused }, CSV: "refused"},
	{column: "attempts", in: everywhere &^ inAttempts, of: Reliability | Spending, row: "a.attempt > 0", at: func(f *Figures) any { return &f.Attempts },
		CSV: "attempts", Heading: "ATTEMPTS", Place: 1, Drop: 4, Page: "Attempts"},
	{column: "wait_ms", in: inRuns | inRollups | inMeters, of: Reliability, row: "a.wait_ms + a.gate_wait_ms", at: func(f *Figures) any { return &f.WaitMS },
		CSV: "wait_ms", Heading: "WAITED", Place: 4, Drop: 1, Look: Milliseconds},
	{column: "response_ms", in: inAttempts | inRuns | inRollups, of: Reliability, at: func(f *Figures) any { return &f.ResponseMS }, CSV: "response_ms"},
	{column: "input_tokens", in: everywhere, of: Spending, at: func(f *Figures) any { return &f.Usage.InputTokens }, CSV: "input_tokens"},
	{column: "output_tokens", in: everywhere, of: Spending, at: func(f *Figures) any { return &f.Usage.OutputTokens }, CSV: "output_tokens"},
	{column: "cache_read_tokens", in: everywhere, of: Spending, at: func(f *Figures) any { return &f.Usage.CacheReadInputTokens }, CSV: "cache_read_input_tokens"},
	{column: "cache_creation_tokens", in: everywhere, of: Spending, at: func(f *Figures) any { return &f.Usage.CacheCreationInputTokens }, CSV: "cache_creation_input_tokens"},
	{column: "cost_usd", in: everywhere, of: Spending, at: func(f *Figures) any { return &f.Usage.CostUSD }, CSV: "total_cost_usd"},
	{column: "requests", since: 2, in: everywhere &^ inSessions, at: func(f *Figures) any { return &f.Requests }, CSV: "requests", Heading: "REQUESTS", Place: 2, Drop: 5, Look: Rare},
	{column: "faults", since: 2, in: inRollups | inMeters, of: Reliability, row: "0", at: func(f *Figures) any { return &f.Faults }, CSV: "faults", Heading: "FAULTS", Place: 3, Drop: 2, Look: Bad},
	{column: "unknown_costs", since: 5, in: everywhere &^ inMeters, of: Spending, at: func(f *Figures) any { return &f.UnknownCosts }, CSV: "unknown_costs"},
	{column: "estimated_costs", since: 6, in: everywhere &^ inMeters, of: Spending, at: func(f *Figures) any { return &f.EstimatedCosts }, CSV: "estimated_costs"},
	{column: "done_first", since: 15, in: inRollups, of: Reliability | Spending, row: passed("= 0"), at: func(f *Figures) any { return &f.DoneFirst },
		CSV: "done_first", Heading: "FIRST TRY", Place: 5, Drop: 3, Look: Rare, Page: "Done at the first try", Checks: true},
	{column: "done_later", since: 15, in: inRollups, of: Reliability | Spending, row: passed("> 0"), at: func(f *Figures) any { return &f.DoneLater },
		CSV: "done_later", Heading: "FEEDBACK", Place: 6, Drop: 3, Look: Rare, Page: "After feedback", Checks: true},
	{column: "not_done", since: 15, in: inRollups, of: Reliability | Spending, row: "a.status <> 'retry' AND a.class = 'not_done'", at: func(f *Figures) any { return &f.NotDone },
		CSV: "not_done", Heading: "NOT DONE", Place: 7, Drop: 2, Look: Bad, Page: "Not done", Checks: true},
	{column: "peak_memory", since: 16, in: inAttempts | inRollups, of: Reliability | Spending, at: func(f *Figures) any { return &f.PeakMemory }, fold: most,
		CSV: "peak_memory_bytes", Heading: "MEMORY", Place: 8, Drop: 3, Look: Bytes, Page: "Peak memory (bytes)"},
	{column: "unknown_usage", since: 5, in: everywhere &^ inMeters, at: func(f *Figures) any { return &f.UnknownUsage }},
	{column: "no_costs", since: 6, in: inRuns | inSessions, at: func(f *Figures) any { return &f.NoCosts }},
	{column: "inner_retries", since: 5, in: inAttempts | inRuns | inMeters, at: func(f *Figures) any { return &f.InnerRetries }},
	{column: "inner_wait_ms", since: 4, in: inAttempts | inMeters, at: func(f *Figures) any { return &f.InnerWaitMS }},
	{column: "gate_wait_ms", in: inAttempts | inMeters, at: func(f *Figures) any { return &f.GateWaitMS }},
	{column: "took_ms", in: inMeters, at: func(f *Figures) any { return &f.TookMS }},
	{column: "count", in: inSpreads, at: func(f *Figures) any { return &f.sizes }},
	{column: "n", in: inFirstTokens, at: func(f *Figures) any { return &f.firstTokens }},
	{of: Spending, rollup: "coalesce(cost_usd, 0) * (class NOT IN ('ok', 'not_done'))", row: "coalesce(a.cost_usd, 0) * (a.class NOT IN ('ok', 'not_done'))", at: func(f *Figures) any { return &f.Lost }},
}

// passed is SQL for a run that has ended with a check which passed in such a round.
func passed(round string) string {
	return "coalesce(a.status = 'success' AND a.attempt > 0 AND a.checked ->> '$.passed' AND a.checked ->> '$.round' " + round + ", 0)"
}

// some are the figures that are wanted.
func some(wanted func(*Figure) bool) (list figureList) {
	for i := range figures {
		if wanted(&figures[i]) {
			list = append(list, &figures[i])
		}
	}
	return list
}

// kept are the figures that a table has columns for.
func kept(in places) figureList { return some(func(f *Figure) bool { return f.in&in != 0 }) }

// InCSV are the figures that CSV has of something, in its order.
func InCSV(of Figures) []*Figure {
	return some(func(f *Figure) bool { return f.CSV != "" && f.within(of) })
}

// Shown are the figures with a column of their own in belay stats, from the left.
func Shown() []*Figure {
	list := some(func(f *Figure) bool { return f.Place > 0 })
	slices.SortFunc(list, func(a, b *Figure) int { return a.Place - b.Place })
	return list
}

// OnPage are the figures with a column of their own on the page that shows something.
func OnPage(of Figures) []*Figure {
	return some(func(f *Figure) bool { return f.Page != "" && f.within(of) })
}

// most folds what only the largest counts of.
const most = "max"

// within reports whether there is anything to say of it.
func (f *Figure) within(of Figures) bool {
	return (!f.Checks || of.checked()) && (f.fold != most || of.PeakMemory > 0)
}

// Name is the name of its column in the record.
func (f *Figure) Name() string { return f.column }

// Count is a figure that counts, or is in milliseconds; ok is false for a cost.
func (f *Figure) Count(of Figures) (n int64, ok bool) {
	p, ok := f.at(&of).(*int64)
	if ok {
		n = *p
	}
	return n, ok
}

// figureList are some of the figures. What a list writes into SQL and where it scans to have the same order.
type figureList []*Figure

// columns are the names, each after a comma.
func (list figureList) columns() string {
	return list.each(func(f *Figure) string { return ", " + f.column })
}

// rollupSums and rowSums add up a rollup or attempts in SQL, each after a comma.
func (list figureList) rollupSums() string {
	return list.each(func(f *Figure) string { return ", " + cmp.Or(f.fold, "sum") + "(" + cmp.Or(f.rollup, f.column) + ")" })
}

func (list figureList) rowSums() string {
	return list.each(func(f *Figure) string { return ", " + cmp.Or(f.fold, "sum") + "(" + f.ofRow() + ")" })
}

// rows are the figures of each attempt.
func (list figureList) rows() string {
	return list.each(func(f *Figure) string { return ", " + f.ofRow() })
}

func (f *Figure) ofRow() string { return cmp.Or(f.row, "a."+f.column) }

// update adds to the columns of a row that is there already. The cost is what is known of that of the attempts; the others are counted beside it.
func (list figureList) update() (set []string) {
	for _, f := range list {
		if f.column == "cost_usd" {
			set = append(set, "cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + excluded.cost_usd END")
			continue
		}
		add := "%s = %[1]s + excluded.%[1]s"
		if f.fold == most {
			add = "%s = max(%[1]s, excluded.%[1]s)"
		}
		set = append(set, fmt.Sprintf(add, f.column))
	}
	return set
}

func (list figureList) each(text func(*Figure) string) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(text(f))
	}
	return b.String()
}

// at appends pointers to the figures, to scan into.
func (list figureList) at(to []any, f *Figures) []any {
	for _, figure := range list {
		to = append(to, figure.at(f))
	}
	return to
}

// values appends the figures, to insert. For pointers package sql would need reflection, a tenth of what a fold costs.
func (list figureList) values(to []any, f *Figures) []any {
	for _, figure := range list {
		switch v := figure.at(f).(type) {
		case *int64:
			to = append(to, *v)
		case **float64:
			to = append(to, *v)
		}
	}
	return to
}

// Add adds what other runs have added up to.
func (f *Figures) Add(g Figures) {
	for i := range figures {
		figures[i].add(f, &g)
	}
	f.Usage.Estimated, f.Usage.Unknown = f.EstimatedCosts > 0, f.UnknownUsage > 0
}

// add adds the figure of some runs to that of others.
func (f *Figure) add(to, from *Figures) {
	switch v := f.at(to).(type) {
	case *int64:
		if n := *f.at(from).(*int64); f.fold == most {
			*v = max(*v, n)
		} else {
			*v += n
		}
	case *float64:
		*v += *f.at(from).(*float64)
	case **float64:
		*v = addCost(*v, *f.at(from).(**float64))
	}
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

// checked says that some runs were done, or not, by what a check says.
func (f Figures) checked() bool { return f.DoneFirst+f.DoneLater+f.NotDone > 0 }

// Rate is the part that succeeded, from 0 to 1; 0 if there were none.
func (f Figures) Rate() float64 {
	if f.Invocations == 0 {
		return 0
	}
	return float64(f.Succeeded) / float64(f.Invocations)
}

// Cost is what is known of the cost.
func (f Figures) Cost() float64 {
	if f.Usage.CostUSD == nil {
		return 0
	}
	return *f.Usage.CostUSD
}

// The upper bounds of buckets, as OpenTelemetry's conventions for generative AI advise them. What is above the last one has a
// bucket of its own.
var (
	// TokenBounds are the bounds of the tokens of an attempt.
	TokenBounds = [...]float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	// DurationBounds are the bounds of the duration of a run, in seconds.
	DurationBounds = [...]float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

// Buckets count values by size: the i-th those above bound i-1 and up to bound i.
type Buckets [len(TokenBounds) + 1]int64

// Total is how many values there are.
func (b *Buckets) Total() (n int64) {
	for _, count := range b {
		n += count
	}
	return n
}

// bucketIn is the bucket of a value.
func bucketIn(bounds *[len(TokenBounds)]float64, value float64) int {
	i, _ := slices.BinarySearch(bounds[:], value)
	return i
}
