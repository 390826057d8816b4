package config

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// deepestKey is how many names a key of ours has at most, as in profile.qwen.event[2].when.type.
const deepestKey = 5

// lineNumbers maps each dotted key of a document to its line. A table that stands in a list has its place there too:
// profile.qwen.event[2] is the second. The document is known to be well-formed, but may be made to cost time: what is deeper than
// any key of ours is left out, and lines are counted once.
func lineNumbers(data []byte) map[string]int {
	lines := map[string]int{}
	places := map[string]int{} // how many tables a list has so far
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
		switch e.Kind {
		case unstable.KeyValue:
			full = append(append([]string(nil), prefix...), key...)
		case unstable.ArrayTable:
			places[strings.Join(key, ".")]++
			prefix = key
		default:
			prefix = key
		}
		plain, placed := "", ""
		for i := range min(len(full), deepestKey) {
			plain, placed = plain+full[i], placed+full[i]
			if n := places[plain]; n > 0 {
				placed += "[" + strconv.Itoa(n) + "]"
			}
			if lines[plain] == 0 {
				lines[plain] = line
			}
			if len(placed) > len(plain) && lines[placed] == 0 {
				lines[placed] = line
			}
			plain, placed = plain+".", placed+"."
		}
	}
	return lines
}

// lineOf is the line of a key or, of one that has none of its own, of the table that it stands in; 0 if that has none either.
func lineOf(lines map[string]int, key string) int {
	for {
		if line := lines[key]; line > 0 {
			return line
		}
		at := strings.LastIndexAny(key, ".[")
		if at < 0 {
			return 0
		}
		key = key[:at]
	}
}
