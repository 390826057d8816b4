package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/belay-run/belay/internal/mcp/wire"
)

// listKind is how a client is told that a list has changed, and what says that it wants to be told.
type listKind struct{ notice, option string }

// listKinds are the lists of a server, and how a client is told that one has changed.
var listKinds = map[string]listKind{
	"tools/list":               {"notifications/tools/list_changed", "toolsListChanged"},
	"prompts/list":             {"notifications/prompts/list_changed", "promptsListChanged"},
	"resources/list":           {"notifications/resources/list_changed", "resourcesListChanged"},
	"resources/templates/list": {"notifications/resources/list_changed", "resourcesListChanged"},
}

// compareLists asks a server that was started again for the lists that the client has seen of its predecessor, and tells
// the client which are others now.
func (c *core) compareLists() {
	for _, method := range slices.Sorted(maps.Keys(c.session.lists)) {
		seen := c.session.lists[method]
		c.askServer("list", c.opt.limitOf(""), seen.request.as, func(m *wire.Message) {
			if m == nil || !m.Result {
				return
			}
			page := readPage(m.Bytes())
			if digest := page.digest(); digest != seen.digest {
				seen.digest = digest
				if method == "tools/list" {
					c.session.learnTools(page.Tools, true)
				}
				c.announce(method)
			}
		})
	}
}

// announce tells the client that a list has changed: on each stream where it has asked for that, or else, before there
// were such streams, at once.
func (c *core) announce(method string) {
	kind := listKinds[method]
	if c.session.open() {
		c.out.toClient([]byte(`{"jsonrpc":"2.0","method":"` + kind.notice + `"}`))
		return
	}
	for id, l := range c.session.listens {
		var m struct {
			Params struct {
				Notifications map[string]any `json:"notifications"`
			} `json:"params"`
		}
		json.Unmarshal(l.call.line, &m)
		if m.Params.Notifications[kind.option] == true {
			c.out.toClient([]byte(`{"jsonrpc":"2.0","method":"` + kind.notice +
				`","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`))
		}
	}
}

// offerListChanges makes a server's answer to initialize or server/discover promise listChanged for each list that it
// has: after a restart we announce what has changed, and Claude Code ignores that unless it was promised. nil if there is
// nothing to change.
func offerListChanges(line []byte) []byte {
	edited := line
	for _, kind := range []string{"tools", "prompts", "resources"} {
		at, ok := wire.Locate(edited, "result", "capabilities", kind)
		if !ok || edited[at.From] != '{' {
			continue
		}
		was, there := wire.Locate(edited, "result", "capabilities", kind, "listChanged")
		switch {
		case there && string(edited[was.From:was.To]) == "true":
		case there:
			edited = was.Replace(edited, "true")
		default:
			text := `"listChanged":true`
			if _, empty := wire.FirstIn(edited, at); !empty {
				text += ","
			}
			edited = wire.Span{From: at.From + 1, To: at.From + 1}.Replace(edited, text)
		}
	}
	if len(edited) == len(line) {
		return nil
	}
	return edited
}
