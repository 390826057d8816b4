package remote

import (
	"context"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/verdict"
)

// dyingTime is how long a process that is being killed still takes connections: what is repeated at once would be cut once more.
const dyingTime = 100 * time.Millisecond

// unanswered are the requests that have no answer yet.
type unanswered struct {
	ctx context.Context // of the connection
	to  mcp.Peer

	mu        sync.Mutex
	elsewhere map[string]mcp.Outgoing // those that are answered on another stream than their own
}

// waits says whether a request still has no answer.
func (u *unanswered) waits(m mcp.Outgoing) bool {
	if m.ID == "" {
		return false
	}
	_, ok := u.to.Waits(m.ID)
	return ok
}

// lose reports a request that is not answered. What waits for no answer has none to lose.
func (u *unanswered) lose(m mcp.Outgoing, l relay.Loss) {
	if m.ID == "" {
		return
	}
	if l.Kind == relay.Cut && l.Class == verdict.Network {
		sleep(u.ctx, dyingTime)
	}
	u.to.Lost(m, l)
}

// await keeps a request whose answer comes on another stream.
func (u *unanswered) await(m mcp.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.elsewhere[m.ID] = m
	if len(u.elsewhere)%256 == 0 { // those that were answered need not be remembered
		go u.sweep()
	}
}

func (u *unanswered) sweep() {
	for _, m := range u.take() {
		if u.waits(m) {
			u.mu.Lock()
			u.elsewhere[m.ID] = m
			u.mu.Unlock()
		}
	}
}

func (u *unanswered) take() map[string]mcp.Outgoing {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.elsewhere
	u.elsewhere = map[string]mcp.Outgoing{}
	return all
}

// loseAll reports all whose answer would come on a stream that has ended.
func (u *unanswered) loseAll(how string) {
	for _, m := range u.take() {
		u.lose(m, relay.Loss{How: how})
	}
}
