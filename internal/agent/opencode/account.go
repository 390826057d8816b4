package opencode

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// tokens are a count in opencode's words, of one model call. Its input does not include what was cached, and its output, with some
// providers, not what the model has thought.
type tokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

func (t *tokens) none() bool { return *t == tokens{} }

// usage is what a model call has used.
func (p *part) usage() verdict.Usage {
	cost := p.Cost
	return verdict.Usage{InputTokens: p.Tokens.Input, OutputTokens: p.Tokens.Output, CacheReadInputTokens: p.Tokens.Cache.Read,
		CacheCreationInputTokens: p.Tokens.Cache.Write, CostUSD: &cost}
}

// Account implements agent.Reader. Each model call tells what it has used when it has ended, and so do its tools; what one has
// used that was cut off is not known. Those for a title, and those of subagents, are in no output.
func (f *follower) Account() agent.Account {
	a := f.Attempt.Account()
	a.Usage, a.Turns, a.Requests = f.used, f.steps, f.steps+f.Retries+f.nothing
	if f.failure != nil {
		a.Status = f.failure.Data.Status
		a.Requests++
	}
	q := f.requests[f.Session]
	a.Usage.Unknown = f.Over && f.asking && (q == nil || !q.failed)
	return a
}
