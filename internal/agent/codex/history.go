package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/verdict"
)

// records says how codex keeps its sessions: a line for each item of the history, below one that says whose it is.
var records = history.Format{Find: findRecord, Read: readRecord, Body: "payload", Text: "input_text", Result: resultRecord, Head: headRecord, Kept: 24 * time.Hour, Heals: heals}

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
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Version string          `json:"cli_version"`
		Dir     string          `json:"cwd"`
		Call    string          `json:"call_id"`
		Name    string          `json:"name"`
		Args    json.RawMessage `json:"arguments"`
		Input   json.RawMessage `json:"input"`
		Output  json.RawMessage `json:"output"`
		Content history.Blocks  `json:"content"`
		Usage   *tokens         `json:"usage"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"payload"`
}

// otherItems are the items that say nothing that is looked at here.
var otherItems = []string{"web_search_call", "image_generation_call", "compaction", "compaction_summary", "context_compaction", "ghost_snapshot", "additional_tools", "other"}

// calls are the items that call tools, and results those that answer them. When codex resumes a thread, it leaves out what it does not know.
var (
	calls   = []string{"function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call", "tool_search_call"}
	results = []string{"function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output", "tool_search_output"}
)

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
		l.ID = p.ID
		l.Role, l.Parts = readItem(&line)
	}
	return l, true
}

func readItem(line *recordLine) (role string, parts []history.Part) {
	p := &line.Payload
	switch {
	case p.Type == "message":
		return p.Role, p.Content.Parts(false)
	case p.Type == "reasoning":
		return "assistant", []history.Part{{Kind: history.Thinking}}
	case slices.Contains(results, p.Type) && p.Call != "":
		return "tool", append([]history.Part{{Kind: history.Result, ID: p.Call, Text: p.Output}}, history.InList(p.Output)...)
	case slices.Contains(calls, p.Type) && p.Call != "":
		input := p.Args
		if input == nil {
			input = p.Input
		}
		return "assistant", []history.Part{{Kind: history.Call, ID: p.Call, Name: p.Name, Text: input}}
	case slices.Contains(otherItems, p.Type):
		return "assistant", []history.Part{{Kind: history.Other}}
	}
	return "assistant", []history.Part{{Kind: history.Unknown}}
}

// resultRecord gives a call the result that codex itself gives one which has none.
func resultRecord(text []byte, call, _ string) []byte {
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

// headRecord is the least that a record begins with.
func headRecord(session, dir string, at time.Time) []byte {
	begun := at.UTC().Format("2006-01-02T15:04:05.000Z")
	return history.JSON(map[string]any{"timestamp": begun, "type": "session_meta", "payload": map[string]any{"id": session, "session_id": session, "timestamp": begun,
		"cwd": cmp.Or(dir, "/"), "originator": "codex_exec", "cli_version": "0.0.0", "source": "exec"}})
}
