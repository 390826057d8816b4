package clientfile

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads a whole file.
func parseTOML(data []byte) (*node, error) {
	var decoded map[string]any
	if err := toml.Unmarshal(data, &decoded); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := e.Position()
			return nil, &SyntaxError{line, column, err.Error()}
		}
		return nil, err
	}
	r := &tomlReader{data: data}
	root := newTable()
	table := root
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = root.table(keyOf(e))
			root.heading(e)
		case unstable.ArrayTable:
			key := keyOf(e)
			parent, last := root.table(key[:len(key)-1]), key[len(key)-1]
			m := parent.member(last)
			if m == nil {
				parent.members = append(parent.members, member{key: last, value: &node{kind: kindList, from: -1}})
				m = parent.member(last)
			}
			table = newTable()
			m.value.items = append(m.value.items, table)
		case unstable.KeyValue:
			r.pair(table, e, false)
		}
	}
	return root, errors.Join(p.Error(), r.err)
}

// newTable is an empty object that stands nowhere yet.
func newTable() *node { return &node{kind: kindObject, from: -1} }

// table is the object at a path of keys, made where it is missing. Of an array of tables it is the last one.
func (n *node) table(key []string) *node {
	for _, k := range key {
		m := n.member(k)
		if m == nil {
			n.members = append(n.members, member{key: k, value: newTable()})
			m = n.member(k)
		}
		n = m.value
		if n.kind == kindList && len(n.items) > 0 {
			n = n.items[len(n.items)-1]
		}
	}
	return n
}

// heading notes where the name of a table stands.
func (n *node) heading(e *unstable.Node) {
	key := keyOf(e)
	m := n.table(key[:len(key)-1]).member(key[len(key)-1])
	for it := e.Key(); it.Next(); {
		m.keyFrom, m.keyTo = int(it.Node().Raw.Offset), int(it.Node().Raw.Offset+it.Node().Raw.Length)
	}
}

func keyOf(n *unstable.Node) (key []string) {
	for it := n.Key(); it.Next(); {
		key = append(key, string(it.Node().Data))
	}
	return key
}

// tomlReader finds out where values stand: the parser tells that of strings only.
type tomlReader struct {
	data []byte
	err  error
}

// pair reads a key and its value into a table, and returns where it ends.
func (r *tomlReader) pair(table *node, n *unstable.Node, inline bool) (end int) {
	key, m := keyOf(n), member{from: -1, inline: inline}
	at := 0
	for it := n.Key(); it.Next(); {
		begin := int(it.Node().Raw.Offset)
		if m.from < 0 {
			m.from = begin
		}
		at, m.prefix = begin+int(it.Node().Raw.Length), string(r.data[r.indent(m.from):begin])
		m.keyFrom, m.keyTo = begin, at
	}
	for at < len(r.data) && strings.IndexByte(" \t=", r.data[at]) >= 0 {
		at++
	}
	m.key, m.value = key[len(key)-1], r.value(n.Value(), at)
	table = table.table(key[:len(key)-1])
	table.members = append(table.members, m)
	return m.value.to
}

// indent is where the white space before an offset begins.
func (r *tomlReader) indent(at int) int {
	for at > 0 && (r.data[at-1] == ' ' || r.data[at-1] == '\t') {
		at--
	}
	return at
}

// value reads the value that begins at an offset.
func (r *tomlReader) value(n *unstable.Node, at int) *node {
	v := &node{from: at}
	switch n.Kind {
	case unstable.String:
		v.kind, v.text, v.to = kindText, string(n.Data), at+int(n.Raw.Length)
		if int(n.Raw.Offset) != at {
			r.err = wrong(r.data, at, "belay cannot find the start of this value")
		}
	case unstable.Array:
		v.kind = kindList
		at++
		for it := n.Children(); it.Next(); {
			item := r.value(it.Node(), r.skip(at))
			v.items = append(v.items, item)
			at = item.to
		}
		v.to = r.closing(at, ']')
	case unstable.InlineTable:
		v.kind = kindObject
		at++
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				at = r.pair(v, it.Node(), true)
			}
		}
		v.to = r.closing(at, '}')
	default:
		v.text = string(n.Data)
		for v.to = at; v.to < len(r.data) && strings.IndexByte(",]}#\r\n", r.data[v.to]) < 0; v.to++ {
		}
	}
	return v
}

// skip is where the next value or bracket stands, behind white space, commas and comments.
func (r *tomlReader) skip(at int) int {
	for comment := false; at < len(r.data); at++ {
		c := r.data[at]
		comment = c == '#' || comment && c != '\n'
		if !comment && strings.IndexByte(" \t\r\n,", c) < 0 {
			break
		}
	}
	return at
}

// closing is the end of a list or table in brackets.
func (r *tomlReader) closing(at int, bracket byte) int {
	at = r.skip(at)
	if at >= len(r.data) || r.data[at] != bracket {
		r.err = wrong(r.data, at, "belay cannot find the end of this list or table")
		return min(at, len(r.data))
	}
	return at + 1
}

// duration is a number as a time in units; 0 if it is none that makes sense.
func duration(n *node, unit time.Duration) time.Duration {
	if n == nil || n.kind != 0 {
		return 0
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
	if f *= float64(unit); err != nil || !(f > 0) || f > 1e6*float64(time.Second) {
		return 0
	}
	return time.Duration(f)
}
