package codex

import (
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
)

// Recall says what codex's own record of a session tells of an attempt that began then and was not followed to its
// end, and when it last wrote something. ok is false if there is no such record. home is where codex keeps it. What it has
// cost codex does not know.
func Recall(home, session string, since time.Time, prices *price.Table) (a agent.Account, last time.Time, ok bool) {
	if !agent.IsUUID(session) {
		return a, last, false
	}
	path := findRollout(home, session)
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return a, last, false
	}
	r, err := readRollout(path, since, 0)
	if err != nil {
		return a, last, false
	}
	a = agent.Account{Session: session, Active: len(r.calls) > 0, Usage: r.calls.Usage(), Estimate: r.calls.Cost(prices),
		Model: r.model, Version: r.version, Requests: len(r.calls)}
	a.Usage.Unknown = len(r.calls) == 0
	return a, info.ModTime(), true
}
