package mcp

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// process is a server that we have started.
type process struct {
	*serverIn
	*supervise.Process
}

func (p process) close() {
	p.serverIn.flush()
	p.serverIn.close()
	go p.Stop(closeLadder)
}

func (p process) stop(ladder supervise.Ladder) { go p.Stop(ladder) }
func (p process) gone() bool                   { return p.TreeEnded() }

// closeLadder is how long a server may take to end after its stdin is closed, and after each signal.
var closeLadder = supervise.Ladder{{Signal: 0, Wait: 2 * time.Second}, {Signal: syscall.SIGTERM, Wait: time.Second}}

// stopLadder is how a server that hangs or is not needed is ended.
var stopLadder = supervise.Ladder{{Signal: syscall.SIGTERM, Wait: time.Second}}

// stdoutGrace is how long a server may run on after it has closed its stdout.
const stdoutGrace = 250 * time.Millisecond

// serve runs one server.
func serve(s *state, generation int) {
	stderr := newTail(s.opt.Stderr)
	d := relay.Death{Err: s.opt.PathError}
	if d.Err == nil {
		d = runServer(s, generation, stderr)
	}
	d.Tail = stderr.end()
	s.do(func() {
		if s.server != nil {
			s.server.abort()
		}
		s.server = nil
		s.relay.Died(generation, d)
	})
}

func runServer(s *state, generation int, stderr *tail) relay.Death {
	r, w, err := os.Pipe()
	if err != nil {
		return relay.Death{Err: err}
	}
	widenPipe(w)
	lines := s.lines(generation)
	var running *supervise.Process
	begun := make(chan struct{})
	spec := supervise.Spec{Path: s.opt.Path, Args: s.opt.Args, Dir: s.opt.Dir, Env: s.opt.Env, RunID: s.opt.ID,
		Stdin: r, Stdout: &serverOut{lines, s}, Stderr: stderr, Placement: supervise.OwnSession,
		Ceilings: supervise.Ceilings{MaxMemory: s.opt.MaxMemory, Using: func(bytes int64) (spared bool) { return using(s, bytes) }},
		StdoutEnd: func() {
			<-begun
			time.AfterFunc(stdoutGrace, func() { running.Stop(stopLadder) })
		}}
	exit, err := s.opt.Supervisor.Run(spec, func(proc *supervise.Process) {
		r.Close()
		running = proc
		close(begun)
		s.do(func() {
			s.begin(process{newServerIn(w), proc}, generation, proc.PID())
			s.relay.Started(generation, proc.PID())
			s.closeIfEnding()
		})
	})
	if err != nil {
		r.Close()
		w.Close()
		return relay.Death{Err: err}
	}
	lines.Flush()
	running.EndTree()
	return deathOf(exit)
}

// using puts on record how much memory the server uses. One that uses too much goes on until no call is under way.
func using(s *state, bytes int64) (spared bool) {
	s.do(func() {
		s.status.Memory = bytes
		s.tell()
		if bytes > s.opt.MaxMemory {
			s.relay.Overweight(s.status.Generation, messages.UsedMemory(bytes, s.opt.MaxMemory))
		}
	})
	return true
}

// serverOut takes a server's stdout.
type serverOut struct {
	lines *wire.Splitter
	state *state
}

func (o *serverOut) Write(b []byte) (int, error) {
	n, _ := o.lines.Write(b)
	o.state.client.flush()
	o.state.mu.Lock()
	server := o.state.server
	o.state.mu.Unlock()
	if server != nil {
		server.flush()
	}
	return n, nil
}

func deathOf(exit supervise.Exit) relay.Death {
	d := relay.Death{Code: exit.Code, Uptime: exit.Duration, Status: statusText(exit)}
	if exit.Signal != 0 {
		d.Signal = exit.Signal.String()
	}
	return d
}

// statusText says how a process ended, as Go does.
func statusText(e supervise.Exit) string {
	switch {
	case e.Signal != 0:
		return "signal: " + e.Signal.String()
	case e.Code < 0:
		return "its exit status is unknown"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
