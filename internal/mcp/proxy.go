package mcp

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/wire"
	"github.com/belay-run/belay/internal/supervise"
)

// Proxy stands between a client and a server. Make one with [New].
type Proxy struct {
	opt   Options
	state *state
	out   *outlets
}

// New makes a proxy. Nothing is started before [Proxy.Run].
func New(opt Options) *Proxy {
	if opt.Supervisor == nil {
		opt.Supervisor = &supervise.Supervisor{}
	}
	if opt.Name == "" {
		opt.Name = opt.command()
	}
	p := &Proxy{opt: opt}
	p.state = &state{opt: &p.opt, client: newClientOut(opt.Stdout, p.leave)}
	p.out = &outlets{state: p.state, timer: time.AfterFunc(time.Hour, p.tick), log: newIncidents(&p.opt), ending: newEnding()}
	p.out.timer.Stop()
	p.state.relay = relay.New(&p.opt.Settings, relay.Shared{Gate: opt.Gate, Holder: opt.ID, Rand: opt.random}, p.out)
	return p
}

// Run carries messages until the client has left, by closing its side or by an end of ctx, and the server has ended with
// its whole tree. Nothing that the server does makes it return.
func (p *Proxy) Run(ctx context.Context) {
	p.out.log.start()
	remote, forsake := context.WithCancel(context.WithoutCancel(ctx))
	defer forsake()
	p.out.remote = remote
	widenPipe(p.opt.Stdin)
	widenPipe(p.opt.Stdout)
	stop := make(chan struct{})
	go p.state.client.run(stop)
	p.state.do(p.state.relay.Start)
	go p.readClient()
	p.await(ctx)
	p.out.timer.Stop()
	close(stop)
	p.out.log.close()
}

// await waits until all is over and the client has read the answers. A client that does not read does not hold it up: the server's tree has
// ended by then, and the lines that are left cannot be written.
func (p *Proxy) await(ctx context.Context) {
	delivered := make(chan struct{})
	go func() {
		<-p.out.ending.ended
		p.out.work.Wait()
		p.state.client.flush()
		close(delivered)
	}()
	select {
	case <-delivered:
		return
	case <-p.out.ending.stuck:
		return
	case <-ctx.Done():
	}
	p.terminate(supervise.Forward(syscall.SIGTERM))
	select {
	case <-delivered:
	case <-p.out.ending.stuck:
	}
}

// readClient carries the client's lines.
func (p *Proxy) readClient() {
	lines := wire.Splitter{Max: p.opt.MaxLine(), Take: func(m *wire.Message) {
		p.state.mu.Lock()
		p.state.relay.FromClient(m)
		p.state.mu.Unlock()
	}}
	buf := make([]byte, 256<<10)
	for {
		n, err := p.opt.Stdin.Read(buf)
		lines.Write(buf[:n])
		if err != nil {
			lines.Flush()
		}
		var server server
		p.state.do(func() { server = p.state.server }) // which writes what has been put for the server, before the borrowed bytes in it are reused
		if server != nil {
			server.waitForRoom()
		}
		if err != nil && !errors.Is(err, io.ErrNoProgress) {
			p.leave()
			return
		}
	}
}

func (p *Proxy) tick()  { p.state.do(p.state.relay.Tick) }
func (p *Proxy) leave() { p.state.do(p.state.relay.ClientGone) }

// terminate ends the proxy and its server without waiting for calls under way.
func (p *Proxy) terminate(ladder supervise.Ladder) {
	p.state.do(func() {
		if p.state.relay.Terminate() && p.state.server != nil {
			p.state.server.stop(ladder)
		}
	})
}

// Kill ends the server's tree without asking it.
func (p *Proxy) Kill() { p.terminate(supervise.Ladder{}) }
