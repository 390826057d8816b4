package install

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML is a file with servers in tables under a key, as codex has them: [mcp_servers.NAME].
type TOML struct{ Key string }

func (f TOML) arguments(e entry, list string) string {
	if e.inline {
		return ", args = " + list
	}
	return "\n" + e.key + "args = " + list
}

func (f TOML) servers(data []byte) ([]entry, error) {
	var any map[string]any
	if err := toml.Unmarshal(data, &any); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := e.Position()
			return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
		return nil, err
	}
	r := &tomlReader{data: data, key: f.Key}
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = words(n.Key())
			r.touch(table)
		case unstable.KeyValue:
			r.take(table, n, false)
		}
	}
	if err := p.Error(); err != nil {
		return nil, err
	}
	return r.entries, nil
}

// tomlReader collects the entries.
type tomlReader struct {
	data    []byte
	key     string
	entries []entry
}

func words(key unstable.Iterator) (path []string) {
	for key.Next() {
		path = append(path, string(key.Node().Data))
	}
	return path
}

// touch is the entry of a path, if that is in one.
func (r *tomlReader) touch(path []string) *entry {
	if len(path) < 2 || path[0] != r.key {
		return nil
	}
	at := slices.IndexFunc(r.entries, func(e entry) bool { return e.name == path[1] })
	if at < 0 {
		r.entries = append(r.entries, entry{name: path[1]})
		at = len(r.entries) - 1
	}
	return &r.entries[at]
}

// take reads a key and its value, in the table that it stands in.
func (r *tomlReader) take(table []string, n *unstable.Node, inline bool) {
	path := append(slices.Clone(table), words(n.Key())...)
	value := n.Value()
	if value.Kind == unstable.InlineTable {
		for it := value.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				r.take(path, it.Node(), true)
			}
		}
		return
	}
	e := r.touch(path)
	if e == nil || len(path) != 3 {
		return
	}
	switch path[2] {
	case "command":
		if value.Kind == unstable.String {
			e.command, e.inline, e.key = tomlToken(value), inline, r.prefix(n)
		}
	case "args":
		if value.Kind == unstable.Array {
			e.list = r.array(n, value)
		}
	case "tool_timeout_sec":
		e.timeout = tomlSeconds(value)
	case "startup_timeout_sec":
		e.start = tomlSeconds(value)
	}
}

func tomlToken(n *unstable.Node) *token {
	return &token{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length), string(n.Data)}
}

// prefix is what is written before the last word of a key, the space at the beginning of its line included.
func (r *tomlReader) prefix(n *unstable.Node) string {
	first, last := -1, 0
	for key := n.Key(); key.Next(); {
		last = int(key.Node().Raw.Offset)
		if first < 0 {
			first = last
		}
	}
	for first > 0 && (r.data[first-1] == ' ' || r.data[first-1] == '\t') {
		first--
	}
	return string(r.data[first:last])
}

// array finds the brackets, which the parser does not tell.
func (r *tomlReader) array(n, value *unstable.Node) *array {
	at := 0
	for key := n.Key(); key.Next(); {
		at = int(key.Node().Raw.Offset + key.Node().Raw.Length)
	}
	for r.data[at] != '[' { // between them are spaces and an equals sign
		at++
	}
	a := &array{from: at}
	end := at + 1
	for it := value.Children(); it.Next(); {
		switch item := it.Node(); item.Kind {
		case unstable.String:
			a.items = append(a.items, *tomlToken(item))
			end = a.items[len(a.items)-1].to
		case unstable.Comment:
			end = int(item.Raw.Offset + item.Raw.Length)
		default:
			a.items = append(a.items, token{from: int(item.Raw.Offset), to: int(item.Raw.Offset + item.Raw.Length)})
			end = max(end, a.items[len(a.items)-1].to)
		}
	}
	for comment := false; end < len(r.data) && (comment || r.data[end] != ']'); end++ {
		comment = r.data[end] == '#' || comment && r.data[end] != '\n'
	}
	a.to = min(end+1, len(r.data))
	return a
}

func tomlSeconds(n *unstable.Node) time.Duration {
	s, err := strconv.ParseFloat(strings.ReplaceAll(string(n.Data), "_", ""), 64)
	if err != nil || s <= 0 || s > 1e6 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
