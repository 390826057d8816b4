package codex

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/verdict"
)

// records says how codex keeps its sessions: a line for each item of the history, below one that says whose it is.
var records = history.Format{Find: findRecord, Read: readRecord, Cut: cutRecord, Result: resultRecord, Head: headRecord, Heals: heals}

func findRecord(home, session string) string {
	if !agent.IsUUID(session) {
		return ""
	}
	return findRollout(home, session)
}

// heals: as measured with 0.166.0, see docs/sessions.md.
func heals(_ string, f history.Flaw) bool {
	switch f {
	case history.Torn, history.Unanswered, history.Unasked, history.BadImage:
		return true
	}
	return false
}

// recordLine is a line of the record, and its payload that of an item.
type recordLine struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Version string          `json:"cli_version"`
		Call    *string         `json:"call_id"`
		Name    string          `json:"name"`
		Args    json.RawMessage `json:"arguments"`
		Input   json.RawMessage `json:"input"`
		Output  json.RawMessage `json:"output"`
		Content json.RawMessage `json:"content"`
		Usage   *tokens         `json:"usage"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"payload"`
}

// recordPart is a part of a message, or of what a tool has said.
type recordPart struct {
	Type string          `json:"type"`
	Text json.RawMessage `json:"text"`
	URL  string          `json:"image_url"`
}

// otherItems are the items that say nothing that is looked at here.
var otherItems = []string{"web_search_call", "image_generation_call", "compaction", "compaction_summary", "context_compaction", "ghost_snapshot", "additional_tools", "other"}

func readRecord(text []byte) (l history.Line, ok bool) {
	var line recordLine
	if !utf8.Valid(text) || agent.Lenient(json.Unmarshal(text, &line)) != nil || line.Type == "" || line.Timestamp.IsZero() {
		return l, false
	}
	p := &line.Payload
	l = history.Line{At: line.Timestamp, Version: p.Version, Begins: line.Type == "session_meta", Restarts: line.Type == "compacted"}
	switch line.Type {
	case "turn_context":
		l.Model = p.Model
	case "token_usage_record":
		if p.Usage != nil {
			used := p.Usage.call("").Used
			l.Usage = &used
		}
	case "event_msg":
		if p.Type == "task_complete" && p.Error != nil {
			if v := classify(p.Error.Message, line.Timestamp); v.Class == verdict.SessionBroken || v.Class == verdict.TooLarge {
				l.Refused = p.Error.Message
			}
		}
	case "response_item":
		l.Role, l.Parts = readItem(&line)
	}
	return l, true
}

func readItem(line *recordLine) (role string, parts []history.Part) {
	p := &line.Payload
	call := ""
	if p.Call != nil {
		call = *p.Call
	}
	switch {
	case p.Type == "message":
		return p.Role, readParts(p.Content, p.Role, nil)
	case p.Type == "reasoning":
		return "assistant", []history.Part{{Kind: history.Thinking}}
	case strings.HasSuffix(p.Type, "_call_output") && call != "":
		parts = []history.Part{{Kind: history.Result, ID: call, Text: p.Output}}
		return "tool", readParts(p.Output, "tool", parts)
	case strings.HasSuffix(p.Type, "_call") && call != "":
		input := p.Args
		if input == nil {
			input = p.Input
		}
		return "assistant", []history.Part{{Kind: history.Call, ID: call, Name: p.Name, Text: input}}
	case slices.Contains(otherItems, p.Type):
		return "assistant", []history.Part{{Kind: history.Other}}
	}
	return "assistant", []history.Part{{Kind: history.Unknown}}
}

func readParts(list json.RawMessage, role string, parts []history.Part) []history.Part {
	if len(list) == 0 || list[0] != '[' {
		return parts
	}
	var all []recordPart
	agent.Lenient(json.Unmarshal(list, &all))
	for _, one := range all {
		switch one.Type {
		case "input_image":
			p := history.Part{Kind: history.Image, Inside: role == "tool"}
			if of, data, ok := strings.Cut(one.URL, ";base64,"); ok {
				p.Flaw = history.ImageFlaw(strings.TrimPrefix(of, "data:"), data)
			}
			parts = append(parts, p)
		case "input_text", "output_text":
			parts = append(parts, history.Part{Kind: history.Text, Text: one.Text, Inside: role == "tool"})
		default:
			parts = append(parts, history.Part{Kind: history.Other, Inside: role == "tool"})
		}
	}
	return parts
}

// imageNote takes the place of an image.
const imageNote = "[An image was here. The service refused it, and it was left out when the session was repaired.]"

// cutRecord leaves parts out, in the order of readItem.
func cutRecord(text []byte, parts map[int]bool) []byte {
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		line["payload"] = history.Rewrite(line["payload"], func(item map[string]json.RawMessage) {
			name, n := "content", 0
			if item["output"] != nil {
				name, n = "output", 1
			}
			var all, kept []json.RawMessage
			json.Unmarshal(item[name], &all)
			for _, raw := range all {
				switch {
				case !parts[n]:
					kept = append(kept, raw)
				case bytes.Contains(raw, []byte(`"input_image"`)):
					kept = append(kept, history.JSON(map[string]string{"type": "input_text", "text": imageNote}))
				}
				n++
			}
			item[name] = history.JSON(kept)
		})
	})
}

// resultRecord gives a call the result that codex itself gives one which has none.
func resultRecord(text []byte, call, _, _ string) []byte {
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		var of recordLine
		agent.Lenient(json.Unmarshal(text, &of))
		kind := of.Payload.Type
		if kind == "local_shell_call" {
			kind = "function_call"
		}
		line["payload"] = history.JSON(map[string]any{"type": kind + "_output", "call_id": call, "output": "aborted"})
	})
}

// headRecord is the least that a record begins with, by the time of another line.
func headRecord(session string, text []byte) []byte {
	var of recordLine
	agent.Lenient(json.Unmarshal(text, &of))
	at := of.Timestamp.UTC().Format("2006-01-02T15:04:05.000Z")
	return history.JSON(map[string]any{"timestamp": at, "type": "session_meta", "payload": map[string]any{"id": session, "session_id": session, "timestamp": at, "cwd": "/",
		"originator": "codex_exec", "cli_version": "0.0.0", "source": "exec"}})
}
