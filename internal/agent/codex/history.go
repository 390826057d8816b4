package codex

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/verdict"
)

// records says how codex keeps its sessions: a line for each item of the history, below one that says whose it is.
var records = history.Format{Find: findRollout, Read: readRecord, Body: "payload", Result: resultRecord, Head: headRecord,
	Kept: 24 * time.Hour, Heals: heals}

// heals: as measured with 0.166.0, see docs/sessions.md.
func heals(_ string, f history.Flaw) bool {
	switch f {
	case history.Torn, history.Unanswered, history.Unasked, history.BadImage:
		return true
	}
	return false
}

// recordLine is a line of the record. The payload of a response_item is an item of the history.
type recordLine struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		history.Block
		Model   string  `json:"model"`
		Version string  `json:"cli_version"`
		Dir     string  `json:"cwd"`
		Usage   *tokens `json:"usage"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"payload"`
}

func readRecord(text []byte) (l history.Line, ok bool) {
	var line recordLine
	if !utf8.Valid(text) || agent.Lenient(json.Unmarshal(text, &line)) != nil || line.Type == "" || line.Timestamp.IsZero() {
		return l, false
	}
	p := &line.Payload
	l = history.Line{At: line.Timestamp, Version: p.Version, Begins: line.Type == "session_meta", Restarts: line.Type == "compacted"}
	switch line.Type {
	case "turn_context":
		l.Model, l.Dir = p.Model, p.Dir
	case "token_usage_record":
		if p.Usage != nil {
			used := p.Usage.call("").Price
			l.Used = &used
		}
	case "event_msg":
		if p.Type == "task_complete" && p.Error != nil {
			if v := classify(p.Error.Message, line.Timestamp); v.Class == verdict.SessionBroken || v.Class == verdict.TooLarge {
				l.Refused = p.Error.Message
			}
		}
	case "response_item":
		l.ID, l.Role, l.Parts = p.ID, cmp.Or(p.Role, "assistant"), p.Parts()
		if len(l.Parts) > 0 && l.Parts[0].Kind == history.Result {
			l.Role = "tool"
		}
	}
	return l, true
}

// resultRecord gives a call the result that codex itself gives one which has none.
func resultRecord(text []byte, calls []string, _ string) []byte {
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		var of recordLine
		agent.Lenient(json.Unmarshal(text, &of))
		kind := strings.Replace(of.Payload.Type, "local_shell_call", "function_call", 1)
		line["payload"] = history.JSON(map[string]any{"type": kind + "_output", "call_id": calls[0], "output": "aborted"})
	})
}

// headRecord is the least that a record begins with.
func headRecord(session, dir string) []byte {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	return history.JSON(map[string]any{"timestamp": now, "type": "session_meta", "payload": map[string]any{"id": session, "session_id": session, "timestamp": now,
		"cwd": cmp.Or(dir, "/"), "originator": "codex_exec", "cli_version": "0.0.0", "source": "exec"}})
}
