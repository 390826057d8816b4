package config

import (
	"bytes"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// deepestKey is how many names a key of ours has at most, as in profile.claude.max_retries.
const deepestKey = 3

// lineNumbers maps each dotted key of a document to its line. The document is known to be well-formed, but may be made to
// cost time: what is deeper than any key of ours is left out, and lines are counted once.
func lineNumbers(data []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	var prefix []string
	line, counted := 1, 0
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		for it := e.Key(); it.Next() && len(key) < deepestKey; {
			n := it.Node()
			key = append(key, string(n.Data))
			if at := int(n.Raw.Offset); at > counted {
				line += bytes.Count(data[counted:at], []byte("\n"))
				counted = at
			}
		}
		full := key
		if e.Kind == unstable.KeyValue {
			full = append(append([]string(nil), prefix...), key...)
		} else {
			prefix = key
		}
		for i := range min(len(full), deepestKey) {
			if k := strings.Join(full[:i+1], "."); lines[k] == 0 {
				lines[k] = line
			}
		}
	}
	return lines
}
