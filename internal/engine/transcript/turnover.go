package transcript

import (
	"math"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// talkTurn is a turn of a conversation under way. What the ones before have done is what the account had when they ended.
type talkTurn struct {
	number   int       // of turns that have ended
	begun    time.Time // when there was a first sign of it; zero if there is none yet
	before   verdict.Usage
	requests int
	inner    int
	tools    map[string]agent.ToolTotal
}

// told reports whether the gate knows all that came of the conversation so far.
func (t talkTurn) told() bool { return t.number > 0 && t.begun.IsZero() }

// TurnReport is what there is to say of a turn that has ended.
type TurnReport struct {
	Number   int
	Took     time.Duration
	Verdict  verdict.Verdict
	Status   int // of HTTP
	Model    string
	Dir      string // where it was worked, if that is not where the agent was started
	Usage    verdict.Usage
	Requests int
	Inner    int // retries inside the CLI
	Tools    []journal.Tool
}

// over says what there is to say of the turn, which has ended with that account, and what the next one begins with. inner is how often the CLI has tried
// again by itself so far.
func (t talkTurn) over(a agent.Account, v verdict.Verdict, inner int, now time.Time) (next talkTurn, r TurnReport) {
	r = TurnReport{Number: t.number + 1, Verdict: v, Status: a.Status, Model: a.Model, Dir: a.Dir, Usage: less(a.Priced(), t.before),
		Requests: a.Requests - t.requests, Inner: inner - t.inner}
	next = talkTurn{number: r.Number, before: a.Priced().Rounded(), requests: a.Requests, inner: inner, tools: map[string]agent.ToolTotal{}}
	for _, one := range a.Tools.Totals {
		next.tools[one.Name] = one
		was := t.tools[one.Name]
		if n := one.Count - was.Count; n > 0 {
			r.Tools = append(r.Tools, journal.Tool{Name: one.Name, Count: n, Time: Milliseconds(one.Time - was.Time)})
		}
	}
	if !t.begun.IsZero() {
		r.Took = now.Sub(t.begun)
	}
	return next, r
}

// less is what was used since a part of it was.
func less(all, part verdict.Usage) verdict.Usage {
	u := verdict.Usage{InputTokens: all.InputTokens - part.InputTokens, OutputTokens: all.OutputTokens - part.OutputTokens,
		CacheReadInputTokens: all.CacheReadInputTokens - part.CacheReadInputTokens, CacheCreationInputTokens: all.CacheCreationInputTokens - part.CacheCreationInputTokens,
		Estimated: all.Estimated, Unknown: all.Unknown && !part.Unknown}
	if all.CostUSD != nil {
		cost := *all.CostUSD
		if part.CostUSD != nil {
			cost -= *part.CostUSD
		}
		u.CostUSD = &cost
	}
	return u
}

// Milliseconds are seconds that are rounded to them.
func Milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }
