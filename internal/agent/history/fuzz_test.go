package history

import (
	"encoding/json"
	"testing"
)

// Whatever is in a line: its parts can be read and left out, each by itself and all together, and what is left is a line.
func FuzzFormat_Cut(f *testing.F) {
	f.Add([]byte(`{"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":""}]},{"type":"thinking"}]}}`))
	f.Add([]byte(`{"message":{"type":"function_call_output","output":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}}`))
	f.Add([]byte(`{"message":{"role":"user","content":"text"}}`))
	format := &Format{Body: "message", Parent: "parentUuid"}
	f.Fuzz(func(t *testing.T, text []byte) {
		var l struct{ Message Block }
		if json.Unmarshal(text, &l) != nil {
			return
		}
		all := map[int]bool{}
		for i := range l.Message.Parts() {
			format.changed(text, &line{cut: map[int]bool{i: i%2 == 0}})
			all[i] = false
		}
		if left := format.changed(text, &line{cut: all, parent: "x"}); !json.Valid(left) {
			t.Errorf("%q is left", left)
		}
	})
}
