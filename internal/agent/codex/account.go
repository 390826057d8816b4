package codex

import (
	"cmp"
	"encoding/json"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// tokens are a count in codex's words. Its input includes what was cached.
type tokens struct {
	Input       int64 `json:"input_tokens"`
	CachedInput int64 `json:"cached_input_tokens"`
	CacheWrite  int64 `json:"cache_write_input_tokens"`
	Output      int64 `json:"output_tokens"`
}

func (t tokens) usage() verdict.Usage {
	return verdict.Usage{InputTokens: t.Input, OutputTokens: t.Output, CacheReadInputTokens: t.CachedInput, CacheCreationInputTokens: t.CacheWrite}
}

// Account implements agent.Follower. A review cannot be resumed, and so is begun anew.
//
// turn.completed tells the sum over the thread, and a turn that failed or was killed tells nothing. The rollout, which
// codex writes for itself, has every request that was answered; where there is none, a thread that began with this attempt
// has used what its sum says. All other use is unknown: that of a request which was under way, or of a thread without
// a rollout (--ephemeral).
func (f *follower) Account() agent.Account {
	a := agent.Account{Session: f.session, Active: f.active && !f.reviews, Version: f.version, Unseen: f.unseen, Misunderstood: f.misread, Tools: f.tools.Use()}
	r, ok := f.rollout()
	if ok {
		a.Usage, a.Version, a.Model = r.used.usage(), cmp.Or(r.version, a.Version), r.model
		a.Requests, a.Status = r.answers, statusOf(r.failure)
	}
	a.Requests += f.retries + f.unseen
	if f.failure != "" {
		a.Requests++
	}
	var sum tokens
	told := ok && (!f.reviews || r.answers > 0) // of a review codex itself tells nothing
	if a.Usage.IsZero() && !f.resumes && !f.reviews && json.Unmarshal(f.usage, &sum) == nil {
		a.Usage, told = sum.usage(), true
	}
	a.Usage.Unknown = f.over && (f.active && !told || f.asking && f.tools.Running() == 0)
	return a
}

// rollout reads the record of the attempt, once; false if there is none. While the attempt lasts it is not read: that of a
// thread that is resumed is there from the beginning, with nothing of the attempt in it.
func (f *follower) rollout() (rollout, bool) {
	if f.record == nil && f.over && f.home != "" && isUUID(f.session) {
		if path := findRollout(f.home, f.session); path != "" {
			if r, err := readRollout(path, f.start, f.from); err == nil {
				f.record = &r
				if f.reviews {
					f.addReviewers(path)
				}
			}
		}
	}
	if f.record == nil {
		return rollout{}, false
	}
	return *f.record, true
}
