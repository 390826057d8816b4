package codex

import (
	"bytes"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/belay-run/belay/internal/safefile"
)

// maxConfig is how much of a config file is read: what we look for is set by hand.
const maxConfig = 256 << 10

// readConfig takes the values that we look for from a config file. Of one that is not TOML it takes those before the mistake,
// which is codex's to report.
//
// It uses the parser of go-toml and not its Unmarshal, which costs two to three times as much for a usual file, and fifty
// times for one of 245 KB (docs/dependencies.md).
func readConfig(path string, values map[string]string) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return
	}
	defer f.Close()
	var data bytes.Buffer
	if info, err := f.Stat(); err == nil {
		data.Grow(int(min(info.Size(), maxConfig)) + bytes.MinRead)
	}
	data.ReadFrom(io.LimitReader(f, maxConfig))
	var p unstable.Parser
	p.Reset(data.Bytes())
	table, inside := "", true // the table that a value stands in, and whether we look for any in it
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			if inside = concerns(e); inside {
				table = dotted(e) + "."
			}
		} else if inside && (table != "" || concerns(e)) {
			setConfig(values, table+dotted(e), e.Value())
		}
	}
}

// concerns reports whether a key begins as one that we look for does. A config can have thousands of others, for instance a
// table for each project.
func concerns(n *unstable.Node) bool {
	it := n.Key()
	if !it.Next() {
		return false
	}
	switch string(it.Node().Data) {
	case "model", "model_provider", "openai_base_url", "model_providers", "mcp_servers", "features":
		return true
	}
	return false
}

// setOverride reads the value of -c key=value. As for codex, what is not a value in TOML is a string.
func setOverride(values map[string]string, key, text string) {
	key = strings.ReplaceAll(key, `"`, "")
	var p unstable.Parser
	p.Reset([]byte("value = " + text))
	if p.NextExpression() {
		setConfig(values, key, p.Expression().Value())
	} else if wanted(key) {
		values[key] = strings.Trim(text, `"'`)
	}
}

// setConfig keeps a value of the config, or those in an inline table, if we look for them.
func setConfig(values map[string]string, key string, value *unstable.Node) {
	if value.Kind != unstable.InlineTable {
		if wanted(key) {
			values[key] = string(value.Data)
		}
		return
	}
	for it := value.Children(); it.Next(); {
		setConfig(values, key+"."+dotted(it.Node()), it.Node().Value())
	}
}

// What the config says of waits, beside those of a provider.
const (
	keyUnbounded   = "features.unbounded_connection_retries"
	keyServers     = "mcp_servers."
	keyToolTimeout = ".tool_timeout_sec" // of a server
)

// wanted reports whether a value says where codex goes, to which model, or how long it waits.
func wanted(key string) bool {
	switch key {
	case "model", "model_provider", "openai_base_url", keyUnbounded:
		return true
	}
	return strings.HasPrefix(key, "model_providers.") || strings.HasPrefix(key, keyServers) && strings.HasSuffix(key, keyToolTimeout)
}

// dotted is the key of a table or of a value, without quotes.
func dotted(n *unstable.Node) string {
	var key []byte
	for it := n.Key(); it.Next(); {
		if key != nil {
			key = append(key, '.')
		}
		key = append(key, it.Node().Data...)
	}
	return string(key)
}
