package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/wire"
)

// outlets is what the relay acts on. All methods are called with the lock of the state held.
type outlets struct {
	*state
	timer  *time.Timer
	log    *incidents
	ending *ending
	work   sync.WaitGroup  // the servers
	remote context.Context // ends with Run: what is left of connections ends with it
}

var _ relay.Outlets = (*outlets)(nil)

func (o *outlets) ToClient(parts ...[]byte) { o.client.put(parts) }

func (o *outlets) ToServer(parts ...[]byte) {
	if o.server != nil {
		o.server.put(parts)
	}
}

func (o *outlets) Divert(m *wire.Message) {
	if o.opt.Stderr != nil {
		o.opt.Stderr.Write(append(m.Bytes(), '\n'))
	}
}

func (o *outlets) Wake(at time.Time) { o.timer.Reset(time.Until(at)) }

func (o *outlets) Record(i relay.Incident) {
	if text, failed := i.Failure(); failed {
		o.status.LastFailure, o.status.FailedAt = text, time.Now()
		o.tell()
	}
	o.log.add(i)
}

func (o *outlets) Start(generation int) {
	if o.opt.Remote != nil {
		o.work.Go(func() { connect(o.state, generation, o.remote) })
		return
	}
	o.work.Go(func() { serve(o.state, generation) })
}

func (o *outlets) Stop(int) {
	if o.server != nil {
		o.server.stop(stopLadder)
	}
}

func (o *outlets) CloseInput() {
	o.ending.watch(o.state)
	if o.server != nil {
		o.server.close()
	}
}

func (o *outlets) Done() {
	o.ending.watch(o.state)
	o.ending.over()
}
