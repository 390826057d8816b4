package mcp

import (
	"bytes"
	"encoding/json"
)

// batches says whether the client and the server may send arrays of messages: two versions of the protocol had them.
// Servers of later versions crash on one.
func (c *core) batches() bool {
	return c.session.version == "2025-03-26" || c.session.version == "2024-11-05"
}

// clientBatch takes an array of messages apart. The server gets them one by one, and so does the client its answers:
// each of them may have to wait, to be repeated or to be answered by us.
func (c *core) clientBatch(m *message) {
	elements, ok := split(m)
	if !ok || len(elements) == 0 || !c.batches() {
		c.reject(nil, codeInvalid, "this version of the protocol has no batches")
		return
	}
	for _, line := range elements {
		one := parse(line)
		if one.env.batch {
			c.reject(nil, codeInvalid, "a batch cannot contain a batch")
			continue
		}
		c.fromClient(&one)
	}
}

// serverBatch takes an array of the server apart, if that is what it is.
func (c *core) serverBatch(m *message) {
	elements, ok := split(m)
	var all []message
	for _, line := range elements {
		one := parse(line)
		ok = ok && one.env.valid
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

// split returns the elements of an array, each on one line as it stands there.
func split(m *message) ([][]byte, bool) {
	var elements []json.RawMessage
	if json.Unmarshal(m.bytes(), &elements) != nil {
		return nil, false
	}
	lines := make([][]byte, len(elements))
	for i, e := range elements {
		lines[i] = bytes.TrimSpace(e)
	}
	return lines, true
}
