package relay

import (
	"time"

	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// life is what is known of the server: which one runs, or when the next is started, and how those before it ended.
type life struct {
	phase      phase
	generation int
	pid        int
	worked     bool // it has answered a call
	deaths     int  // in a row, of servers that neither worked nor ran for long
	ending     ending
	restartAt  time.Time // zero: at the next request
	suspectAt  time.Time // since when the server has not given a sign of life that it was asked for
	last       *Death    // of a server that is not to be started again
}

type phase byte

const (
	down     phase = iota // no server
	starting              // being started, or given the session of its predecessor
	ready
	stopping // by us
)

// ending is why we end the server, if we do.
type ending struct {
	why   string
	told  bool // it is on record
	heavy bool // it used too much memory
}

const (
	stable     = 10 * time.Second // uptime after which a server counts as one that runs
	startTries = 3                // failed starts in a row until waiting calls fail, and until a server is started only for a new call
)

// begin starts a generation.
func (l *life) begin() {
	l.generation++
	l.phase, l.suspectAt = starting, time.Time{}
	l.worked, l.ending = false, ending{}
}

// takes says whether the server is sent calls: it runs, and has given the signs of life that it was asked for.
func (l *life) takes() bool { return l.phase == ready && l.suspectAt.IsZero() }

// isAlive notes a sign of life, and reports whether one was waited for.
func (l *life) isAlive() bool {
	waited := !l.suspectAt.IsZero()
	l.suspectAt = time.Time{}
	return waited
}

// end notes why we end the server. False means that there is none to be ended.
func (l *life) end(e ending) bool {
	if l.phase == down || l.phase == stopping {
		return false
	}
	l.phase, l.ending, l.suspectAt = stopping, e, time.Time{}
	return true
}

// die notes the death of the server and says how it came about, if we have ended it.
func (l *life) die(d Death) (e ending, wasReady bool) {
	e, wasReady = l.ending, l.phase == ready || l.phase == stopping
	l.phase, l.pid, l.ending, l.suspectAt = down, 0, ending{}, time.Time{}
	if l.worked || d.Uptime >= stable && wasReady {
		l.deaths = 0
	}
	l.deaths++
	return e, wasReady
}

// eventOf is what the death of a server is on record as.
func eventOf(d Death, e ending) (event string, class verdict.Class) {
	switch {
	case e.heavy:
		return "memory", verdict.Resources
	case d.Err != nil:
		return "start_failed", verdict.Crash
	case d.Forgotten:
		return "session_lost", verdict.Crash // which is no failure: most servers drop sessions that are idle
	case d.why != "":
		return "hung", verdict.Crash
	}
	return "crash", verdict.Crash
}

// restartIn is the wait before the next server is started, which is longer the more often one has failed.
func (l *life) restartIn(random float64) time.Duration {
	policy := backoff()
	return policy.Jitter.Apply(policy.Backoff(l.deaths-1), random)
}

// backoff is the wait before a server is started again.
func backoff() retry.Policy {
	p, _ := retry.Preset("mcp")
	return p
}
