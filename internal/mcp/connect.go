package mcp

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/wire"
	"github.com/belay-run/belay/internal/supervise"
)

// connect has a connection opened, and waits for its end.
func connect(s *state, generation int, ctx context.Context) {
	if err := s.opt.PathError; err != nil {
		s.do(func() { s.relay.Died(generation, relay.Death{Err: err, Remote: true}) })
		return
	}
	p := &peer{state: s, generation: generation, begun: time.Now(), ended: make(chan struct{})}
	conn := s.opt.Remote.Connect(ctx, p)
	s.do(func() {
		s.begin(&link{conn, s}, generation, 0)
		s.closeIfEnding()
	})
	conn.Open()
	<-p.ended
}

// peer is the proxy's end of one connection.
type peer struct {
	state      *state
	generation int
	begun      time.Time
	ended      chan struct{}
}

func (p *peer) Opened() { p.state.do(func() { p.state.relay.Started(p.generation, 0) }) }

func (p *peer) Inbox() *Inbox {
	return &Inbox{lines: p.state.lines(p.generation), flush: p.state.client.flush}
}

func (p *peer) Waits(id string) (until time.Time, ok bool) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return p.state.relay.Waits(p.generation, id)
}

func (p *peer) Lost(m Outgoing, l relay.Loss) {
	p.state.do(func() { p.state.relay.Lost(p.generation, m.ID, m.Body, l) })
}

func (p *peer) Ended(e End) {
	s := p.state
	s.do(func() {
		if p.generation == s.relay.Generation() {
			s.server = nil
		}
		s.relay.Died(p.generation, relay.Death{Err: e.Err, Forgotten: e.Forgotten, Status: e.How, Remote: true, Uptime: time.Since(p.begun)})
	})
	close(p.ended)
}

// link is a connection as a server.
type link struct {
	conn  Connection
	state *state
}

// put sends a line. What HTTP has to know of it is read once more: next to a request that costs nothing.
func (l *link) put(parts [][]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	body := make([]byte, 0, size)
	for _, part := range parts {
		body = append(body, part...)
	}
	m := wire.Parse(body)
	l.conn.Send(outgoing(&m, l.state.relay.Version()))
}

func outgoing(m *wire.Message, version string) Outgoing {
	o := Outgoing{Body: m.Parts[0], Method: string(m.Method), Name: string(m.Name), Version: version, Cancels: string(m.Request)}
	if m.Method != nil {
		o.ID = string(m.ID)
	}
	if o.Method == "resources/read" {
		o.Name = string(m.URI)
	}
	if m.Version != nil {
		o.Version, o.Modern = string(m.Version), true
	}
	return o
}

func (l *link) flush()                  {}
func (l *link) waitForRoom()            {}
func (l *link) abort()                  {}
func (l *link) gone() bool              { return true }
func (l *link) close()                  { l.conn.Close() }
func (l *link) stop(_ supervise.Ladder) { l.conn.Stop() }
