package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// failure is why a command has not decided anything.
type failure struct {
	class  verdict.Class
	text   string
	code   int // its exit code, if it had one
	signal syscall.Signal
}

func failed(text string) *failure { return &failure{class: verdict.Unknown, text: text} }

// missing is the failure of a command that could not be started.
func missing(err error) *failure {
	code := 126
	if errors.Is(err, os.ErrNotExist) {
		code = 127
	}
	return &failure{class: verdict.ToolMissing, text: "could not be started: " + err.Error(), code: code}
}

// judge says whether the command has decided on purpose; a nil failure means that it has. decided says that it has failed
// and has decided all the same: claude obeys a JSON object whatever the exit code is, and a "deny" must not get lost
// because of what came after it.
func judge(exit supervise.Exit, timeout time.Duration, out *held) (f *failure, decided bool) {
	f = &failure{class: verdict.Unknown, code: exit.Code, signal: exit.Signal}
	switch {
	case exit.Reason == supervise.Deadline:
		f.class, f.text = verdict.Timeout, fmt.Sprintf("exceeded its timeout (%s) and was terminated", message.Seconds(timeout))
		return f, false
	case exit.Reason == supervise.Exceeded:
		f.class, f.text = verdict.Resources, message.UsedMemory(exit.Excess.Value, exit.Excess.Limit)+" and was terminated. Largest: "+exit.Excess.Names(message.MemoryOf)
		return f, false
	case exit.Reason != supervise.Exited:
		f.class, f.text = verdict.Interrupted, "was interrupted"
		return f, false
	case exit.Signal == 0 && exit.Code == Block: // whatever it has printed
		return nil, true
	case out.err != nil:
		f.text = fmt.Sprintf("printed output that could not be held: %v", out.err)
		return f, false
	case exit.Signal != 0:
		f.class, f.text = verdict.Crash, "was killed by "+signalName(exit.Signal)
	case exit.Code == 127:
		f.class, f.text = verdict.ToolMissing, "exited 127: command not found"
	case exit.Code == 126:
		f.class, f.text = verdict.ToolMissing, "exited 126: command not executable"
	case exit.Code > 128 && exit.Code < 128+65:
		f.class, f.text = verdict.Crash, fmt.Sprintf("exited %d: a command in it was killed by %s", exit.Code, signalName(syscall.Signal(exit.Code-128)))
	case exit.Code != GoOn:
		f.text = fmt.Sprintf("exited %d", exit.Code)
	default:
		if err := out.check(); err != nil {
			f.class, f.text = verdict.BadOutput, err.Error()
			return f, false
		}
		return nil, true
	}
	return f, out.isObject()
}

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
