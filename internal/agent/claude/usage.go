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
	answers      map[string]tokens // by the message's id: the same message comes several times
	results      []result
	hadSubagents bool // claude shows only the beginning of their messages
}

// answer takes note of what the CLI says of a message. Later ones know more.
func (l *ledger) answer(id string, t tokens) {
	if id == "" {
		return
	}
	if l.answers == nil {
		l.answers = map[string]tokens{}
	}
	l.answers[id] = l.answers[id].most(t)
}

// total is what the attempt has used. The results count the tokens of their turns, but not always all; the messages that
// were seen are the other account of the same. session is what the whole session has cost, for so many tokens: versions
// from 2.1.260 or so on tell only that of a session that was resumed. midway says that a message was cut off, or never
// came: of that claude tells neither all tokens nor the cost.
func (l *ledger) total(resumed, midway bool) (used verdict.Usage, session *float64, tokensOf int64) {
	var told, seen tokens
	for _, r := range l.results {
		var t tokens
		json.Unmarshal(r.Usage, &t)
		told = told.add(t)
	}
	for _, t := range l.answers {
		seen = seen.add(t)
	}
	sum := told.most(seen)
	if len(l.results) == 0 {
		return sum.usage(), nil, 0 // and the cost is not known
	}
	last := l.results[len(l.results)-1]
	var all tokens
	for _, m := range last.ModelUsage {
		all = all.add(tokens(m))
	}
	if resumed && all.Input+all.Output > sum.Input+sum.Output || midway && !resumed && len(last.ModelUsage) > 0 {
		return sum.usage(), last.CostUSD, all.Input + all.Output
	}
	if l.hadSubagents && !resumed {
		sum = sum.most(all)
	}
	used = sum.usage()
	used.CostUSD = last.CostUSD
	if last.CostUSD != nil && *last.CostUSD == 0 && sum != (tokens{}) && len(last.ModelUsage) == 0 {
		used.CostUSD = nil // it was stopped before it had added up
	}
	return used, nil, 0
}

// hasUnseenAnswer reports whether the last result counts more than the messages that were seen: there was an empty
// answer, which claude does not show.
func (l *ledger) hasUnseenAnswer() bool {
	var told, seen tokens
	json.Unmarshal(l.results[len(l.results)-1].Usage, &told)
	for _, t := range l.answers {
		seen = seen.add(t)
	}
	return told.Input > seen.Input
}

// turns is how many turns the model has taken.
func (l *ledger) turns() (n int) {
	for _, r := range l.results {
		n += r.Turns
	}
	return max(n, len(l.answers))
}

func (t tokens) usage() verdict.Usage {
	return verdict.Usage{InputTokens: t.Input, OutputTokens: t.Output, CacheReadInputTokens: t.CacheRead, CacheCreationInputTokens: t.CacheCreation}
}

func (t tokens) add(u tokens) tokens {
	return tokens{t.Input + u.Input, t.Output + u.Output, t.CacheRead + u.CacheRead, t.CacheCreation + u.CacheCreation}
}

func (t tokens) most(u tokens) tokens {
	return tokens{max(t.Input, u.Input), max(t.Output, u.Output), max(t.CacheRead, u.CacheRead), max(t.CacheCreation, u.CacheCreation)}
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
			sum = sum.add(t)
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
