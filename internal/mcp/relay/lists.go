package relay

import (
	"encoding/json"
	"hash/fnv"

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

// wants says whether a client that listens has asked to be told of that.
func (k listKind) wants(listen []byte) bool {
	var m struct {
		Params struct {
			Notifications map[string]any `json:"notifications"`
		} `json:"params"`
	}
	json.Unmarshal(listen, &m)
	return m.Params.Notifications[k.option] == true
}

// page is a page of any list.
type page struct {
	Tools     json.RawMessage `json:"tools"`
	Prompts   json.RawMessage `json:"prompts"`
	Resources json.RawMessage `json:"resources"`
	Templates json.RawMessage `json:"resourceTemplates"`
}

func readPage(line []byte) page {
	var m struct {
		Result page `json:"result"`
	}
	json.Unmarshal(line, &m)
	return m.Result
}

func (p page) digest() uint64 {
	h := fnv.New64a()
	for _, part := range [][]byte{p.Tools, p.Prompts, p.Resources, p.Templates} {
		h.Write(part)
		h.Write([]byte{0})
	}
	return h.Sum64()
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
