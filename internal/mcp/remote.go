package mcp

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/wire"
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
	Lost(m Outgoing, l relay.Loss)
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
	lines *wire.Splitter
	flush func() // has the client get them
}

// Write takes the next bytes. A line end completes a message, which the client has when Write returns.
func (b *Inbox) Write(data []byte) (int, error) {
	n, err := b.lines.Write(data)
	if n > 0 && data[n-1] == '\n' {
		b.flush()
	}
	return n, err
}
