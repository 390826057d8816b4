package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// event is what the client has called for, as far as it may be on record: no prompt, no tool input.
type event struct{ name, action, session string }

// readEvent looks into the beginning of what the client has sent, which may be cut off anywhere. Only the keys of the
// outermost object count: what a tool was given may have the same names in it.
func readEvent(head []byte) (e event) {
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return e
	}
	actions, conversation := map[string]string{}, ""
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var value any
		if dec.Decode(&value) != nil {
			break
		}
		text, _ := value.(string)
		switch key {
		case "hook_event_name":
			e.name = clip(text)
		case "session_id":
			e.session = clip(text)
		case "conversation_id": // what Cursor has at most events
			conversation = clip(text)
		case "tool_name", "source", "reason", "trigger", "notification_type", "agent_type":
			actions[key.(string)] = clip(text)
		}
	}
	e.session = cmp.Or(e.session, conversation)
	e.action = cmp.Or(actions[actionKey[e.name]], actions["tool_name"])
	return e
}

// actionKey is what each event is about, besides a tool: the same that clients match hooks by.
var actionKey = map[string]string{
	"SessionStart": "source", "SessionEnd": "reason", "PreCompact": "trigger", "PostCompact": "trigger",
	"PreCompress": "trigger", "preCompact": "trigger", "sessionEnd": "reason", "Notification": "notification_type", "SubagentStart": "agent_type", "SubagentStop": "agent_type",
}

// clip shortens a name that comes from the client.
func clip(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}
