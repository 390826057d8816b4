package claude

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// tokens are the tokens of one answer of the model.
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

// messageUsage is what an answer has used, with what its price depends on.
type messageUsage struct {
	tokens
	CacheCreationBy struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	ServerTools struct {
		Searches int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
	Geo   lenientString `json:"inference_geo"`
	Speed lenientString `json:"speed"`
}

// most is what two accounts of one answer tell together: later ones know more, and do not repeat everything.
func (u messageUsage) most(v messageUsage) messageUsage {
	u.tokens = u.tokens.most(v.tokens)
	u.CacheCreationBy.Hour = max(u.CacheCreationBy.Hour, v.CacheCreationBy.Hour)
	u.ServerTools.Searches = max(u.ServerTools.Searches, v.ServerTools.Searches)
	u.Geo, u.Speed = cmp.Or(v.Geo, u.Geo), cmp.Or(v.Speed, u.Speed)
	return u
}

// call is the answer as the price list has it.
func (u messageUsage) call() price.Call {
	hour := min(max(u.CacheCreationBy.Hour, 0), u.CacheCreation)
	return price.Call{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheCreation - hour, CacheWriteHour: hour,
		Searches: u.ServerTools.Searches, Fast: u.Speed == "fast", Regional: u.Geo == "us"}
}

// answer is an answer of the model.
type answer struct {
	messageUsage
	model  string
	shown  int64         // how many bytes of it were shown
	whole  bool          // what it has used in all was told
	cost   *float64      // by the price list; nil if that has no price for it
	priced bool          // the cost was looked up
	told   verdict.Usage // what was told of it as a turn
}

// ledger adds up what one attempt has used.
type ledger struct {
	prices       *price.Table
	answers      map[string]*answer // by the message's id: the same message comes several times
	order        []*answer
	results      []result
	hadSubagents bool // claude shows only the beginning of their messages
	// settled is what claude itself has told that its first settledAnswers have cost, and corrected by how much that is more
	// than was told of them as turns.
	settled        float64
	settledAnswers int
	corrected      float64
}

// answer takes note of what the CLI says of a message. Later ones know more.
func (l *ledger) answer(id, model string, u messageUsage) {
	if id == "" {
		return
	}
	known := l.answers[id]
	if known == nil {
		if l.answers == nil {
			l.answers = map[string]*answer{}
		}
		known = &answer{}
		l.answers[id], l.order = known, append(l.order, known)
	}
	known.messageUsage, known.model, known.priced = known.most(u), cmp.Or(model, known.model), false
}

// show takes note of a part of a message that claude shows. It tells what that has used only in the pieces, which there are
// not of what a subagent says, nor if its caller does not want any: until then the message counts as long as it looks.
func (l *ledger) show(id string, content blocks) {
	a := l.answers[id]
	if a == nil {
		return
	}
	for _, b := range content {
		a.shown += b.size()
	}
	a.priced = false
}

// end takes note that what a message has used was told to the end.
func (l *ledger) end(id string) {
	if a := l.answers[id]; a != nil {
		a.whole, a.priced = true, false
	}
}

// bytesPerToken is how many bytes of text a token stands for, about.
const bytesPerToken = 4

// turn is what a message has used that was not told before; nil if nothing.
func (l *ledger) turn(id string) *verdict.Usage {
	a := l.answers[id]
	if a == nil {
		return nil
	}
	now := a.usage()
	now.CostUSD = l.cost(a)
	told := a.told
	turn := verdict.Usage{InputTokens: now.InputTokens - told.InputTokens, OutputTokens: now.OutputTokens - told.OutputTokens,
		CacheReadInputTokens:     now.CacheReadInputTokens - told.CacheReadInputTokens,
		CacheCreationInputTokens: now.CacheCreationInputTokens - told.CacheCreationInputTokens}
	if turn.IsZero() && (now.CostUSD == nil || told.CostUSD == nil || *now.CostUSD == *told.CostUSD) {
		return nil
	}
	if now.CostUSD != nil {
		more := *now.CostUSD
		if told.CostUSD != nil {
			more -= *told.CostUSD
		}
		turn.CostUSD, turn.Estimated = &more, true
	}
	a.told = now
	return &turn
}

// settle takes note of what claude says that all answers so far have cost, and returns by how much that differs from what was
// told of them as turns; nil if it does not. In a conversation there are more answers after it.
func (l *ledger) settle(cost float64) *verdict.Usage {
	l.settled, l.settledAnswers = cost, len(l.order)
	more := cost - l.corrected
	for _, a := range l.order {
		if a.told.CostUSD != nil {
			more -= *a.told.CostUSD
		}
	}
	if math.Abs(more) < 1e-9 {
		return nil
	}
	l.corrected += more
	return &verdict.Usage{CostUSD: &more}
}

// cost is what an answer costs by the price list; nil if that has no price for it.
func (l *ledger) cost(a *answer) *float64 {
	if !a.priced {
		a.priced, a.cost = true, nil
		call := a.call()
		if !a.whole {
			call.Output = max(call.Output, a.shown/bytesPerToken)
		}
		if cost, ok := l.prices.Cost(a.model, time.Now(), call); ok {
			a.cost = &cost
		}
	}
	return a.cost
}

// estimate is what the answers cost: those of which claude has told it as it says, and the others by the price list. It is nil
// if there was none, or one of the others has no price.
func (l *ledger) estimate() *float64 {
	if len(l.order) == 0 {
		return nil
	}
	sum := l.settled
	for _, a := range l.order[l.settledAnswers:] {
		cost := l.cost(a)
		if cost == nil {
			return nil
		}
		sum += *cost
	}
	return &sum
}

// seen are the tokens of all answers.
func (l *ledger) seen() (sum tokens) {
	for _, a := range l.order {
		sum = sum.add(a.tokens)
	}
	return sum
}

// told are the tokens of all results.
func (l *ledger) told() (sum tokens) {
	for _, r := range l.results {
		var t tokens
		json.Unmarshal(r.Usage, &t)
		sum = sum.add(t)
	}
	return sum
}

// total is what the attempt has used. The results count the tokens of their turns, but not always all; the messages that
// were seen are the other account of the same. session is what the whole session has cost, for so many tokens: versions
// from 2.1.260 or so on tell only that of a session that was resumed. midway says that a message was cut off, or never
// came: of that claude tells neither all tokens nor the cost.
func (l *ledger) total(resumed, midway bool) (used verdict.Usage, session *float64, tokensOf int64) {
	sum := l.told().most(l.seen())
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
	var told tokens
	json.Unmarshal(l.results[len(l.results)-1].Usage, &told)
	return told.Input > l.seen().Input
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
		data, _ := json.Marshal(l.told())
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
