package history

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/belay-run/belay/internal/picture"
)

// Blocks are the parts of a message, as either API has them.
type Blocks []Block

// Block is a part of a message. To OpenAI a message is one too, and so are calls of tools and their results.
type Block struct {
	Type, ID, Name, Role string

	Call   string `json:"tool_use_id"`
	CallID string `json:"call_id"`

	Text, Thinking, Input, Arguments, Content, Output json.RawMessage

	Source struct {
		Type, Data string
		Media      string `json:"media_type"`
	}
	URL string `json:"image_url"`
}

func kindOf(name string) Kind {
	switch name {
	case "text", "input_text", "output_text":
		return Text
	case "thinking", "redacted_thinking", "reasoning":
		return Thinking
	case "tool_use", "server_tool_use", "function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call", "tool_search_call":
		return Call
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output", "tool_search_output":
		return Result
	case "image", "input_image":
		return Image
	case "document", "search_result", "container_upload", "tool_reference", "mcp_tool_use", "mcp_tool_result",
		"web_search_call", "image_generation_call", "compaction", "compaction_summary", "context_compaction",
		"ghost_snapshot", "additional_tools", "other":
		return Other
	}
	if strings.HasSuffix(name, "tool_result") { // of tools that the service runs, too: there are more with each version
		return Result
	}
	return Unknown
}

// Parts are those of a message, with those inside of results.
func (blocks Blocks) Parts() (parts []Part) {
	for i := range blocks {
		parts = append(parts, blocks[i].Parts()...)
	}
	return parts
}

// Parts are what a block says, and what is inside it.
func (b *Block) Parts() (parts []Part) {
	if !b.isMessage() {
		p := Part{Kind: kindOf(b.Type), ID: cmp.Or(b.Call, b.CallID), Name: b.Name, Served: b.Type == "server_tool_use", Flaw: b.flaw()}
		if strings.HasSuffix(b.Type, "tool_use") {
			p.ID = b.ID
		}
		for _, text := range []json.RawMessage{b.Text, b.Thinking, b.Input, b.Arguments, b.Content, b.Output} {
			if p.Text == nil {
				p.Text = text
			}
		}
		parts = append(parts, p)
	}
	if _, list := b.inside(); list != nil {
		var blocks Blocks
		json.Unmarshal(list, &blocks) // what is of another type than expected is not there
		for _, p := range blocks.Parts() {
			p.Inside = !b.isMessage()
			parts = append(parts, p)
		}
	}
	return parts
}

// isMessage says that a block is no part by itself. Only a message has a role.
func (b *Block) isMessage() bool { return b.Role != "" }

// inside is the list of blocks in another one, and its field; nil if there is none.
func (b *Block) inside() (field string, list json.RawMessage) {
	switch {
	case b.isMessage() || b.Type == "tool_result":
		field, list = "content", b.Content
	case kindOf(b.Type) == Result:
		field, list = "output", b.Output
	}
	if len(list) == 0 || list[0] != '[' {
		return "", nil
	}
	return field, list
}

const idLetters = "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// flaw is why services refuse a block by itself.
func (b *Block) flaw() Flaw {
	switch b.Type {
	case "text":
		if len(b.Text) <= len(`""`) {
			return Empty
		}
	case "tool_use":
		if b.ID == "" || strings.Trim(b.ID, idLetters) != "" {
			return Nameless
		}
	case "tool_result":
		if b.Call == "" {
			return Unasked
		}
	case "image":
		if b.Source.Type == "base64" {
			return imageFlaw(b.Source.Media, b.Source.Data)
		}
	case "input_image":
		if media, data, ok := strings.Cut(b.URL, ";base64,"); ok {
			return imageFlaw(strings.TrimPrefix(media, "data:"), data)
		}
	}
	return ""
}

const (
	maxImage  = 5 << 20 // of base64, that services take
	maxPixels = 8000    // in one direction
)

func imageFlaw(media, data string) Flaw {
	if len(data) > maxImage {
		return LargeImage
	}
	switch kind, side, ok := picture.Look(data); {
	case !ok:
		return BadImage
	case side > maxPixels:
		return LargeImage
	case media != "image/"+kind && media != "image/jpg":
		return WrongImage
	}
	return ""
}

// imageNote takes the place of an image.
const imageNote = "[An image was here. The service refused it, and it was left out when the session was repaired.]"

// changed is a line without some of its parts, which are counted as Read tells them, and behind another one in the chain.
func (f *Format) changed(text []byte, l *line) []byte {
	return Rewrite(text, func(fields map[string]json.RawMessage) {
		if len(l.cut) > 0 {
			fields[f.Body], _ = cutBlock(fields[f.Body], l.cut, new(int))
		}
		switch {
		case l.parent == l.Parent:
		case l.parent == "":
			fields[f.Parent] = JSON(nil)
		default:
			fields[f.Parent] = JSON(l.parent)
		}
	})
}

// cutBlock is what is left of a block; stays is false if that is nothing. n is how many parts came before.
func cutBlock(raw json.RawMessage, parts map[int]bool, n *int) (left json.RawMessage, stays bool) {
	var b Block
	json.Unmarshal(raw, &b)
	noted, gone := false, false
	if !b.isMessage() {
		noted, gone = parts[*n]
		*n++
	}
	if field, list := b.inside(); list != nil {
		var all []json.RawMessage
		json.Unmarshal(list, &all)
		kept := []json.RawMessage{}
		for _, one := range all {
			if one, stays := cutBlock(one, parts, n); stays {
				kept = append(kept, one)
			}
		}
		raw = Rewrite(raw, func(fields map[string]json.RawMessage) { fields[field] = JSON(kept) })
	}
	if noted {
		raw = JSON(map[string]string{"type": strings.Replace(b.Type, "image", "text", 1), "text": imageNote})
	}
	return raw, noted || !gone
}
