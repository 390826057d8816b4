package relay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
)

// succession is what a new server is given of the session of the one before, and what the client is told of it.
type succession struct {
	settings *Settings
	out      Outlets
	life     *life
	calls    *calls
	session  *session
	outbox   *outbox
	listenAt time.Time // when what the client listens to is asked for again
}

// reopen repeats the handshake. The client does not see the answers; a server whose answers differ is not the same, and then failed is called.
// Else opened is, once what the client has set is in force.
func (c *succession) reopen(opened func(), failed func(why string)) {
	s := c.session
	c.outbox.ask("init", c.settings.startTimeout(), s.initialize.as, func(m *wire.Message, lost string) {
		if m == nil {
			failed(cmp.Or(lost, "did not answer initialize after a restart"))
			return
		}
		if version := versionOf(m.Bytes()); m.Failed || version != s.version {
			failed("did not accept the session of the one before")
			return
		}
		if s.initialized != nil {
			c.out.ToServer(s.initialized)
		}
		c.restore(opened)
	})
}

// restore sets what the client has set. Servers work on several requests at once, so that calls have to wait until all of
// it is in force.
func (c *succession) restore(opened func()) {
	s := c.session
	left := len(s.order) + 1
	generation := c.life.generation
	one := func(*wire.Message, string) {
		if left--; left == 0 && c.life.generation == generation && c.life.phase == starting {
			opened()
		}
	}
	if s.level.line != nil {
		left++
		c.outbox.ask("level", c.settings.startTimeout(), s.level.as, one)
	}
	for _, uri := range s.order {
		c.outbox.ask("subscribe", c.settings.startTimeout(), s.subscribed[uri].as, one)
	}
	one(nil, "")
}

// listenAgain opens what the client listens to. The id must be the same: it is what the notifications go by.
func (c *succession) listenAgain() {
	c.listenAt = time.Time{}
	for _, l := range c.calls.listens {
		if c.calls.byID[l.call.wire] == nil {
			l.again = true
			c.outbox.send(l.call, l.call.line)
		}
	}
}

// compareLists asks a server that was started again for the lists that the client has seen of its predecessor, and tells
// the client which are others now.
func (c *succession) compareLists() {
	for _, method := range slices.Sorted(maps.Keys(c.session.lists)) {
		seen := c.session.lists[method]
		c.outbox.ask("list", c.settings.limitOf(""), seen.request.as, func(m *wire.Message, _ string) {
			if m == nil || !m.Result {
				return
			}
			page := readPage(m.Bytes())
			if digest := page.digest(); digest != seen.digest {
				seen.digest = digest
				if method == "tools/list" {
					c.session.tools.learn(page.Tools, true)
				}
				c.announce(listKinds[method])
			}
		})
	}
}

// announce tells the client that a list has changed: on each stream where it has asked for that, or else, before there
// were such streams, at once.
func (c *succession) announce(kind listKind) {
	if c.session.open() {
		c.out.ToClient([]byte(`{"jsonrpc":"2.0","method":"` + kind.notice + `"}`))
		return
	}
	for id, l := range c.calls.listens {
		if kind.wants(l.call.line) {
			c.out.ToClient([]byte(`{"jsonrpc":"2.0","method":"` + kind.notice +
				`","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`))
		}
	}
}
