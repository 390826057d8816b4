package claude

import (
	"encoding/json"

	"github.com/belay-run/belay/verdict"
)

// tokens are those of one answer of the model.
type tokens struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// modelUsage is what a process has used of one model so far.
type modelUsage struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheRead     int64 `json:"cacheReadInputTokens"`
	CacheCreation int64 `json:"cacheCreationInputTokens"`
}

// ledger adds up what one attempt has used.
type ledger struct {
	answers map[string]tokens // by the message's id: the same message comes several times
	results []result
}

// answer takes note of what the CLI says of a message. Later ones know more.
func (l *ledger) answer(id string, t tokens) {
	if id == "" {
		return
	}
	if l.answers == nil {
		l.answers = map[string]tokens{}
	}
	old := l.answers[id]
	l.answers[id] = tokens{max(old.Input, t.Input), max(old.Output, t.Output), max(old.CacheRead, t.CacheRead), max(old.CacheCreation, t.CacheCreation)}
}

// total is what the attempt has used. The last result knows all that its process has used, by model; without one the
// answers are added up, and nobody has told the cost.
func (l *ledger) total() (u verdict.Usage) {
	if n := len(l.results); n > 0 {
		last := l.results[n-1]
		u.CostUSD = last.CostUSD
		for _, m := range last.ModelUsage {
			u = u.Add(verdict.Usage{InputTokens: m.Input, OutputTokens: m.Output, CacheReadInputTokens: m.CacheRead, CacheCreationInputTokens: m.CacheCreation})
		}
		if len(last.ModelUsage) > 0 {
			return u
		}
		for _, r := range l.results {
			var t tokens
			json.Unmarshal(r.Usage, &t)
			u = u.Add(t.usage())
		}
		return u
	}
	for _, t := range l.answers {
		u = u.Add(t.usage())
	}
	return u
}

func (t tokens) usage() verdict.Usage {
	return verdict.Usage{InputTokens: t.Input, OutputTokens: t.Output, CacheReadInputTokens: t.CacheRead, CacheCreationInputTokens: t.CacheCreation}
}

// reported is the usage in the CLI's own words: that of its result, with the cost beside it. Of several results the
// tokens are each turn's own and the cost is that of all.
func (l *ledger) reported() json.RawMessage {
	if len(l.results) == 0 {
		return nil
	}
	last := l.results[len(l.results)-1]
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(last.Usage, &fields) != nil || len(fields) == 0 {
		return nil
	}
	if len(l.results) > 1 {
		var sum tokens
		for _, r := range l.results {
			var t tokens
			json.Unmarshal(r.Usage, &t)
			sum = tokens{sum.Input + t.Input, sum.Output + t.Output, sum.CacheRead + t.CacheRead, sum.CacheCreation + t.CacheCreation}
		}
		data, _ := json.Marshal(sum)
		json.Unmarshal(data, &fields)
	}
	if last.CostUSD != nil {
		fields["total_cost_usd"], _ = json.Marshal(*last.CostUSD)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return data
}
