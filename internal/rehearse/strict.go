package rehearse

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // services take these
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"slices"
	"strings"
)

// strictly stands before the first step of a script whose services look at the history of each request, as the real ones do.
const strictly = "strict:"

// refusal is the answer to a request whose history a service does not take, in the words of the real one: docs/sessions.md says where each was seen.
func refusal(status int, code, format string, args ...any) *Step {
	return &Step{Source: "strict", Times: 1, Status: status, Code: code, Message: fmt.Sprintf(format, args...), Usage: Usage{-1, -1, -1, -1}}
}

const (
	maxRequest     = 32 << 20
	maxTokens      = 1_000_000
	bytesPerToken  = 4
	maxImageBytes  = 5 << 20
	maxImagePixels = 8000
	manyImages     = 20
	manyPixels     = 2000
)

// picture is what a service sees of an image: its type and its longest side. ok is false if it cannot be read.
func picture(data string) (kind string, side int, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err == nil && len(raw) > 12 && string(raw[8:12]) == "WEBP" {
		return "webp", 0, true
	}
	config, kind, failed := image.DecodeConfig(bytes.NewReader(raw))
	return kind, max(config.Width, config.Height), err == nil && failed == nil
}

// anthropicTurn is what one side has said until the other one did: the API takes messages of the same role for one.
type anthropicTurn struct {
	role   string
	at     int // its first message
	blocks []anthropicBlock
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Call      string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	Text      *string         `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Content   json.RawMessage `json:"content"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	where string // messages.3.content.0
}

var anthropicBlocks = []string{"text", "thinking", "redacted_thinking", "image", "document", "search_result", "tool_use", "tool_result", "server_tool_use", "web_search_tool_result",
	"web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_use", "mcp_tool_result", "container_upload", "tool_reference"}

// anthropicRefusal is why the Messages API refuses a history; nil if it does not.
func anthropicRefusal(body []byte) *Step {
	var q struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &q) != nil {
		return nil // which is not what this is about
	}
	if len(body) > maxRequest {
		return refusal(http.StatusRequestEntityTooLarge, "", "Request exceeds the maximum size")
	}
	var turns []anthropicTurn
	images, size := 0, 0
	for i, m := range q.Messages {
		blocks, text := anthropicContent(m.Content, fmt.Sprintf("messages.%d.content", i))
		if m.Role != "user" && m.Role != "assistant" {
			continue
		}
		if len(blocks) == 0 && !text && (i < len(q.Messages)-1 || m.Role != "assistant") {
			return refusal(400, "", "messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for _, b := range blocks {
			if b.Type == "image" {
				images++
			} else {
				size += len(b.Thinking) + len(b.Content)
			}
			if b.Text != nil {
				size += len(*b.Text)
			}
		}
		if n := len(turns); n > 0 && turns[n-1].role == m.Role {
			turns[n-1].blocks = append(turns[n-1].blocks, blocks...)
			continue
		}
		turns = append(turns, anthropicTurn{m.Role, i, blocks})
	}
	calls := map[string]bool{}
	for i := range turns {
		if s := turns[i].refusal(turns[:i], turns[i+1:], calls, images); s != nil {
			return s
		}
	}
	if tokens := size / bytesPerToken; tokens > maxTokens {
		return refusal(400, "", "prompt is too long: %d tokens > %d maximum", tokens, maxTokens)
	}
	return nil
}

// anthropicContent are the blocks of a message, with those inside of results; text says that it is a text instead, which is not empty.
func anthropicContent(content json.RawMessage, where string) (blocks []anthropicBlock, text bool) {
	var said string
	if json.Unmarshal(content, &said) == nil {
		return nil, said != ""
	}
	var list []anthropicBlock
	json.Unmarshal(content, &list)
	for i, b := range list {
		b.where = fmt.Sprintf("%s.%d", where, i)
		blocks = append(blocks, b)
		if b.Type == "tool_result" {
			inside, _ := anthropicContent(b.Content, b.where+".tool_result.content")
			blocks = append(blocks, inside...)
		}
	}
	return blocks, false
}

