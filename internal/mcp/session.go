package mcp

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
)

// session is what a client has sent to its server, and what the next server has to be sent again. A client of 2026-07-28
// or later repeats its state with each request; then only what it listens to has to be sent again.
type session struct {
	initialize  []byte // the request, once it was answered well
	initAt      wire.Span
	version     string
	initialized []byte
	level       []byte
	levelAt     wire.Span
	subscribed  map[string]kept
	listens     map[string]*listening
	lists       map[string]*list
	tools       map[string]hints
	order       []string // of the subscriptions
}

// kept is a request that is sent again under an id of ours.
type kept struct {
	line []byte
	at   wire.Span
}

func (k kept) as(id string) [][]byte {
	return [][]byte{k.line[:k.at.From], []byte(id), k.line[k.at.To:]}
}

// listening is a subscriptions/listen request that is open.
type listening struct {
	call  *call
	again bool // it has been sent again: the client has the acknowledgement already
}

func newSession() session {
	return session{subscribed: map[string]kept{}, listens: map[string]*listening{}, lists: map[string]*list{}, tools: map[string]hints{}}
}

// open says whether there is a handshake to be repeated.
func (s *session) open() bool { return s.initialize != nil }

// reopen repeats the handshake. The client does not see the answers; a server whose answers differ is not the same.
func (c *core) reopen() {
	s := &c.session
	c.askServer("init", c.opt.startTimeout(), kept{s.initialize, s.initAt}.as, func(m *wire.Message) {
		if m == nil {
			c.end(cmp.Or(c.lossHow, "did not answer initialize after a restart"), false) // or it is dead, and this does nothing
			return
		}
		if version := versionOf(m.Bytes()); m.Failed || version != s.version {
			c.end("did not accept the session of the one before", false)
			return
		}
		if s.initialized != nil {
			c.out.toServer(s.initialized)
		}
		c.restore()
	})
}

// restore sets what the client has set. Servers work on several requests at once, so that calls have to wait until all of
// it is in force.
func (c *core) restore() {
	s := &c.session
	left := len(s.order) + 1
	generation := c.generation
	one := func(*wire.Message) {
		if left--; left == 0 && c.generation == generation && c.phase == starting {
			c.opened()
		}
	}
	if s.level != nil {
		left++
		c.askServer("level", c.opt.startTimeout(), kept{s.level, s.levelAt}.as, one)
	}
	for _, uri := range s.order {
		c.askServer("subscribe", c.opt.startTimeout(), s.subscribed[uri].as, one)
	}
	one(nil)
}

func versionOf(line []byte) string {
	var m struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	json.Unmarshal(line, &m)
	return m.Result.ProtocolVersion
}

// listenAgain opens what the client listens to. The id must be the same: it is what the notifications go by.
func (c *core) listenAgain() {
	c.listenAt = time.Time{}
	for _, l := range c.session.listens {
		if c.calls[l.call.wire] == nil {
			l.again = true
			c.send(l.call, l.call.line)
		}
	}
}

// learn takes from an answer what a successor of the server will have to know. It returns the line that the client is to
// get if that is another one.
func (c *core) learn(k *call, m *wire.Message) (edited []byte) {
	s := &c.session
	switch k.method {
	case "tools/call":
		return nil
	case "initialize", "server/discover":
		if !m.Result || m.Failed {
			return nil
		}
		line := m.Bytes()
		if k.method == "initialize" && k.line != nil {
			s.initialize, s.initAt, s.version = k.line, k.idAt, versionOf(line)
		}
		return offerListChanges(line)
	case "logging/setLevel":
		if m.Result && k.line != nil {
			s.level, s.levelAt = k.line, k.idAt
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
		if s.subscribed[uri] = (kept{k.line, k.idAt}); !there {
			s.order = append(s.order, uri)
		}
		return
	}
	delete(s.subscribed, uri)
	s.order = slices.DeleteFunc(slices.Clone(s.order), func(other string) bool { return other == uri })
}

// list is what the client has seen of a list: how it asked, and a digest of the first page.
type list struct {
	request kept
	digest  uint64
}

// see takes a page of a list.
func (s *session) see(k *call, line []byte) {
	page := readPage(line)
	if k.method == "tools/list" {
		s.learnTools(page.Tools, k.firstPage)
	}
	if k.firstPage && k.line != nil {
		s.lists[k.method] = &list{kept{k.line, k.idAt}, page.digest()}
	}
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
