package supervise

import (
	"fmt"
	"runtime"
	"time"
)

// Run starts the command and waits for its end, on the calling goroutine. started, if not nil, is called once the
// process runs, with the handle that stops and signals it. The error is nil if and only if a process has
// run; it says what the system had against it in terms of [errors.Is].
func (s *Supervisor) Run(spec Spec, started func(*Process)) (Exit, error) {
	if spec.Ladder == nil {
		spec.Ladder = Terminate
	}
	p := &Process{spec: spec, watch: watch{clockChanged: make(chan struct{}, 1)}}
	p.init(&spec, s.owner)
	if err := p.streams.Open(spec.streams(), &p.life); err != nil {
		return Exit{}, fmt.Errorf("cannot prepare the streams of %s: %w", spec.Path, err)
	}
	// The kernel sends the parent-death signal when the thread that started the child ends, not when the process
	// does. So this thread is ours until the child is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.launch()
	p.streams.CloseChildSide()
	if err != nil {
		p.streams.Close()
		return Exit{}, err
	}
	if p.pidfd < 0 {
		p.streams.Start()
	}
	if spec.Timeout > 0 || spec.Stall > 0 || spec.Linger > 0 || spec.Ceilings.Any() {
		p.watch.once.Do(p.startWatch)
	}
	if started != nil {
		started(p)
	}
	if p.pidfd >= 0 {
		p.streams.ReadUntilEnd(p.pidfd)
	}
	p.await()
	return p.conclude(), nil
}

// conclude sees to the tree and the output once the root has ended.
func (p *Process) conclude() Exit {
	p.watch.once.Do(func() {}) // the watch must not be started any more
	if p.watch.done != nil {
		<-p.watch.done
	}
	exit := Exit{Reason: p.watch.reason, Started: p.start, Duration: time.Since(p.start), Excess: p.watch.excess, TreePeak: p.watch.gauge.Peak}
	stopped := p.watch.reason != Exited
	if stopped {
		p.streams.Start() // what is ended now may have something to say
		exit.Killed, exit.Left = p.endTree(p.watch.forced, p.outgrown)
	}
	p.treeOver.Store(true)
	p.reap()
	exit.Code, exit.Signal, exit.CPU, exit.Peak = p.status.code(), p.status.signal(), p.cpu, p.maxRSS
	p.giveTerminalBack(stopped || exit.Signal != 0)
	held := p.streams.Drain()
	if !stopped && !p.alone {
		exit.Left = p.survivors(held)
	}
	p.keep(stopped)
	p.over.Store(true)
	return exit
}
