package mcp

import (
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// server is one generation of what stands behind the proxy: a process, or a connection to a server that runs elsewhere.
type server interface {
	put(parts [][]byte) // a line; borrowed parts are good until flush
	flush()
	waitForRoom()                 // blocks while too much waits to be written
	close()                       // no more lines come: it is to end by itself, and in time
	stop(ladder supervise.Ladder) // does not wait for it
	abort()                       // it has ended
	gone() bool                   // nothing of it is left
}

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

func (p *Proxy) closeInput() {
	p.watchEnd()
	if p.server != nil {
		p.server.close()
	}
}

// watchEnd stops waiting for an end that does not come.
func (p *Proxy) watchEnd() {
	p.ending.Do(func() {
		p.client.hasMoved()
		time.AfterFunc(lastResort, p.giveUp)
	})
}

// giveUp stops waiting for the end if nothing has moved for long, but not before the server's tree has ended, which can take long on a busy
// machine. A client that reads slowly gets all that there is.
func (p *Proxy) giveUp() {
	p.mu.Lock()
	busy := p.server != nil && !p.server.gone()
	p.mu.Unlock()
	left := lastResort - p.client.idle()
	if busy {
		left = max(left, time.Second)
	}
	if left > 0 {
		time.AfterFunc(left, p.giveUp)
		return
	}
	close(p.stuck)
}

// stopLadder is how a server that hangs or is not needed is ended.
var stopLadder = supervise.Ladder{{Signal: syscall.SIGTERM, Wait: time.Second}}

func (p *Proxy) stop(generation int) {
	if p.server != nil {
		p.server.stop(stopLadder)
	}
}

// stdoutGrace is how long a server may run on after it has closed its stdout.
const stdoutGrace = 250 * time.Millisecond

// serve runs one server.
func (p *Proxy) serve(generation int) {
	stderr := newTail(p.opt.Stderr)
	d := death{err: p.opt.PathError}
	if d.err == nil {
		d = p.runServer(generation, stderr)
	}
	d.tail = stderr.end()
	p.do(func() {
		if p.server != nil {
			p.server.abort()
		}
		p.server = nil
		p.core.died(generation, d)
	})
}

func (p *Proxy) runServer(generation int, stderr *tail) death {
	r, w, err := os.Pipe()
	if err != nil {
		return death{err: err}
	}
	widenPipe(w)
	lines := &wire.Splitter{Max: p.opt.maxLine(), Take: func(m *wire.Message) {
		p.mu.Lock()
		p.core.fromServer(generation, m)
		p.mu.Unlock()
	}}
	var running *supervise.Process
	begun := make(chan struct{})
	spec := supervise.Spec{Path: p.opt.Path, Args: p.opt.Args, Dir: p.opt.Dir, Env: p.opt.Env, RunID: p.opt.ID,
		Stdin: r, Stdout: &serverOut{lines, p}, Stderr: stderr, Placement: supervise.OwnSession, MaxMemory: p.opt.MaxMemory, Using: p.using,
		StdoutEnd: func() {
			<-begun
			time.AfterFunc(stdoutGrace, func() { running.Stop(stopLadder) })
		}}
	exit, err := p.opt.Supervisor.Run(spec, func(proc *supervise.Process) {
		r.Close()
		running = proc
		close(begun)
		p.do(func() {
			p.server = process{newServerIn(w), proc}
			p.status.PID, p.status.Generation = proc.PID(), generation
			p.core.started(generation, proc.PID())
			if p.core.inputEnd { // we were told to end meanwhile
				p.closeInput()
			}
			p.tell()
		})
	})
	if err != nil {
		r.Close()
		w.Close()
		return death{err: err}
	}
	lines.Flush()
	running.EndTree()
	return deathOf(exit)
}

// using puts on record how much memory the server uses. One that uses too much goes on until no call is under way.
func (p *Proxy) using(bytes int64) (spared bool) {
	p.do(func() {
		p.status.Memory = bytes
		p.tell()
		if bytes > p.opt.MaxMemory {
			p.core.overweight(p.status.Generation, messages.UsedMemory(bytes, p.opt.MaxMemory))
		}
	})
	return true
}

// serverOut takes a server's stdout.
type serverOut struct {
	lines *wire.Splitter
	proxy *Proxy
}

func (o *serverOut) Write(b []byte) (int, error) {
	n, _ := o.lines.Write(b)
	o.proxy.client.flush()
	o.proxy.mu.Lock()
	server := o.proxy.server
	o.proxy.mu.Unlock()
	if server != nil {
		server.flush()
	}
	return n, nil
}

func deathOf(exit supervise.Exit) death {
	d := death{code: exit.Code, uptime: exit.Duration, status: statusText(exit)}
	if exit.Signal != 0 {
		d.signal = exit.Signal.String()
	}
	return d
}