// refusal is why a turn is refused, after those before it and before those after.
func (t *anthropicTurn) refusal(before, after []anthropicTurn, calls map[string]bool, images int) *Step {
	var asked []string // by the turn before
	if n := len(before); n > 0 && t.role == "user" {
		asked = before[n-1].ids("tool_use")
	}
	told := map[string]bool{}
	for _, b := range t.blocks {
		switch b.Type {
		case "text":
			if b.Text == nil || *b.Text == "" {
				return refusal(400, "", "messages: text content blocks must be non-empty")
			}
		case "thinking":
			if b.Signature != signature(b.Thinking) {
				return refusal(400, "", "%s: Invalid `signature` in `thinking` block", b.where)
			}
		case "tool_use":
			if strings.ContainsFunc(b.ID, func(r rune) bool { return r > 127 || !isWord(byte(r)) }) || b.ID == "" {
				return refusal(400, "", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", b.where)
			}
			if calls[b.ID] {
				return refusal(400, "", "messages: `tool_use` ids must be unique")
			}
			calls[b.ID] = true
		case "tool_result":
			if !slices.Contains(asked, b.Call) {
				return refusal(400, "", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.where, b.Call)
			}
			if told[b.Call] {
				return refusal(400, "", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.where, b.Call)
			}
			told[b.Call] = true
		case "image":
			if s := b.imageRefusal(images); s != nil {
				return s
			}
		case "server_tool_use":
			if !slices.ContainsFunc(t.blocks, func(r anthropicBlock) bool { return r.Call == b.ID }) {
				return refusal(400, "", "messages.%d: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", t.at, b.Name, b.ID, b.Name)
			}
		default:
			if !slices.Contains(anthropicBlocks, b.Type) {
				return refusal(400, "", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'", b.where, b.Type)
			}
		}
	}
	if lost := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { return told[id] }); len(lost) > 0 {
		return unanswered(before[len(before)-1].at, lost)
	}
	if called := t.ids("tool_use"); len(after) == 0 && len(called) > 0 {
		return unanswered(t.at, called)
	}
	return nil
}

func unanswered(message int, ids []string) *Step {
	return refusal(400, "", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		message, strings.Join(ids, ", "))
}

func (t *anthropicTurn) ids(kind string) (ids []string) {
	for _, b := range t.blocks {
		if b.Type == kind && t.role == "assistant" {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func (b *anthropicBlock) imageRefusal(images int) *Step {
	where := b.where + ".image.source.base64"
	kind, side, ok := picture(b.Source.Data)
	switch {
	case b.Source.Type != "base64":
		return nil
	case len(b.Source.Data) > maxImageBytes:
		return refusal(400, "", "%s: image exceeds 5 MB maximum: %d bytes > %d bytes", where, len(b.Source.Data), maxImageBytes)
	case !ok:
		return refusal(400, "", "Could not process image")
	case side > maxImagePixels:
		return refusal(400, "", "%s.data: At least one of the image dimensions exceed max allowed size: %d pixels", where, maxImagePixels)
	case images > manyImages && side > manyPixels:
		return refusal(400, "", "%s.data: At least one of the image dimensions exceed max allowed size for many-image requests: %d pixels", where, manyPixels)
	case b.Source.MediaType != "image/"+kind:
		return refusal(400, "", "%s.data: The image was specified using the %s media type, but the image appears to be a image/%s image", where, b.Source.MediaType, kind)
	}
	return nil
}

// signature is how a service signs what a model has thought.
func signature(thinking string) string {
	return base64.StdEncoding.EncodeToString([]byte("rehearsed " + fmt.Sprint(len(thinking))))
}

// openaiItem is one of the history, as far as it is looked at.
type openaiItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Call      string          `json:"call_id"`
	Encrypted *string         `json:"encrypted_content"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
}

var openaiItems = []string{"", "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call",
	"image_generation_call", "tool_search_call", "tool_search_output", "tool_search_call_output", "compaction", "compaction_summary", "context_compaction", "additional_tools", "item_reference", "mcp_call", "computer_call",
	"computer_call_output", "apply_patch_call", "apply_patch_call_output", "shell_call", "shell_call_output", "code_interpreter_call", "file_search_call"}

// openaiRefusal is why the Responses API refuses a history; nil if it does not.
func openaiRefusal(body []byte) *Step {
	var q struct {
		Input []openaiItem `json:"input"`
	}
	if json.Unmarshal(body, &q) != nil {
		return nil
	}
	called, told, ids, size := map[string]string{}, map[string]bool{}, map[string]bool{}, 0
	for i, item := range q.Input {
		size += len(item.Content) + len(item.Output)
		switch kind, isOutput := strings.CutSuffix(item.Type, "_output"); {
		case !slices.Contains(openaiItems, item.Type):
			return refusal(400, "invalid_value", "Invalid value: '%s'. Supported values are: 'apply_patch_call', 'function_call', 'function_call_output', 'message', and 'reasoning'.", item.Type)
		case item.ID != "" && ids[item.ID]:
			return refusal(400, "invalid_value", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", item.ID)
		case item.Type == "reasoning" && item.Encrypted != nil && !strings.HasPrefix(*item.Encrypted, "gAAAA"):
			return refusal(400, "invalid_encrypted_content", "The encrypted content %.4s... could not be verified. Reason: Encrypted content could not be decrypted or parsed.", *item.Encrypted)
		case item.Type == "reasoning" && i == len(q.Input)-1:
			return refusal(400, "invalid_value", "Item '%s' of type 'reasoning' was provided without its required following item.", item.ID)
		case isOutput && item.Call != "" && (called[item.Call] == "" || told[item.Call]):
			return refusal(400, "invalid_value", "No tool call found for %s output with call_id %s.", strings.ReplaceAll(kind, "_", " "), item.Call)
		case isOutput:
			told[item.Call] = true
		case strings.HasSuffix(item.Type, "_call") && item.Call != "":
			called[item.Call] = strings.ReplaceAll(item.Type, "_", " ")
		}
		ids[item.ID] = true
		for _, list := range []json.RawMessage{item.Content, item.Output} {
			if s := openaiImages(list); s != nil {
				return s
			}
		}
	}
	for _, item := range q.Input {
		if what := called[item.Call]; item.Call != "" && !told[item.Call] {
			return refusal(400, "invalid_value", "No tool output found for %s %s.", what, item.Call)
		}
	}
	if size/bytesPerToken > maxTokens {
		return refusal(400, "context_length_exceeded", "%s", openaiCodes["context_length_exceeded"][1])
	}
	return nil
}

// openaiImages is why the images of a list are refused.
func openaiImages(list json.RawMessage) *Step {
	var parts []struct {
		Type string `json:"type"`
		URL  string `json:"image_url"`
	}
	json.Unmarshal(list, &parts)
	for _, p := range parts {
		of, data, ok := strings.Cut(p.URL, ";base64,")
		if p.Type != "input_image" || !ok {
			continue
		}
		if kind, side, ok := picture(data); !ok || side > maxImagePixels || of != "data:image/"+kind {
			return refusal(400, "invalid_value", "The image data you provided does not represent a valid image. Please check your input and try again with one of the following image formats: "+
				"['image/jpeg', 'image/png', 'image/gif', 'image/webp'].")
		}
	}
	return nil
}
