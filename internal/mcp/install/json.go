package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// JSON is a file with servers under a path of keys: mcpServers in .mcp.json and in ~/.claude.json, or
// projects, <directory>, mcpServers in the latter.
type JSON struct{ Path []string }

func (f JSON) arguments(_ entry, list string) string { return `, "args": ` + list }

func (f JSON) servers(data []byte) ([]entry, error) {
	var any json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		offset := len(data)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = int(syntax.Offset) - 1
		}
		return nil, fmt.Errorf("%s: %w", place(data, offset), err)
	}
	p := &jsonParser{data: data}
	at := p.value()
	for _, key := range f.Path {
		if at = at.member(key); at == nil {
			return nil, nil
		}
	}
	if at.members == nil && data[at.from] != '{' {
		return nil, fmt.Errorf("%s: the servers are no object", place(data, at.from))
	}
	var entries []entry
	for _, m := range at.members {
		e := entry{name: m.key}
		if c := m.value.member("command"); c != nil && c.text != nil {
			e.command = &token{c.from, c.to, *c.text}
		}
		if a := m.value.member("args"); a != nil && data[a.from] == '[' {
			e.list = &array{from: a.from, to: a.to}
			for _, item := range a.items {
				t := token{from: item.from, to: item.to}
				if item.text != nil {
					t.value = *item.text
				}
				e.list.items = append(e.list.items, t)
			}
		}
		if t := m.value.member("timeout"); t != nil { // Claude Code's, in milliseconds
			var ms float64
			if json.Unmarshal(data[t.from:t.to], &ms) == nil && ms > 0 && ms < 1e9 {
				e.timeout = time.Duration(ms) * time.Millisecond
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// node is a value and where it stands.
type node struct {
	from, to int
	text     *string // of a string
	members  []member
	items    []*node
}

type member struct {
	key   string
	value *node
}

// member is the value of a key, the last one if there are several, as for all readers of JSON; nil if there is none.
func (n *node) member(key string) (found *node) {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.key == key {
			found = m.value
		}
	}
	return found
}

// jsonParser reads JSON that is known to be valid.
type jsonParser struct {
	data []byte
	at   int
}

func (p *jsonParser) space() byte {
	for p.data[p.at] == ' ' || p.data[p.at] == '\t' || p.data[p.at] == '\n' || p.data[p.at] == '\r' {
		p.at++
	}
	return p.data[p.at]
}

func (p *jsonParser) value() *node {
	n := &node{}
	c := p.space()
	n.from = p.at
	switch c {
	case '{':
		for p.at++; p.space() != '}'; {
			if p.data[p.at] == ',' {
				p.at++
				continue
			}
			key := p.text()
			p.space()
			p.at++ // the colon
			n.members = append(n.members, member{key, p.value()})
		}
		p.at++
	case '[':
		for p.at++; p.space() != ']'; {
			if p.data[p.at] == ',' {
				p.at++
				continue
			}
			n.items = append(n.items, p.value())
		}
		p.at++
	case '"':
		text := p.text()
		n.text = &text
	default:
		for p.at < len(p.data) && !isEnd(p.data[p.at]) {
			p.at++
		}
	}
	n.to = p.at
	return n
}

func isEnd(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

func (p *jsonParser) text() (text string) {
	from := p.at
	for p.at++; p.data[p.at] != '"'; p.at++ {
		if p.data[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	json.Unmarshal(p.data[from:p.at], &text)
	return text
}
