package codex

import (
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// maxAgentLine is the longest line that is looked at for sub-agents: the end of a turn has the answer in it.
const maxAgentLine = 8 << 20

// subAgents is for [agent.Follower]: it counts those that the thread has started, those that they have, and so on. Codex has two kinds of them, and
// chooses by the model; only the older kind shows in its events too, and neither shows what sub-agents do, nor that they start others. Each is a thread
// with a record of its own.
func (f *follower) subAgents() (working int) {
	started, from := []string{f.Session}, f.from
	for i := 0; ; i++ {
		for _, id := range started {
			if agent.IsUUID(id) && !slices.ContainsFunc(f.threads, func(r *rolloutReader) bool { return r.thread == id }) {
				r := newRolloutReader("", f.start, from, nil)
				r.thread, r.longest, r.sum.working = id, maxAgentLine, true // its record is about to come
				f.threads = append(f.threads, r)
			}
		}
		if i == len(f.threads) || f.home == "" {
			f.Active = f.Active || i > 1 // to start one may be all that it has done
			return working
		}
		r := f.threads[i]
		if r.path == "" {
			r.path = findRollout(f.home, r.thread)
		}
		if r.read(); i > 0 && r.sum.working {
			working++
		}
		started, from, r.sum.started = r.sum.started, 0, nil
	}
}
