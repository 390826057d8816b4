package mcp

import (
	"sync"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/wire"
	"github.com/belay-run/belay/internal/supervise"
)

// state is what the goroutines of a proxy share: the relay behind its lock, the server that it works with, and the way to the client.
type state struct {
	opt    *Options
	client *clientOut

	mu     sync.Mutex // of all that follows
	relay  *relay.Relay
	server server // nil: none
	status Status
}

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

// do runs a step of the relay that works on no borrowed bytes, and writes what has been put for the server.
func (s *state) do(step func()) {
	s.mu.Lock()
	step()
	server := s.server
	s.mu.Unlock()
	if server != nil {
		server.flush()
	}
	s.client.wakeWriter()
}

// lines takes messages of a server.
func (s *state) lines(generation int) *wire.Splitter {
	return &wire.Splitter{Max: s.opt.MaxLine(), Take: func(m *wire.Message) {
		s.mu.Lock()
		s.relay.FromServer(generation, m)
		s.mu.Unlock()
	}}
}

// begin notes that a server is there. pid is 0 for one that runs elsewhere.
func (s *state) begin(now server, generation, pid int) {
	s.server = now
	s.status.PID, s.status.Generation = pid, generation
	s.tell()
}

// closeIfEnding tells a server that has just begun to end, if we were told to meanwhile.
func (s *state) closeIfEnding() {
	if s.server != nil && s.relay.Ending() {
		s.server.close()
	}
}

func (s *state) tell() {
	if s.opt.Status != nil {
		s.opt.Status(s.status)
	}
}
