package scenario

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places are where the values of a file stand, by their keys joined with a zero byte.
type places map[string]struct{ from, to int }

func placesOf(data []byte) places {
	p := places{}
	var parser unstable.Parser
	parser.Reset(data)
	var table []string
	for parser.NextExpression() {
		if e := parser.Expression(); e.Kind == unstable.KeyValue {
			p.pair(data, table, e)
		} else {
			table, _ = keyOf(e)
		}
	}
	return p
}

// keyOf is the key of a table or a pair, and where it ends.
func keyOf(e *unstable.Node) (key []string, end int) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		key, end = append(key, string(n.Data)), int(n.Raw.Offset+n.Raw.Length)
	}
	return key, end
}

// pair notes where a value stands, and those of a table in braces.
func (p places) pair(data []byte, table []string, e *unstable.Node) {
	key, from := keyOf(e)
	key = slices.Concat(table, key)
	from += bytes.IndexFunc(data[from:], func(r rune) bool { return !strings.ContainsRune(" \t=", r) })
	to := from + bytes.IndexAny(append(data[from:len(data):len(data)], '\n'), ",}# \t\r\n")
	switch value := e.Value(); value.Kind {
	case unstable.InlineTable:
		for it := value.Children(); it.Next(); {
			p.pair(data, key, it.Node())
		}
	case unstable.String:
		to = from + int(value.Raw.Length)
	}
	p[strings.Join(key, "\x00")] = struct{ from, to int }{from, to}
}

// find is the key by which a value of a scenario stands in its file: that of the last of its variations that has it, else that of the file itself. It is empty if
// the value is not there, but in a file that this one extends.
func (s *Scenario) find(p places, key ...string) string {
	for _, varied := range slices.Backward(append([][]string{nil}, s.varied...)) {
		full := strings.Join(slices.Concat(varied, key), "\x00")
		if _, there := p[full]; there {
			return full
		}
	}
	return ""
}
