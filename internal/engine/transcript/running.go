package transcript

import (
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/supervise"
)

// running is the process of an attempt and how the attempt stands, for all goroutines that have to do with it: of the output, of what its caller says,
// and of the timers.
type running struct {
	bounds bounds
	stall  func(tools bool) time.Duration // how long the process may show no life
	care   supervise.Ladder               // is how it is stopped once it works

	mu       sync.Mutex
	process  call.Process // nil before there is one
	progress progress
	stopping bool       // it is being stopped, or will be as soon as the process is known
	stopped  *EarlyStop // why, where that is not that the output is not read any more
}

// change makes a transition of the progress, and tells the process what follows from it.
func (r *running) change(transition func(progress) (progress, actions)) actions {
	r.mu.Lock()
	after, a := transition(r.progress)
	r.progress = after
	process := r.process
	r.mu.Unlock()
	if process == nil {
		return a // start tells it
	}
	if a.clock {
		process.SetStall(r.stallTimeout(after))
	}
	if a.delivered {
		process.Delivered()
	}
	if a.working {
		process.Working()
	}
	return a
}

// now is how the attempt stands.
func (r *running) now() progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress
}

// start hands over the process, of which there may have been events already.
func (r *running) start(p call.Process) {
	r.mu.Lock()
	r.process = p
	now, stopping := r.progress, r.stopping
	r.mu.Unlock()
	if now.tools || now.waiting {
		p.SetStall(r.stallTimeout(now))
	}
	if now.delivered {
		p.Delivered()
	}
	if stopping {
		p.Stop(r.ladder(now))
	}
}

// Asked says that the caller has said something in a conversation.
func (r *running) Asked() { r.change(progress.asked) }

// beat is a sign of life that does not show on the streams.
func (r *running) beat() {
	r.mu.Lock()
	process, now := r.process, r.progress
	r.mu.Unlock()
	if process != nil {
		process.SetStall(r.stallTimeout(now))
	}
}

// stop ends the attempt before its time, if that has not been done yet. why is nil where its output is not read any more.
func (r *running) stop(why *EarlyStop) {
	r.mu.Lock()
	process, now, first := r.process, r.progress, r.stopped == nil
	if first && why != nil {
		r.stopped = why
	}
	r.stopping = true
	r.mu.Unlock()
	if process != nil && (first || why == nil) {
		// Not here: the end of the output is waited for, and that waits for us.
		go process.Stop(r.ladder(now))
	}
}

// stallTimeout is how long the process may show no life: for ever while it waits for its caller.
func (r *running) stallTimeout(p progress) time.Duration {
	if p.waiting {
		return supervise.Unlimited
	}
	return r.stall(p.tools)
}

// ladder is how the attempt is stopped before its time: with the care that tools under way need, or, if the model has not
// even answered, quickly, because the next request is due.
func (r *running) ladder(p progress) supervise.Ladder {
	if p.answered {
		return r.care
	}
	return supervise.Ladder{{Signal: syscall.SIGTERM, Wait: 2 * time.Second}}
}

func (r *running) Busy() bool { return r.now().tools }

func (r *running) HasDelivered() bool {
	p := r.now()
	return p.delivered && !p.due
}

func (r *running) StoppedEarly() *EarlyStop {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

func (r *running) ToldOfTurns() bool { return r.now().turn.told() }
