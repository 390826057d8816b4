package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckDecision(t *testing.T) {
	for _, good := range []string{"", "\n", "plain text", "all {is} well", "[1, 2", "\"x", `{}`, " \n{\"a\": [1, {\"b\": null}]}\n", "\uFEFF{}", "{\"a\":1}\n{\"b\":2}\n",
		`{"async":true}`, strings.Repeat(" ", 6000) + "x"} {
		if err := checkDecision([]byte(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"{", "{\n", `{"a":`, `{"a":1`, `{"a":1,}`, `{a:1}`, `{'a':1}`, `{"a":1} and more`, `{"a":1}}`, `{"a":01}`, "{\"a\":\"\n\"}", "\uFEFF{", "{} {", `{"a" "b"}`, "{hello}"} {
		if err := checkDecision([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a decision", bad)
		}
	}
}

// What is one JSON value is a decision, what does not begin as an object is text; and
// nothing that is cut short is one.
func FuzzCheckDecision(f *testing.F) {
	for _, s := range []string{"", "x", "{}", `{"a":[1,2,{"b":"c"}]}`, "{\"a\":1}\n{}", `{"a":`, "\uFEFF {", `{"async":true}`, "{\"\\u00e4\":1e5}", "{\xff}", `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := checkDecision(text)
		object := isObject(text)
		switch {
		case !object && err != nil:
			t.Errorf("%q: text is refused", text)
		case object && json.Valid(trimLeft(text)) && err != nil:
			t.Errorf("%q: an object is refused", text)
		case object && err == nil:
			// Then it is made of whole values.
			dec := json.NewDecoder(bytes.NewReader(trimLeft(text)))
			for dec.More() {
				var v json.RawMessage
				if derr := dec.Decode(&v); derr != nil {
					t.Errorf("%q is taken for a decision: %v", text, derr)
					return
				}
			}
		}
		if announcesAsync(text) && err != nil {
			t.Errorf("%q announces something and is none", text)
		}
		h := &held{}
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 3)
			h.Write(rest[:n])
			rest = rest[n:]
		}
		if !bytes.Equal(h.memory.Bytes(), text) {
			t.Errorf("%q is held as %q", text, h.memory.Bytes())
		}
	})
}

func TestReadEvent(t *testing.T) {
	for text, want := range map[string]event{
		`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"session_id":"no","source":"no"}}`: {"PreToolUse", "Bash", "s"},
		`{"tool_input":{"hook_event_name":"no"},"hook_event_name":"PostToolUse","tool_name":"Edit"}`:                          {"PostToolUse", "Edit", ""},
		`{"hook_event_name":"SessionStart","source":"startup","session_id":"s"`:                                               {"SessionStart", "startup", "s"},
		`{"conversation_id":"c","hook_event_name":"beforeShellExecution","command":"rm","workspace_roots":["/x"]}`:            {"beforeShellExecution", "", "c"},
		`{"session_id":"s","conversation_id":"c","hook_event_name":"sessionEnd","reason":"completed"}`:                        {"sessionEnd", "completed", "s"},
		`{"session_id":"s","hook_event_name":"PreCompress","trigger":"auto"}`:                                                 {"PreCompress", "auto", "s"},
		`{"hook_event_name":"SessionEnd","reason":"other"}`:                                                                   {"SessionEnd", "other", ""},
		`{"hook_event_name":"Stop","last_assistant_message":"cut o`:                                                           {"Stop", "", ""},
		`{"hook_event_name":7,"session_id":{}}`:                                                                               {},
		`not json`:                                                                                                            {}, ``: {}, `[]`: {},
		`{"hook_event_name":"` + strings.Repeat("ä", 1000) + `"}`: {strings.Repeat("ä", 100) + "…", "", ""},
	} {
		if got := readEvent([]byte(text)); got != want {
			t.Errorf("%.100q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if e := readEvent(text); len(e.name)+len(e.action)+len(e.session) > 3*(4*100+len("…")) {
			t.Errorf("%+v", e)
		}
	})
}
