package claude

import (
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/verdict"
)

// records says how claude keeps its sessions: a line for each block of a message, in a chain by their ids.
var records = history.Format{Find: findTranscript, Read: readRecord, Cut: cutRecord, Result: resultRecord, Link: linkRecord, CacheApart: true, Heals: heals}

// heals: as measured with 2.0.77 and 2.1.325, see docs/sessions.md. From 2.1 on, calls and results are made to fit each time that a session is resumed; 2.1.325 also leaves out
// what the service has refused, and asks again.
func heals(version string, f history.Flaw) bool {
	switch f {
	case history.Torn:
		return true
	case history.Unanswered, history.Unasked, history.CalledTwice, history.ToldTwice, history.Misplaced, history.Empty, history.Broken:
		return agent.CompareVersions(version, "2.1") >= 0
	case history.LargeImage, history.WrongImage, history.BadImage, history.Unsigned:
		return agent.CompareVersions(version, "2.1.325") >= 0
	}
	return false
}

// recordLine is a line of the record.
type recordLine struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	ID        string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Version   string    `json:"version"`
	Timestamp time.Time `json:"timestamp"`
	IsError   bool      `json:"isApiErrorMessage"`
	Message   struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   *tokens         `json:"usage"`
	} `json:"message"`
}

// recordBlock is a block of a message.
type recordBlock struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Call   string          `json:"tool_use_id"`
	Name   string          `json:"name"`
	Text   json.RawMessage `json:"text"`
	Think  json.RawMessage `json:"thinking"`
	Input  json.RawMessage `json:"input"`
	Inside json.RawMessage `json:"content"` // of a result
	Source struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
	} `json:"source"`
}

func readRecord(text []byte) (l history.Line, ok bool) {
	var line recordLine
	if agent.Lenient(json.Unmarshal(text, &line)) != nil || line.Type == "" {
		return l, false
	}
	l = history.Line{ID: line.ID, Parent: line.Parent, Version: line.Version, At: line.Timestamp, Restarts: line.Subtype == "compact_boundary"}
	if line.Type != "user" && line.Type != "assistant" {
		return l, true
	}
	parts := readContent(line.Message.Content, nil)
	if line.IsError {
		l.Refused = refusal(parts)
		return l, true
	}
	l.Role, l.Parts, l.Model = line.Type, parts, line.Message.Model
	if u := line.Message.Usage; u != nil && l.Model != "<synthetic>" {
		used := u.usage()
		l.Usage = &used
	}
	return l, true
}

// refusal is what claude says of an error, if that is about the history.
func refusal(parts []history.Part) string {
	for _, p := range parts {
		var text string
		json.Unmarshal(p.Text, &text)
		v, ok := textRules.Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(text)}, time.Time{})
		if ok && (v.Class == verdict.SessionBroken || v.Class == verdict.TooLarge) {
			return text
		}
	}
	return ""
}

var callIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })

// readContent adds the blocks of a message, and those inside them, to parts.
func readContent(content json.RawMessage, parts []history.Part) []history.Part {
	if len(content) > 0 && content[0] == '"' {
		return append(parts, textPart(content))
	}
	var blocks []recordBlock
	agent.Lenient(json.Unmarshal(content, &blocks))
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case "text":
			parts = append(parts, textPart(b.Text))
		case "thinking", "redacted_thinking":
			parts = append(parts, history.Part{Kind: history.Thinking, Text: b.Think})
		case "tool_use":
			p := history.Part{Kind: history.Call, ID: b.ID, Name: b.Name, Text: b.Input}
			if !callIDs().MatchString(b.ID) {
				p.Flaw = history.Nameless
			}
			parts = append(parts, p)
		case "server_tool_use":
			parts = append(parts, history.Part{Kind: history.Call, ID: b.ID, Name: b.Name, Text: b.Input, Served: true})
		case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result":
			parts = append(parts, history.Part{Kind: history.Result, ID: b.Call})
		case "tool_result":
			parts = append(parts, history.Part{Kind: history.Result, ID: b.Call, Text: b.Inside})
			if len(b.Inside) > 0 && b.Inside[0] == '[' {
				n := len(parts)
				parts = readContent(b.Inside, parts)
				for i := range parts[n:] {
					parts[n+i].Inside = true
				}
			}
		case "image":
			p := history.Part{Kind: history.Image}
			if b.Source.Type == "base64" {
				p.Flaw = history.ImageFlaw(b.Source.Media, b.Source.Data)
			}
			parts = append(parts, p)
		case "document", "search_result", "container_upload", "tool_reference", "mcp_tool_use", "mcp_tool_result":
			parts = append(parts, history.Part{Kind: history.Other})
		default:
			parts = append(parts, history.Part{Kind: history.Unknown})
		}
	}
	return parts
}

func textPart(text json.RawMessage) history.Part {
	p := history.Part{Kind: history.Text, Text: text}
	if len(text) <= len(`""`) {
		p.Flaw = history.Empty
	}
	return p
}

// imageNote takes the place of an image.
const imageNote = "[An image was here. The service refused it, and it was left out when the session was repaired.]"

// lostResult is the result of a call that has none.
const lostResult = "[The session ended before the result of this call was recorded, so it is not known. Check whether it took effect.]"

// cutRecord leaves parts out, in the order of readContent.
func cutRecord(text []byte, parts map[int]bool) []byte {
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		n := 0
		line["message"] = history.Rewrite(line["message"], func(m map[string]json.RawMessage) { m["content"] = cutContent(m["content"], parts, &n) })
	})
}

func cutContent(content json.RawMessage, parts map[int]bool, n *int) json.RawMessage {
	if len(content) > 0 && content[0] == '"' {
		*n++
		return content
	}
	var blocks, kept []json.RawMessage
	json.Unmarshal(content, &blocks)
	for _, raw := range blocks {
		var b recordBlock
		agent.Lenient(json.Unmarshal(raw, &b))
		cut := parts[*n]
		*n++
		if b.Type == "tool_result" && len(b.Inside) > 0 && b.Inside[0] == '[' {
			raw = history.Rewrite(raw, func(m map[string]json.RawMessage) { m["content"] = cutContent(b.Inside, parts, n) })
		}
		switch {
		case cut && b.Type == "image":
			kept = append(kept, history.JSON(map[string]string{"type": "text", "text": imageNote}))
		case !cut:
			kept = append(kept, raw)
		}
	}
	return history.JSON(kept)
}

// resultRecord gives a call a result, in a line like that of the call.
func resultRecord(text []byte, call, id, parent string) []byte {
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		for _, own := range []string{"requestId", "apiBlockIndex", "toolInputStreamMs"} {
			delete(line, own)
		}
		line["type"], line["uuid"], line["parentUuid"] = history.JSON("user"), history.JSON(id), history.JSON(parent)
		line["message"] = history.JSON(map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": call, "content": lostResult, "is_error": true}}})
	})
}

func linkRecord(text []byte, parent string) []byte {
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		line["parentUuid"] = json.RawMessage("null")
		if parent != "" {
			line["parentUuid"] = history.JSON(parent)
		}
	})
}
