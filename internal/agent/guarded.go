package agent

import (
	"time"

	"github.com/belay-run/belay/verdict"
)

// Guarded returns the profile of a command of c that is treated as any other, because it wants a person or is not c's own:
// p says what its outcome means, and c whether it may have changed something.
func Guarded(p Profile, c Caller) Caller { return guarded{Caller: c, judge: p} }

type guarded struct {
	Caller
	judge Profile
}

func (g guarded) Name() string   { return g.judge.Name() }
func (g guarded) Headless() bool { return g.judge.Headless() }
func (g guarded) Reads() bool    { return g.judge.Reads() }

func (g guarded) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	v := g.judge.Judge(o, now)
	v.Sent = g.Caller.Judge(o, now).Sent
	return v
}
