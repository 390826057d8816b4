package relay

import (
	"encoding/json"
	"slices"
)

// tools are what decides whether a call is safe to repeat: what the server says of its tools, and what the settings do.
type tools struct {
	settings *Settings
	hints    map[string]hints
}

// hints are what a server says of a tool. They may be wrong, since the server is not trusted: they decide only whether a
// call that may have been lost is sent again.
type hints struct {
	ReadOnly   bool `json:"readOnlyHint"`
	Idempotent bool `json:"idempotentHint"`
}

// learn takes a page of the tools.
func (t *tools) learn(page json.RawMessage, first bool) {
	var list []struct {
		Name        string `json:"name"`
		Annotations hints  `json:"annotations"`
	}
	if json.Unmarshal(page, &list) != nil {
		return
	}
	if first {
		clear(t.hints)
	}
	for _, one := range list {
		t.hints[one.Name] = one.Annotations
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
func (t *tools) safe(k *call) bool {
	if t.settings.NoRetry {
		// The opening is kept in any case: it is what is repeated to the next server.
		return k.method == "initialize" || slices.Contains(harmless, k.method) && k.method != "resources/read" && k.method != "prompts/get"
	}
	if k.method != "tools/call" {
		return slices.Contains(harmless, k.method)
	}
	if may, said := t.settings.RetryTools[k.tool]; said {
		return may
	}
	h := t.hints[k.tool]
	return h.ReadOnly || h.Idempotent && !k.resume
}

// maxKept is the size of a call that may be repeated.
const maxKept = 4 << 20

// keeps says whether a line is kept because the call may have to be sent again.
func (t *tools) keeps(k *call, size int) bool { return size <= maxKept && t.safe(k) }
