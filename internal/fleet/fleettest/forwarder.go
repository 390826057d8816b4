//go:build unix

package fleettest

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// Forwarder is the network between one machine and PostgreSQL. It can be cut, lose everything silently, and be slow.
type Forwarder struct {
	listener net.Listener
	server   string // its socket
	database string

	mu     sync.Mutex
	change *sync.Cond
	conns  map[net.Conn]bool
	cut    bool
	hole   bool
	delay  time.Duration
	rate   int // bytes a second; 0 is as many as there are
	closed bool

	refused int // connections, since it was cut
}

// Forward makes a network to the database of a DSN that [Database] has made.
func Forward(t testing.TB, dsn string) *Forwarder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	f := &Forwarder{listener: l, conns: map[net.Conn]bool{}}
	f.change = sync.NewCond(&f.mu)
	for _, field := range strings.Fields(dsn) {
		switch key, value, _ := strings.Cut(field, "="); key {
		case "host":
			f.server = filepath.Join(value, ".s.PGSQL.5432")
		case "dbname":
			f.database = value
		}
	}
	go f.accept()
	t.Cleanup(f.Close)
	return f
}

// DSN names the database through this network.
func (f *Forwarder) DSN() string {
	address := f.listener.Addr().(*net.TCPAddr)
	return fmt.Sprintf("host=127.0.0.1 port=%d user=belay dbname=%s sslmode=disable", address.Port, f.database)
}

// Cut ends all connections and refuses new ones.
func (f *Forwarder) Cut() {
	f.set(func() {
		f.cut, f.refused = true, 0
		for c := range f.conns {
			c.Close()
		}
	})
}

// Refused is how many new connections were refused since the network was cut.
func (f *Forwarder) Refused() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

// BlackHole loses all that is sent from now on, without a word: connections stay, and new ones are made and never answered.
func (f *Forwarder) BlackHole() { f.set(func() { f.hole = true }) }

// Delay holds up each piece of data, in both directions.
func (f *Forwarder) Delay(d time.Duration) { f.set(func() { f.delay = d }) }

// Narrow lets so many bytes a second through, of each connection and in each direction.
func (f *Forwarder) Narrow(rate int) { f.set(func() { f.rate = rate }) }

// Heal makes the network work again. Connections that were made before stay ended, or go on where nothing was lost.
func (f *Forwarder) Heal() { f.set(func() { f.cut, f.hole, f.delay, f.rate = false, false, 0, 0 }) }

// Close ends it.
func (f *Forwarder) Close() {
	f.listener.Close()
	f.set(func() {
		f.closed = true
		for c := range f.conns {
			c.Close()
		}
	})
}

func (f *Forwarder) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.change.Broadcast()
}

func (f *Forwarder) accept() {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return
		}
		go f.serve(c)
	}
}

// track remembers a connection, to cut it; false says that it is cut.
func (f *Forwarder) track(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cut || f.closed {
		c.Close()
		f.refused++
		return false
	}
	f.conns[c] = true
	return true
}

func (f *Forwarder) drop(c net.Conn) {
	c.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

func (f *Forwarder) serve(client net.Conn) {
	if !f.track(client) {
		return
	}
	defer f.drop(client)
	server, err := net.Dial("unix", f.server)
	if err != nil || !f.track(server) {
		return
	}
	defer f.drop(server)
	var both sync.WaitGroup
	both.Go(func() { f.copy(server, client) })
	both.Go(func() { f.copy(client, server) })
	both.Wait()
}

// copy passes data on. What comes while there is a black hole is held until it is healed, as TCP would send it again.
func (f *Forwarder) copy(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		f.mu.Lock()
		for f.hole && !f.closed && !f.cut {
			f.change.Wait()
		}
		delay := f.delay
		if f.rate > 0 {
			delay += time.Duration(n) * time.Second / time.Duration(f.rate)
		}
		f.mu.Unlock()
		if delay > 0 {
			time.Sleep(delay)
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
