package config

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// lineNumbers maps each dotted key of a document to its line. The document is known to be well-formed.
func lineNumbers(data []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	var prefix []string
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		line := 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			key = append(key, string(n.Data))
			if line == 0 {
				line = p.Shape(n.Raw).Start.Line
			}
		}
		full := key
		if e.Kind == unstable.KeyValue {
			full = append(append([]string(nil), prefix...), key...)
		} else {
			prefix = key
		}
		for i := range full {
			if k := strings.Join(full[:i+1], "."); lines[k] == 0 {
				lines[k] = line
			}
		}
	}
	return lines
}
