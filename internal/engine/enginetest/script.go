// Package enginetest scripts the processes of an engine, so that whole invocations, their waits included, run in fake time
// and without any CLI: a [Script] is an [engine.Starter], and [Agent] is the profile of a CLI that prints what the script
// says.
package enginetest

import (
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/supervise"
)

// Script plays attempts in the place of processes, one after the other; the last one is played for ever.
type Script struct {
	Attempts []Attempt
	// Ask answers commands that are run on the side, by their arguments, and says which those are; nil means that there are
	// none.
	Ask func(args []string) (stdout string, code int, ok bool)

	mu      sync.Mutex
	starts  []Start
	signals []syscall.Signal
}

// Start is what an attempt was started with.
type Start struct {
	At   time.Time
	Spec supervise.Spec
}

// Attempt is one start of a scripted command.
type Attempt struct {
	// Err, if not nil, says that it cannot be started.
	Err error
	// Before is printed before the engine knows of the process.
	Before []Step
	Steps  []Step
	// Code and Signal are how it ends by itself.
	Code   int
	Signal syscall.Signal
	// Left are processes that it leaves running.
	Left []supervise.Proc
	// Deaf says that only a kill ends it, or the end of the ladder.
	Deaf bool
}

// Step is one thing that a scripted command does.
type Step func(*child)

// Print prints on stdout, Complain on stderr.
func Print(text string) Step    { return func(c *child) { c.write(c.spec.Stdout, text) } }
func Complain(text string) Step { return func(c *child) { c.write(c.spec.Stderr, text) } }

// PrintFunc prints on stdout what it says at that moment.
func PrintFunc(text func() string) Step {
	return func(c *child) { c.write(c.spec.Stdout, text()) }
}

// Forever does a thing again and again, with a pause before each time, until it is stopped.
func Forever(pause time.Duration, step Step) Step {
	return func(c *child) {
		for !c.pipe {
			select {
			case <-time.After(pause):
				step(c)
			case <-c.quit:
				return
			}
		}
	}
}

// Unmoved does a thing and goes on although its output is not taken.
func Unmoved(step Step) Step {
	return func(c *child) {
		step(c)
		c.pipe = false
	}
}

// Wait does nothing for a time.
func Wait(d time.Duration) Step {
	return func(c *child) {
		select {
		case <-time.After(d):
		case <-c.quit:
		}
	}
}

// Hang does nothing until it is stopped.
func Hang() Step { return func(c *child) { <-c.quit } }

// Read reads stdin to its end, and prints it on stdout if echo says so.
func Read(echo bool) Step {
	return func(c *child) {
		if c.spec.Stdin == nil {
			return
		}
		data, _ := io.ReadAll(c.spec.Stdin)
		if echo {
			c.write(c.spec.Stdout, string(data))
		}
	}
}

// Exceed is ended for a ceiling.
func Exceed(of supervise.Excess) Step {
	return func(c *child) {
		c.excess <- &of
		<-c.quit
	}
}

// Do calls a function in the course of the attempt.
func Do(do func()) Step { return func(*child) { do() } }

// Look implements [engine.Starter].
func (s *Script) Look(name, dir string) (string, error) { return name, nil }

// Starts are the starts so far.
func (s *Script) Starts() []Start {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Start(nil), s.starts...)
}

// Signals are what the processes were sent so far.
func (s *Script) Signals() []syscall.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]syscall.Signal(nil), s.signals...)
}

// Gaps are the times between the starts.
func (s *Script) Gaps() (list []time.Duration) {
	starts := s.Starts()
	for i := 1; i < len(starts); i++ {
		list = append(list, starts[i].At.Sub(starts[i-1].At))
	}
	return list
}

// Run implements [engine.Starter].
func (s *Script) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	a := s.next(spec)
	if a.Err != nil {
		return supervise.Exit{}, a.Err
	}
	c := &child{script: s, spec: spec, deaf: a.Deaf, start: time.Now(), quit: make(chan struct{}), stops: make(chan supervise.Ladder, 8),
		signals: make(chan syscall.Signal, 8), clockChanged: make(chan struct{}, 1), excess: make(chan *supervise.Excess, 1)}
	c.life, c.stall = c.start, spec.Stall
	c.play(a.Before)
	if started != nil {
		started(c)
	}
	played := make(chan struct{})
	go func() {
		defer close(played)
		c.play(a.Steps)
	}()
	reason := c.watch(played)
	exit := supervise.Exit{Code: a.Code, Signal: a.Signal, Reason: reason, Started: c.start, Duration: time.Since(c.start), Left: a.Left}
	if reason == supervise.Exceeded {
		exit.Excess = c.exceeded
	}
	if c.ended != 0 {
		exit.Signal = c.ended
	}
	if reason != supervise.Exited {
		exit.Signal, exit.Left = syscall.SIGTERM, nil
	}
	if exit.Signal != 0 {
		exit.Code = -1
	}
	return exit, nil
}

