package history

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// Blocks are the parts of a message, as either API has them.
type Blocks []block

type block struct {
	Type, ID, Name                 string
	Call                           string `json:"tool_use_id"`
	Text, Thinking, Input, Content json.RawMessage
	Source                         struct {
		Type, Data string
		Media      string `json:"media_type"`
	}
	URL string `json:"image_url"`
}

var kinds = map[string]Kind{
	"text": Text, "input_text": Text, "output_text": Text, "thinking": Thinking, "redacted_thinking": Thinking, "tool_use": Call, "server_tool_use": Call, "tool_result": Result,
	"image": Image, "input_image": Image, "document": Other, "search_result": Other, "container_upload": Other, "tool_reference": Other, "mcp_tool_use": Other, "mcp_tool_result": Other,
}

// kindOf: results of tools that the service runs are called after these, and there are more with each version.
func kindOf(name string) Kind {
	if kinds[name] == "" && strings.HasSuffix(name, "_tool_result") {
		return Result
	}
	return cmp.Or(kinds[name], Unknown)
}

var callIDs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })

// Parts are those of a message, with those inside of results.
func (blocks Blocks) Parts(inside bool) (parts []Part) {
	for i := range blocks {
		b := &blocks[i]
		p := Part{Kind: kindOf(b.Type), ID: cmp.Or(b.Call, b.ID), Name: b.Name, Served: b.Type == "server_tool_use", Inside: inside}
		for _, text := range []json.RawMessage{b.Text, b.Thinking, b.Input, b.Content} {
			if p.Text == nil {
				p.Text = text
			}
		}
		switch b.Type {
		case "text":
			if len(b.Text) <= len(`""`) {
				p.Flaw = Empty
			}
		case "tool_use":
			if !callIDs().MatchString(b.ID) {
				p.Flaw = Nameless
			}
		case "image":
			if b.Source.Type == "base64" {
				p.Flaw = imageFlaw(b.Source.Media, b.Source.Data)
			}
		case "input_image":
			if media, data, ok := strings.Cut(b.URL, ";base64,"); ok {
				p.Flaw = imageFlaw(strings.TrimPrefix(media, "data:"), data)
			}
		}
		parts = append(parts, p)
		if b.Type == "tool_result" && isList(b.Content) {
			parts = append(parts, InList(b.Content)...)
		}
	}
	return parts
}

// InList are the parts inside of a result, if that is a list.
func InList(content json.RawMessage) []Part {
	var blocks Blocks
	if isList(content) {
		json.Unmarshal(content, &blocks) // what is of another type than expected is not there
	}
	return blocks.Parts(true)
}

func isList(text json.RawMessage) bool { return len(text) > 0 && text[0] == '[' }

// imageNote takes the place of an image.
const imageNote = "[An image was here. The service refused it, and it was left out when the session was repaired.]"

// cut is a line without some of its parts, which are counted as Read tells them. Those that are to be noted leave a note.
func (f *Format) cut(line []byte, parts map[int]bool) []byte {
	return Rewrite(line, func(fields map[string]json.RawMessage) {
		fields[f.Body] = Rewrite(fields[f.Body], func(body map[string]json.RawMessage) {
			name, n := "content", 0
			if body["output"] != nil { // of a result that is an item of its own
				name, n = "output", 1
			}
			body[name] = f.cutList(body[name], parts, &n)
		})
	})
}

func (f *Format) cutList(list json.RawMessage, parts map[int]bool, n *int) json.RawMessage {
	if !isList(list) {
		return list
	}
	var all []json.RawMessage
	json.Unmarshal(list, &all)
	kept := []json.RawMessage{}
	for _, raw := range all {
		noted, cut := parts[*n]
		*n++
		var b block
		if json.Unmarshal(raw, &b); b.Type == "tool_result" && isList(b.Content) {
			raw = Rewrite(raw, func(fields map[string]json.RawMessage) { fields["content"] = f.cutList(b.Content, parts, n) })
		}
		switch {
		case noted:
			kept = append(kept, JSON(map[string]string{"type": f.Text, "text": imageNote}))
		case !cut:
			kept = append(kept, raw)
		}
	}
	return JSON(kept)
}
