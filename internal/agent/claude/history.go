package claude

import (
	"encoding/json"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/verdict"
)

// records says how claude keeps its sessions: a line for each block of a message, in a chain by their ids.
var records = history.Format{Find: findTranscript, Read: readRecord, Body: "message", Parent: "parentUuid", Result: resultRecord,
	Kept: 5 * time.Minute, Heals: heals}

// heals: as measured with 2.0.77 and 2.1.325, see docs/sessions.md. From 2.1 on, calls and results are made to fit each time that a session is resumed; 2.1.325 also leaves out
// what the service has refused, and asks again.
func heals(version string, f history.Flaw) bool {
	switch f {
	case history.Torn, history.Doubled:
		return true
	case history.Unanswered, history.Unasked, history.Twice, history.Empty, history.Broken:
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
		Role    string         `json:"role"`
		Model   string         `json:"model"`
		Content history.Blocks `json:"content"`
		Usage   *messageUsage  `json:"usage"`
	} `json:"message"`
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
	if line.ID == "" || line.Message.Role != line.Type {
		return l, false
	}
	parts := line.Message.Content.Parts()
	if len(parts) == 0 { // or it is a text
		var said struct {
			Message struct{ Content json.RawMessage }
		}
		json.Unmarshal(text, &said)
		parts = history.Blocks{{Type: "text", Text: said.Message.Content}}.Parts()
	}
	if line.IsError {
		l.Refused = refusal(parts)
		return l, true
	}
	l.Role, l.Parts = line.Type, parts
	if m := line.Message; m.Usage != nil && m.Model != "<synthetic>" {
		used := m.Usage.call()
		l.Model, l.Used = m.Model, &used
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

// lostResult is the result of a call that has none.
const lostResult = "[The session ended before the result of this call was recorded, so it is not known. Check whether it took effect.]"

// resultRecord gives calls a result, in a line like theirs that follows it.
func resultRecord(text []byte, calls []string, id string) []byte {
	var results []any
	for _, call := range calls {
		results = append(results, map[string]any{"type": "tool_result", "tool_use_id": call, "content": lostResult, "is_error": true})
	}
	return history.Rewrite(text, func(line map[string]json.RawMessage) {
		for _, own := range []string{"requestId", "apiBlockIndex", "toolInputStreamMs"} {
			delete(line, own)
		}
		line["type"], line["parentUuid"], line["uuid"] = history.JSON("user"), line["uuid"], history.JSON(id)
		line["message"] = history.JSON(map[string]any{"role": "user", "content": results})
	})
}
