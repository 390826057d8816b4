package batch

import (
	"encoding/json"
	"slices"
	"time"
)

// Progress is how a batch stands.
type Progress struct {
	Total   int     `json:"total"`
	Done    int     `json:"done"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Paused  int     `json:"paused"`
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
	Jobs    int     `json:"jobs"` // how many may run at a time
	Cost    float64 `json:"cost_usd"`
	// Left is how long it will still take, in seconds; 0 if that is not known.
	Left float64 `json:"left_s,omitempty"`
	// Expected is what all will have cost; 0 if that is not known.
	Expected float64   `json:"expected_usd,omitempty"`
	Until    time.Time `json:"until,omitzero"` // when the limit lifts that all wait for
	Tasks    []Now     `json:"tasks,omitempty"`
}

// Now is what a task that runs does.
type Now struct {
	Task    string    `json:"task"`
	Line    int       `json:"line,omitempty"` // of a task that its file gives no id
	Since   time.Time `json:"since"`
	Doing   string    `json:"doing,omitempty"`
	Until   time.Time `json:"until,omitzero"` // it waits for a limit
	Session string    `json:"session_id,omitempty"`
}

// shownTasks is how many of those that run are shown.
const shownTasks = 64

// Progress says how the batch stands.
func (b *Batch) Progress() Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	p := Progress{Total: b.Plan.Len(), Done: b.counts[Done], Failed: b.counts[Failed], Skipped: b.counts[Skipped], Paused: b.counts[Paused],
		Running: b.counts[Running], Waiting: b.counts[Waiting], Jobs: b.level.Now(), Cost: b.spent + b.running.cost()}
	if b.held.until.After(now) {
		p.Until = b.held.until
	}
	for _, job := range b.running {
		if job.waiting.After(now) && p.Running == 0 && (p.Until.IsZero() || job.waiting.Before(p.Until)) {
			p.Until = job.waiting
		}
		if len(p.Tasks) < shownTasks && *b.Plan.state(uint32(job.Index)) != Waiting {
			p.Tasks = append(p.Tasks, Now{Task: job.Task.ID, Line: job.OwnLine(), Since: job.started, Doing: job.doing, Until: job.waiting, Session: job.Session})
		}
	}
	slices.SortFunc(p.Tasks, func(a, b Now) int { return a.Since.Compare(b.Since) })
	left := p.Waiting + p.Running + p.Paused
	took := b.took(now)
	if b.ended > 0 && left > 0 && took > time.Second {
		p.Left = (took.Seconds() / float64(b.ended)) * float64(left)
	}
	if over := p.Done + p.Failed; over > 0 && b.spent > 0 {
		p.Expected = b.spent / float64(over) * float64(over+left)
	}
	return p
}

// Note puts into the journal how the batch stands, for those who look at it from elsewhere.
func (b *Batch) Note(p Progress) {
	if data, err := json.Marshal(p); err == nil {
		b.Ledger.note(note{Progress: data})
	}
}
