package mcp

import (
	"encoding/json"
	"slices"
	"time"
)

// hints are what a server says of a tool. They may be wrong, since the server is not trusted: they decide only whether a
// call that may have been lost is sent again.
type hints struct {
	ReadOnly   bool `json:"readOnlyHint"`
	Idempotent bool `json:"idempotentHint"`
}

// learnTools takes a page of the tools.
func (s *session) learnTools(tools json.RawMessage, first bool) {
	var list []struct {
		Name        string `json:"name"`
		Annotations hints  `json:"annotations"`
	}
	if json.Unmarshal(tools, &list) != nil {
		return
	}
	if first {
		clear(s.tools)
	}
	for _, t := range list {
		s.tools[t.Name] = t.Annotations
	}
}

// harmless are the methods that may be sent twice: they read, or set what they set before.
var harmless = []string{
	"initialize", "server/discover", "ping",
	"tools/list", "prompts/list", "resources/list", "resources/templates/list",
	"resources/read", "prompts/get", "completion/complete",
	"logging/setLevel", "resources/subscribe", "resources/unsubscribe",
}

// safe says whether a call may be sent a second time when it is not known what became of the first.
func (c *core) safe(k *call) bool {
	if c.opt.NoRetry {
		// The opening is kept in any case: it is what is repeated to the next server.
		return k.method == "initialize" || slices.Contains(harmless, k.method) && k.method != "resources/read" && k.method != "prompts/get"
	}
	if k.method != "tools/call" {
		return slices.Contains(harmless, k.method)
	}
	if may, said := c.opt.RetryTools[k.tool]; said {
		return may
	}
	h := c.session.tools[k.tool]
	return h.ReadOnly || h.Idempotent && !k.resume
}

// mayRepeat says whether a call whose server has died is sent to the next one: if it is safe, if it has shown no sign of having
// begun, if there are retries left, and if the budget that all share has one. Those after the first have to begin within the
// time of one call, or 30 s: most clients give up after a minute.
func (c *core) mayRepeat(k *call) bool {
	if k.retries >= c.opt.retries(k) || k.progressed || k.line == nil || !c.safe(k) || c.last != nil || c.closing {
		return false
	}
	if k.retries > 0 && k.limit > 0 && time.Since(k.begun)+k.pause() >= max(k.limit, defaultCall) {
		return false
	}
	if c.gate == nil {
		return true
	}
	ok, _ := c.gate.Spend()
	return ok
}
