package mcp

import (
	"github.com/belay-run/belay/internal/mcp/wire"
)

// batches says whether the client and the server may send arrays of messages: two versions of the protocol had them.
// Servers of later versions crash on one.
func (c *core) batches() bool {
	return c.session.version == "2025-03-26" || c.session.version == "2024-11-05"
}

// clientBatch takes an array of messages apart. The server gets them one by one, and so does the client its answers:
// each of them may have to wait, to be repeated or to be answered by us.
func (c *core) clientBatch(m *wire.Message) {
	elements, ok := m.Split()
	if !ok || len(elements) == 0 || !c.batches() {
		c.reject(nil, codeInvalid, "this version of the protocol has no batches")
		return
	}
	for _, line := range elements {
		one := wire.Parse(line)
		if one.Batch {
			c.reject(nil, codeInvalid, "a batch cannot contain a batch")
			continue
		}
		c.fromClient(&one)
	}
}

// serverBatch takes an array of the server apart, if that is what it is.
func (c *core) serverBatch(m *wire.Message) {
	elements, ok := m.Split()
	var all []wire.Message
	for _, line := range elements {
		one := wire.Parse(line)
		ok = ok && one.Valid
		all = append(all, one)
	}
	if !ok || len(all) == 0 {
		c.pollution(m)
		return
	}
	for i := range all {
		c.fromServer(c.generation, &all[i])
	}
}
