package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
)

// maxSaid is how much of a command's last words is kept, as JSON: the rest of the detail needs the room that is left of [maxDetail].
const maxSaid = 1500

// lastWords is the end of what a command has written to stderr, where programs say why they fail: a message, or a trace whose last line is
// the message. What it quotes of its input, which begins with head, and credentials are taken out before anything is cut off: half of one would not be
// recognised.
func lastWords(said string, head []byte) string {
	if len(said) >= supervise.MaxTail { // it begins in the middle of a word
		_, said, _ = strings.Cut(said, "\n")
	}
	if said = strings.TrimSpace(said); said == "" {
		return ""
	}
	asked, quoted := texts(head)
	known := redact.Known{Prompt: func() []string { return asked }, Quoted: func() []string { return quoted }}
	said = known.Text(said)
	for {
		data, _ := json.Marshal(said)
		if len(data) <= maxSaid {
			return said
		}
		r := []rune(said)
		said = string(r[len(r)/4:])
		if _, whole, ok := strings.Cut(said, "\n"); ok {
			said = whole
		}
	}
}

// texts are what a client has sent and what may not be on record: the prompts, and all else that is not a name.
func texts(head []byte) (asked, quoted []string) {
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, []string{string(head)}
	}
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		name, _ := key.(string)
		switch {
		case err != nil: // it is cut off
			return asked, append(quoted, string(head[dec.InputOffset():]))
		case name == "prompt":
			var text string
			json.Unmarshal(value, &text)
			asked = append(asked, text)
		case !slices.Contains(names, name):
			quoted = append(quoted, string(value))
		}
	}
	return asked, quoted
}

// names are the keys of what traces show for good reasons, and what is no secret.
var names = []string{"hook_event_name", "session_id", "conversation_id", "transcript_path", "cwd", "permission_mode", "tool_name", "workspace_roots"}
