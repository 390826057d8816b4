package codex

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/verdict"
)

// tokens are a count in codex's words. Its input includes what was cached.
type tokens struct {
	Input       int64 `json:"input_tokens"`
	CachedInput int64 `json:"cached_input_tokens"`
	CacheWrite  int64 `json:"cache_write_input_tokens"`
	Output      int64 `json:"output_tokens"`
}

// call is a call to a model that has used them.
func (t tokens) call(model string) agent.ModelCall {
	read := min(max(t.CachedInput, 0), t.Input)
	write := min(max(t.CacheWrite, 0), t.Input-read)
	return agent.ModelCall{
		Model: model,
		Used:  verdict.Usage{InputTokens: t.Input, OutputTokens: t.Output, CacheReadInputTokens: t.CachedInput, CacheCreationInputTokens: t.CacheWrite},
		Price: price.Call{Input: t.Input - read - write, Output: t.Output, CacheRead: read, CacheWrite: write},
	}
}

// Account implements agent.Reader. A review cannot be resumed, and so is begun anew.
//
// turn.completed tells the sum over the thread, and a turn that failed or was killed tells nothing. The rollout, which
// codex writes for itself, has every request that was answered; where there is none, a thread that began with this attempt
// has used what its sum says. All other use is unknown: that of a request which was under way, or of a thread without
// a rollout (--ephemeral).
func (f *follower) Account() agent.Account {
	a := f.Attempt.Account()
	a.Active, a.Unseen = f.Active && !f.reviews, f.unseen
	r, ok := f.rollout()
	if ok {
		a.Quota = f.limits
		a.Usage, a.Version, a.Model = r.calls.Usage(), cmp.Or(r.version, a.Version), r.model
		a.Requests, a.Status, a.Estimate = len(r.calls), statusOf(r.failure), r.calls.Cost(f.prices)
	}
	a.Requests += f.Retries + f.unseen
	if f.failure != "" {
		a.Requests++
	}
	var sum tokens
	told := ok && (!f.reviews || len(r.calls) > 0) // of a review codex itself tells nothing
	if a.Usage.IsZero() && !f.resumes && !f.reviews && json.Unmarshal(f.usage, &sum) == nil {
		call := sum.call(f.model())
		call.Price.Sum = true
		a.Usage, told, a.Estimate = call.Used, true, agent.ModelCalls{call}.Cost(f.prices)
	}
	a.Usage.Unknown = f.Over && (f.Active && !told || f.asking && f.Tools.Running() == 0)
	return a
}

// rollout is what the record of the attempt says, which is whole; false if there is none. While the attempt lasts it is not
// asked: that of a thread that is resumed is there from the beginning, with nothing of the attempt in it.
func (f *follower) rollout() (rollout, bool) {
	if f.record == nil && f.Over && f.readRecords() {
		all := f.records[0].rollout()
		for _, of := range f.records[1:] {
			r := of.rollout()
			all.calls = append(all.calls, r.calls...)
			all.model = cmp.Or(all.model, r.model)
		}
		f.record = &all
	}
	if f.record == nil {
		return rollout{}, false
	}
	return *f.record, true
}

// readRecords reads on in the records of the attempt; false if there are none.
func (f *follower) readRecords() bool {
	if f.home == "" || !agent.IsUUID(f.Session) {
		return false
	}
	if len(f.records) == 0 {
		path := findRollout(f.home, f.Session)
		if path == "" {
			return false
		}
		f.records = []*rolloutReader{newRolloutReader(path, f.start, f.from, f.model)}
	}
	for i := 0; i < len(f.records); i++ { // the first may name others
		r := f.records[i]
		if err := r.read(); err != nil && i == 0 {
			return false
		}
		f.limits, r.sum.limits = quota.Merge(f.limits, r.sum.limits), nil
		f.findReviewers()
	}
	return true
}

// lookInterval is how often a record is looked for that is not there: it comes a moment after the thread's name, or never.
const lookInterval = 200 * time.Millisecond

// turn is what the model calls have used that codex has put on record since it was asked last; nil if there was none. Events
// tell of them only at the end, and only the sum.
func (f *follower) turn(now time.Time) *verdict.Usage {
	if len(f.records) == 0 {
		if now.Sub(f.looked) < lookInterval {
			return nil
		}
		f.looked = now
	}
	if !f.readRecords() {
		return nil
	}
	var calls agent.ModelCalls
	for _, r := range f.records {
		calls = append(calls, r.untold()...)
	}
	return calls.Turn(f.prices)
}
