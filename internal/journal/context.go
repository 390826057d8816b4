package journal

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/redact"
)

// The bounds of a context: as much as surely fits into a line beside the rest.
const (
	maxKeys  = 20
	maxKey   = 64
	maxValue = 500
	maxRead  = 8 * maxValue // of a value that is cut anyway
)

// Context makes a piece of an entry's Detail of what a program says about a failure of its own: redacted and bounded like
// error text. What by its name is a prompt, an input, an output or an environment is kept as hash and size only. Of more
// than 20 values the first in the order of their names are kept, and the number of the others under "…".
func Context(values map[string]any) json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(values))
	kept := map[string]json.RawMessage{}
	for _, name := range names[:min(len(names), maxKeys)] {
		kept[cut(name, maxKey)] = contextValue(name, values[name])
	}
	if more := len(names) - maxKeys; more > 0 {
		kept["…"] = json.RawMessage(fmt.Sprint(more))
	}
	data, _ := json.Marshal(kept) // valid JSON all through
	return data
}

// contextValue is one value as it may be stored.
func contextValue(name string, value any) json.RawMessage {
	data := encoded(value)
	switch {
	case namesContent(name):
		sum := sha256.Sum256(content(data))
		return encoded(map[string]any{"sha256": hex.EncodeToString(sum[:]), "bytes": len(content(data))})
	case redact.NamesSecret(name) && string(data) != "null":
		return encoded(redact.Marker)
	}
	if len(data) > maxRead { // not all of it is worth a search for secrets
		text := redact.Text(cut(string(content(data)), maxRead))
		return encoded(cut(text, max(0, min(maxValue, len(text)-maxValue)))) // its end may be half of one
	}
	data = eachText(data, redact.Text)
	if len(data) <= maxValue {
		return data
	}
	return encoded(cut(string(content(data)), maxValue))
}

// content is the text of a JSON string, or JSON that is none as it is.
func content(data json.RawMessage) []byte {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []byte(text)
	}
	return data
}

// namesContent reports whether a field of that name holds what is never stored: what an agent was told, or has said.
func namesContent(name string) bool {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	for _, word := range []string{"prompt", "input", "output", "stdin", "stdout", "stderr", "messages", "environment", "environ", "env"} {
		if name == word || strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

// encoded is a value as JSON. One that has no such form, or a method that panics over it, is named by its type.
func encoded(value any) (data json.RawMessage) {
	defer func() {
		if recover() != nil {
			data, _ = json.Marshal(fmt.Sprintf("%T", value))
		}
	}()
	switch v := value.(type) {
	case error:
		value = v.Error()
	case json.Marshaler, encoding.TextMarshaler: // such as a time
	case fmt.Stringer:
		value = v.String()
	}
	data, err := json.Marshal(value)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprintf("%T", value))
	}
	return data
}
