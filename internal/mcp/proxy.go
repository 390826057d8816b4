package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// Proxy stands between a client and a server. Make one with [New].
type Proxy struct {
	opt Options

	mu     sync.Mutex // the core's
	core   *core
	timer  *time.Timer
	server server // nil: none
	status Status

	client   *clientOut
	over     chan struct{} // the core has nothing left to do
	ended    bool
	stuck    chan struct{} // the end takes too long
	ending   sync.Once
	log      chan *incident
	unlogged int             // incidents that came faster than they were logged
	work     sync.WaitGroup  // the servers
	remote   context.Context // ends with Run: what is left of connections ends with it
}

// New makes a proxy. Nothing is started before [Proxy.Run].
func New(opt Options) *Proxy {
	if opt.Supervisor == nil {
		opt.Supervisor = &supervise.Supervisor{}
	}
	if opt.Name == "" {
		opt.Name = opt.command()
	}
	p := &Proxy{opt: opt, over: make(chan struct{}), stuck: make(chan struct{}), log: make(chan *incident, maxUnlogged)}
	p.core = newCore(&p.opt, p)
	p.client = newClientOut(opt.Stdout, p.leave)
	p.timer = time.AfterFunc(time.Hour, p.tick)
	p.timer.Stop()
	return p
}

// Run carries messages until the client has left, by closing its side or by an end of ctx, and the server has ended with
// its whole tree. Nothing that the server does makes it return.
func (p *Proxy) Run(ctx context.Context) {
	log, logged := p.log, make(chan struct{})
	go func() {
		defer close(logged)
		for r := range log {
			p.write(r)
		}
	}()
	var forsake context.CancelFunc
	p.remote, forsake = context.WithCancel(context.WithoutCancel(ctx))
	defer forsake()
	widenPipe(p.opt.Stdin)
	widenPipe(p.opt.Stdout)
	stop := make(chan struct{})
	go p.client.run(stop)
	p.do(p.core.start)
	go p.readClient()
	p.await(ctx)
	p.timer.Stop()
	close(stop)
	p.mu.Lock()
	close(log)
	p.log = nil
	p.mu.Unlock()
	<-logged
}

// await waits until all is over and the client has read the answers. A client that does not read does not hold it up: the server's tree has
// ended by then, and the lines that are left cannot be written.
func (p *Proxy) await(ctx context.Context) {
	delivered := make(chan struct{})
	go func() {
		<-p.over
		p.work.Wait()
		p.client.flush()
		close(delivered)
	}()
	select {
	case <-delivered:
		return
	case <-p.stuck:
		return
	case <-ctx.Done():
	}
	p.terminate(supervise.Forward(syscall.SIGTERM))
	select {
	case <-delivered:
	case <-p.stuck:
	}
}

// lastResort is for how long nothing may move at the end: longer than a server takes to end, and then the tree is given the time that it needs.
const lastResort = 15 * time.Second

// do runs a step of the core that works on no borrowed bytes, and writes what has been put for the server.
func (p *Proxy) do(step func()) {
	p.mu.Lock()
	step()
	server := p.server
	p.mu.Unlock()
	if server != nil {
		server.flush()
	}
	p.client.wakeWriter()
}

func (p *Proxy) tick() { p.do(p.core.tick) }

// readClient carries the client's lines.
func (p *Proxy) readClient() {
	lines := wire.Splitter{Max: p.opt.maxLine(), Take: func(m *wire.Message) {
		p.mu.Lock()
		p.core.fromClient(m)
		p.mu.Unlock()
	}}
	buf := make([]byte, 256<<10)
	for {
		n, err := p.opt.Stdin.Read(buf)
		lines.Write(buf[:n])
		if err != nil {
			lines.Flush()
		}
		var server server
		p.do(func() { server = p.server }) // which writes what has been put for the server, before the borrowed bytes in it are reused
		if server != nil {
			server.waitForRoom()
		}
		if err != nil && !errors.Is(err, io.ErrNoProgress) {
			p.leave()
			return
		}
	}
}

func (p *Proxy) leave() { p.do(p.core.clientGone) }

// terminate ends the proxy and its server without waiting for calls under way.
func (p *Proxy) terminate(ladder supervise.Ladder) {
	p.do(func() {
		p.core.closing, p.core.inputEnd = true, true
		if p.core.phase == down {
			p.core.leave()
			return
		}
		p.closeInput()
		if p.server != nil {
			p.server.stop(ladder)
		}
	})
}

// Kill ends the server's tree without asking it.
func (p *Proxy) Kill() { p.terminate(supervise.Ladder{}) }

// What the core wants; see outlets.

func (p *Proxy) toClient(parts ...[]byte) { p.client.put(parts) }

func (p *Proxy) toServer(parts ...[]byte) {
	if p.server != nil {
		p.server.put(parts)
	}
}

func (p *Proxy) divert(m *wire.Message) {
	if p.opt.Stderr != nil {
		p.opt.Stderr.Write(append(m.Bytes(), '\n'))
	}
}

func (p *Proxy) wake(at time.Time) { p.timer.Reset(time.Until(at)) }

// maxUnlogged is how many incidents may wait to be logged. A line takes some microseconds.
const maxUnlogged = 4096

func (p *Proxy) record(r incident) {
	if r.serverFailed() {
		p.status.LastFailure, p.status.FailedAt = r.text, time.Now()
		if r.death != nil {
			p.status.LastFailure = messages.OnServer(r.death.text())
		}
		p.tell()
	}
	if p.log != nil {
		select {
		case p.log <- &r:
		default: // the log is slow; the work is not
			p.unlogged++
		}
	}
}

// write logs an incident, and how many could not be.
func (p *Proxy) write(r *incident) {
	if p.opt.Log == nil {
		return
	}
	p.opt.Log(p.opt.entry(*r, time.Now()))
	p.mu.Lock()
	n := p.unlogged
	p.unlogged = 0
	p.mu.Unlock()
	if n > 0 {
		p.opt.Log(p.opt.entry(incident{event: "unrecorded", text: fmt.Sprintf("%d incidents were not logged because they came too fast", n), count: n}, time.Now()))
	}
}

func (p *Proxy) tell() {
	if p.opt.Status != nil {
		p.opt.Status(p.status)
	}
}

func (p *Proxy) done() {
	p.watchEnd()
	if !p.ended {
		p.ended = true
		if p.core.pass != nil {
			p.core.pass.Released()
		}
		close(p.over)
	}
}

func (p *Proxy) start(generation int) {
	if p.opt.Remote != nil {
		p.work.Go(func() { p.connect(generation) })
		return
	}
	p.work.Go(func() { p.serve(generation) })
}
