package relay

import (
	"encoding/json"
	"slices"

	"github.com/belay-run/belay/internal/mcp/wire"
)

// session is what a client has sent to its server, and what the next server has to be sent again. A client of 2026-07-28
// or later repeats its state with each request; then only what it listens to has to be sent again.
type session struct {
	initialize  kept // the request, once it was answered well
	version     string
	initialized []byte
	level       kept
	subscribed  map[string]kept
	order       []string // of the subscriptions
	lists       map[string]*list
	tools       *tools
}

// list is what the client has seen of a list: how it asked, and a digest of the first page.
type list struct {
	request kept
	digest  uint64
}

func newSession(t *tools) *session {
	return &session{subscribed: map[string]kept{}, lists: map[string]*list{}, tools: t}
}

// open says whether there is a handshake to be repeated.
func (s *session) open() bool { return s.initialize.line != nil }

// batches says whether the client and the server may send arrays of messages: two versions of the protocol had them.
// Servers of later versions crash on one.
func (s *session) batches() bool { return s.version == "2025-03-26" || s.version == "2024-11-05" }

func versionOf(line []byte) string {
	var m struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	json.Unmarshal(line, &m)
	return m.Result.ProtocolVersion
}

// learn takes from an answer what a successor of the server will have to know. It returns the line that the client is to
// get if that is another one.
func (s *session) learn(k *call, m *wire.Message) (edited []byte) {
	switch k.method {
	case "tools/call":
		return nil
	case "initialize", "server/discover":
		if !m.Result || m.Failed {
			return nil
		}
		line := m.Bytes()
		if k.method == "initialize" && k.line != nil {
			s.initialize, s.version = k.kept, versionOf(line)
		}
		return offerListChanges(line)
	case "logging/setLevel":
		if m.Result && k.line != nil {
			s.level = k.kept
		}
	case "resources/subscribe", "resources/unsubscribe":
		if m.Result && k.line != nil {
			s.subscribe(k)
		}
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		if m.Result {
			s.see(k, m.Bytes())
		}
	}
	return nil
}

func (s *session) subscribe(k *call) {
	m := wire.Parse(k.line)
	uri := string(m.URI)
	_, there := s.subscribed[uri]
	if k.method == "resources/subscribe" {
		if s.subscribed[uri] = k.kept; !there {
			s.order = append(s.order, uri)
		}
		return
	}
	delete(s.subscribed, uri)
	s.order = slices.DeleteFunc(slices.Clone(s.order), func(other string) bool { return other == uri })
}

// see takes a page of a list.
func (s *session) see(k *call, line []byte) {
	page := readPage(line)
	if k.method == "tools/list" {
		s.tools.learn(page.Tools, k.firstPage)
	}
	if k.firstPage && k.line != nil {
		s.lists[k.method] = &list{k.kept, page.digest()}
	}
}
