package mcp

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	"github.com/belay-run/belay/internal/supervise"
)

// Remote is a server that is not a process of ours: it is spoken to over a network. Package remote has one for HTTP; it is a
// package of its own so that belay does not link net/http.
type Remote interface {
	// Connect makes a connection, which does nothing before Open. It ends with ctx.
	Connect(ctx context.Context, to Peer) Connection
}

// Connection is a session with a remote server, or the attempt to have one. Its methods return at once.
//
// Requests fail one by one here, since a lost request need not mean a lost server: each is answered through an [Inbox], or
// reported to [Peer.Lost].
type Connection interface {
	Open()           // answered by Opened or Ended
	Send(m Outgoing) // one message, which it may keep
	Close()          // tells the server that the session is over; answered by Ended
	Stop()           // ends everything; answered by Ended
}

// Peer is the proxy as a connection sees it.
type Peer interface {
	Opened()
	// Inbox takes messages of the server. Each stream needs one of its own.
	Inbox() *Inbox
	// Waits reports whether a request has no answer yet, and until when it may have one. The zero time means for ever.
	Waits(id string) (until time.Time, ok bool)
	// Lost reports that there will be no answer to a request.
	Lost(m Outgoing, l Loss)
	// Ended is called once, when no more is to be sent. All requests were answered or reported before, unless the server has
	// forgotten the session: then those that are still under way may be answered later.
	Ended(e End)
}

// Outgoing is a message for a remote server.
type Outgoing struct {
	Body   []byte
	ID     string // of a request, as JSON; empty for a notification or an answer
	Method string // empty for an answer
	Name   string // of the tool, prompt or resource that is meant
	// Version is the version of the protocol: the one that the request names, or else the one that the session has agreed on.
	Version string
	// Modern says that the request names its version, as from 2026-07-28 on.
	Modern bool
	// Cancels is the id of the request that the notification takes back.
	Cancels string
}

// End is how a connection ended.
type End struct {
	// Err says why it could not be opened.
	Err error
	// Forgotten says that the server does not know the session any more.
	Forgotten bool
	// How says what happened, after "the server".
	How string
}

// Inbox takes the messages of one stream, in as many pieces as they come in. Line ends inside a message must have been taken
// out: they are what ends a message on stdio.
type Inbox struct {
	lines wire.Splitter
	proxy *Proxy
}

// Write takes the next bytes. A line end completes a message, which the client has when Write returns.
func (b *Inbox) Write(data []byte) (int, error) {
	n, err := b.lines.Write(data)
	if n > 0 && data[n-1] == '\n' {
		b.proxy.client.flush()
	}
	return n, err
}

// connect has a connection opened, and waits for its end.
func (p *Proxy) connect(generation int) {
	if err := p.opt.PathError; err != nil {
		p.do(func() { p.core.died(generation, death{err: err, remote: true}) })
		return
	}
	s := &peer{proxy: p, generation: generation, begun: time.Now(), ended: make(chan struct{})}
	conn := p.opt.Remote.Connect(p.remote, s)
	p.do(func() {
		p.server = &link{conn, p}
		p.status.PID, p.status.Generation = 0, generation
		if p.core.inputEnd { // we were told to end meanwhile
			p.closeInput()
		}
		p.tell()
	})
	conn.Open()
	<-s.ended
}

// peer is the proxy's end of one connection.
type peer struct {
	proxy      *Proxy
	generation int
	begun      time.Time
	ended      chan struct{}
}

func (s *peer) Opened() { s.proxy.do(func() { s.proxy.core.started(s.generation, 0) }) }

func (s *peer) Inbox() *Inbox {
	p := s.proxy
	return &Inbox{proxy: p, lines: wire.Splitter{Max: p.opt.maxLine(), Take: func(m *wire.Message) {
		p.mu.Lock()
		p.core.fromServer(s.generation, m)
		p.mu.Unlock()
	}}}
}

func (s *peer) Waits(id string) (until time.Time, ok bool) {
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	if k := s.proxy.core.calls[id]; k != nil && k.generation == s.generation && !k.sent.IsZero() {
		return k.due, true
	}
	return time.Time{}, false
}

func (s *peer) Lost(m Outgoing, l Loss) {
	s.proxy.do(func() { s.proxy.core.lost(s.generation, m, l) })
}

func (s *peer) Ended(e End) {
	s.proxy.do(func() {
		if s.generation == s.proxy.core.generation {
			s.proxy.server = nil
		}
		s.proxy.core.died(s.generation, death{err: e.Err, forgotten: e.Forgotten, status: e.How, remote: true, uptime: time.Since(s.begun)})
	})
	close(s.ended)
}

// link is a connection as a server.
type link struct {
	conn  Connection
	proxy *Proxy
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
	l.conn.Send(outgoing(&m, l.proxy.core.session.version))
}

func outgoing(m *wire.Message, version string) Outgoing {
	e := &m.Envelope
	o := Outgoing{Body: m.Parts[0], Method: string(e.Method), Name: string(e.Name), Version: version, Cancels: string(e.Request)}
	if e.Method != nil {
		o.ID = string(e.ID)
	}
	if o.Method == "resources/read" {
		o.Name = string(e.URI)
	}
	if e.Version != nil {
		o.Version, o.Modern = string(e.Version), true
	}
	return o
}

func (l *link) flush()                  {}
func (l *link) waitForRoom()            {}
func (l *link) abort()                  {}
func (l *link) gone() bool              { return true }
func (l *link) close()                  { l.conn.Close() }
func (l *link) stop(_ supervise.Ladder) { l.conn.Stop() }