// next is the attempt that is played now.
func (s *Script) next(spec supervise.Spec) Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Ask != nil {
		if out, code, ok := s.Ask(spec.Args[1:]); ok {
			return Attempt{Steps: []Step{Print(out)}, Code: code}
		}
	}
	s.starts = append(s.starts, Start{At: time.Now(), Spec: spec})
	return s.Attempts[min(len(s.starts), len(s.Attempts))-1]
}

// child is a scripted process.
type child struct {
	script *Script
	spec   supervise.Spec
	deaf   bool
	start  time.Time

	quit         chan struct{} // it is told to end
	stops        chan supervise.Ladder
	signals      chan syscall.Signal
	clockChanged chan struct{} // a clock has changed
	excess       chan *supervise.Excess
	ended        syscall.Signal // what has ended it, once it has been played: a signal that it was sent, or a closed pipe
	pipe         bool           // its output was not taken

	mu        sync.Mutex
	life      time.Time
	stall     time.Duration
	delivered time.Time
	killed    int
	exceeded  *supervise.Excess
}

func (c *child) play(steps []Step) {
	for _, step := range steps {
		select {
		case <-c.quit:
			return
		default:
		}
		if step(c); c.pipe {
			return
		}
	}
}

func (c *child) write(w io.Writer, text string) {
	if w == nil {
		return
	}
	c.mu.Lock()
	c.life = time.Now()
	c.mu.Unlock()
	if _, err := io.WriteString(w, text); err != nil {
		c.pipe = true
	}
}

// watch waits for the end of the script, and stops it when a limit has passed or it is told to.
func (c *child) watch(played <-chan struct{}) supervise.Reason {
	for {
		timer, reason := c.nextLimit()
		select {
		case <-played:
			if c.pipe {
				c.ended = syscall.SIGPIPE
			}
			return supervise.Exited
		case c.ended = <-c.signals:
			close(c.quit)
			<-played
			return supervise.Exited
		case <-c.clockChanged:
			continue
		case ladder := <-c.stops:
			c.end(ladder, played)
			return supervise.Stopped
		case c.exceeded = <-c.excess:
			c.end(c.spec.Ladder, played)
			return supervise.Exceeded
		case <-timer:
			if c.passed(reason) {
				ladder := c.spec.Ladder
				if ladder == nil {
					ladder = supervise.Terminate
				}
				c.end(ladder, played)
				return reason
			}
		}
	}
}

// end ends the script: at once, or, if it is deaf, when the ladder has been climbed or it is killed.
func (c *child) end(ladder supervise.Ladder, played <-chan struct{}) {
	if c.deaf {
		var patience time.Duration
		for _, rung := range ladder {
			patience += rung.Wait
		}
		timer := time.NewTimer(patience)
		for waiting := true; waiting; {
			select {
			case <-played:
				waiting = false
			case <-timer.C:
				waiting = false
			case again := <-c.stops:
				waiting = len(again) > 0 // an empty ladder kills
			}
		}
	}
	close(c.quit)
	<-played
}

// nextLimit is when the next limit passes, and which.
func (c *child) nextLimit() (<-chan time.Time, supervise.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var at time.Time
	reason := supervise.Exited
	consider := func(t time.Time, r supervise.Reason) {
		if at.IsZero() || t.Before(at) {
			at, reason = t, r
		}
	}
	if c.spec.Timeout > 0 {
		consider(c.start.Add(c.spec.Timeout), supervise.Deadline)
	}
	if c.spec.Stall > 0 && c.stall > 0 {
		consider(c.life.Add(c.stall), supervise.Stalled)
	}
	if c.spec.Linger > 0 && !c.delivered.IsZero() {
		consider(c.delivered.Add(c.spec.Linger), supervise.Lingered)
	}
	if at.IsZero() {
		return nil, reason
	}
	return time.After(time.Until(at)), reason
}

// passed reports whether a limit has really passed: there may have been a sign of life since.
func (c *child) passed(reason supervise.Reason) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return reason != supervise.Stalled || time.Since(c.life) >= c.stall
}

// The methods of [engine.Process].

func (c *child) PID() int { return 4711 }

func (c *child) Signal(sig syscall.Signal) {
	c.script.mu.Lock()
	c.script.signals = append(c.script.signals, sig)
	c.script.mu.Unlock()
	if sig != syscall.SIGKILL && c.deaf {
		return
	}
	select {
	case c.signals <- sig:
	default: // one is enough
	}
}

func (c *child) Stop(ladder supervise.Ladder) {
	select {
	case c.stops <- ladder:
	default: // it is being stopped
	}
}

func (c *child) Kill() { c.Stop(supervise.Ladder{}) }

func (c *child) EndTree() (int, []supervise.Proc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed++
	return c.killed, nil
}

func (c *child) SetStall(stall time.Duration) {
	c.mu.Lock()
	c.life, c.stall = time.Now(), stall
	c.mu.Unlock()
	c.nudge()
}

func (c *child) Delivered() {
	c.mu.Lock()
	c.delivered = time.Now()
	c.mu.Unlock()
	c.nudge()
}

func (c *child) Working() {
	c.mu.Lock()
	c.delivered = time.Time{}
	c.mu.Unlock()
	c.nudge()
}

func (c *child) nudge() {
	select {
	case c.clockChanged <- struct{}{}:
	default:
	}
}
