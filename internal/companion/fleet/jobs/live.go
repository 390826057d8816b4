package jobs

import (
	"cmp"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/supervise"
)

// profileOf is the name of the CLI that a job runs; empty if Belay does not know it.
func profileOf(job *fleetpipe.Job) string {
	name := ""
	if d := profile.OfCommand(job.Args[0]); d != nil {
		name = d.Name
	}
	return cmp.Or(job.Profile, name)
}

// observe notes what the jobs of this machine do, what they have cost and in which session they are, from their run records.
func (w *Worker) observe() {
	records, err := w.Runs.List()
	if err != nil {
		return // the next renewal tries again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	byRun := map[string]*attempt{}
	for _, a := range w.held {
		byRun[a.runID] = a
	}
	for i := range records {
		r := &records[i]
		a := byRun[r.Parent]
		if a == nil || !r.IsRun() {
			continue
		}
		if a.doing = r.Activity; r.State == supervise.StateWaiting {
			a.doing = r.Reason
		}
		if r.CostUSD != nil {
			a.cost = *r.CostUSD
		}
		if r.Session != "" && r.Profile == a.profile { // that of a fallback is not continued
			a.inSession = r.Session
		}
	}
}
