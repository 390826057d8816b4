package page

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// ticketLife is how long a ticket can be used.
const ticketLife = time.Minute

// maxTickets bounds the tickets that are not used yet.
const maxTickets = 64

// access knows who may come in. A ticket is good for one entry within a minute and becomes a session, which is good until the server ends. Only
// digests are kept, so that a look-up tells nothing by the time it takes.
type access struct {
	mu       sync.Mutex
	tickets  map[digest]time.Time // when each ends
	sessions map[digest]bool
}

type digest = [sha256.Size]byte

// ticket makes one.
func (d *access) ticket() string {
	token := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for t, ends := range d.tickets {
		if now.After(ends) || len(d.tickets) >= maxTickets {
			delete(d.tickets, t)
		}
	}
	d.tickets[sha256.Sum256([]byte(token))] = now.Add(ticketLife)
	return token
}

// use takes a ticket, which is good no longer afterwards.
func (d *access) use(ticket string) bool {
	key := sha256.Sum256([]byte(ticket))
	d.mu.Lock()
	defer d.mu.Unlock()
	ends, ok := d.tickets[key]
	delete(d.tickets, key)
	return ok && time.Now().Before(ends)
}

// enter makes a session of a ticket.
func (d *access) enter(ticket string) (session string, ok bool) {
	if !d.use(ticket) {
		return "", false
	}
	session = rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[sha256.Sum256([]byte(session))] = true
	return session, true
}

// knows reports whether a session is one.
func (d *access) knows(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sessions[sha256.Sum256([]byte(session))]
}
