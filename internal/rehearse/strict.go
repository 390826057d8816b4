package rehearse

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/picture"
)

// strictly stands before the first step of a script whose services look at the history of each request, as the real ones do.
const strictly = "strict:"

// What calls are named after for which a service refuses each history that they are in: it does not find their result, or takes an image in that for too large. CLIs make large
// images smaller before they send them, and give calls their results.
const (
	poisonOrphan = "orphan"
	poisonImage  = "image"
)

// anImage is one of a pixel.
const anImage = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

// imagePath is that of a file with an image, which is written when it is asked for first.
func (a *API) imagePath() string {
	path := filepath.Join(a.home(), "image.png")
	data, _ := base64.StdEncoding.DecodeString(anImage)
	os.WriteFile(path, data, 0o600) // where it cannot be written, the tool says that it is not there
	return path
}

func isPoison(call, by string) bool {
	_, id, _ := strings.Cut(call, "_")
	return strings.HasPrefix(id, by)
}

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

// anthropicBlock is a part of what one side has said, in the message with that number.
type anthropicBlock struct {
	Type, ID, Name, Text, Thinking, Signature string
	Call                                      string `json:"tool_use_id"`
	Content                                   json.RawMessage
	Source                                    struct {
		Type, Data string
		Media      string `json:"media_type"`
	}
	role  string
	at    int
	where string // messages.3.content.0
}

var anthropicBlocks = []string{"text", "thinking", "redacted_thinking", "image", "document", "search_result", "tool_use", "tool_result", "server_tool_use", "web_search_tool_result",
	"web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_use", "mcp_tool_result", "container_upload", "tool_reference"}

// anthropicRefusal is why the Messages API refuses a history; nil if it does not.
func anthropicRefusal(body []byte) *Step {
	var q struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &q) != nil {
		return nil // which is not what this is about
	}
	if len(body) > maxRequest {
		return refusal(http.StatusRequestEntityTooLarge, "", "Request exceeds the maximum size")
	}
	var said []anthropicBlock
	images, size := 0, len(body)
	for i, m := range q.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			continue
		}
		blocks := anthropicContents(m.Content, fmt.Sprintf("messages.%d.content", i))
		if len(blocks) == 0 && (i < len(q.Messages)-1 || m.Role != "assistant") {
			return refusal(400, "", "messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for _, b := range blocks {
			if b.Type == "image" {
				images++
				size -= len(b.Source.Data)
			}
			b.role, b.at = m.Role, i
			said = append(said, b)
		}
	}
	t := anthropicTurn{ids: map[string]bool{}, images: images}
	for i, b := range said {
		if i > 0 && b.role == "assistant" && said[i-1].role == "user" {
			if s := t.unanswered(); s != nil {
				return s
			}
			t.calls, t.told = nil, nil
		}
		if s := t.refusal(&b); s != nil {
			return s
		}
		served := func(r anthropicBlock) bool { return r.Call == b.ID }
		if b.Type == "server_tool_use" && !slices.ContainsFunc(said, served) {
			return refusal(400, "", "messages.%d: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", b.at, b.Name, b.ID, b.Name)
		}
	}
	if tokens := size / bytesPerToken; tokens > maxTokens {
		return refusal(400, "", "prompt is too long: %d tokens > %d maximum", tokens, maxTokens)
	}
	return t.unanswered()
}

// anthropicContents are the blocks of a message, with those inside of results; a text is one too.
func anthropicContents(content json.RawMessage, where string) (blocks []anthropicBlock) {
	var said string
	if json.Unmarshal(content, &said) == nil && said != "" {
		return []anthropicBlock{{Type: "text", Text: said}}
	}
	var list []anthropicBlock
	json.Unmarshal(content, &list)
	for i, b := range list {
		b.where = fmt.Sprintf("%s.%d", where, i)
		blocks = append(blocks, b)
		if b.Type == "tool_result" {
			for _, inside := range anthropicContents(b.Content, b.where+".tool_result.content") {
				inside.Call = b.Call
				blocks = append(blocks, inside)
			}
		}
	}
	return blocks
}

// anthropicTurn is what the model calls in one go, and which of that has its result: the API takes messages of the same side for one.
type anthropicTurn struct {
	calls, told []string
	at          int             // the message of the calls
	ids         map[string]bool // of all calls so far
	images      int             // in all messages
}

// unanswered is the refusal of a turn with calls that have no result.
func (t *anthropicTurn) unanswered() *Step {
	lost := slices.DeleteFunc(t.calls, func(id string) bool { return slices.Contains(t.told, id) && !isPoison(id, poisonOrphan) })
	if len(lost) == 0 {
		return nil
	}
	return refusal(400, "", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		t.at, strings.Join(lost, ", "))
}

// refusal is why a block is refused, after those before it.
func (t *anthropicTurn) refusal(b *anthropicBlock) *Step {
	switch {
	case b.Type == "text" && b.Text == "":
		return refusal(400, "", "messages: text content blocks must be non-empty")
	case b.Type == "thinking" && b.Signature != signature(b.Thinking):
		return refusal(400, "", "%s: Invalid `signature` in `thinking` block", b.where)
	case b.Type == "tool_use" && (b.ID == "" || strings.ContainsFunc(b.ID, func(r rune) bool { return r > 127 || !isWord(byte(r)) })):
		return refusal(400, "", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", b.where)
	case b.Type == "tool_use" && t.ids[b.ID]:
		return refusal(400, "", "messages: `tool_use` ids must be unique")
	case b.Type == "tool_use":
		t.calls, t.at, t.ids[b.ID] = append(t.calls, b.ID), b.at, true
	case b.Type == "tool_result" && (b.role != "user" || !slices.Contains(t.calls, b.Call)):
		return refusal(400, "", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.where, b.Call)
	case b.Type == "tool_result" && slices.Contains(t.told, b.Call):
		return refusal(400, "", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.where, b.Call)
	case b.Type == "tool_result":
		t.told = append(t.told, b.Call)
	case b.Type == "image":
		return b.imageRefusal(t.images)
	case !slices.Contains(anthropicBlocks, b.Type):
		return refusal(400, "", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'", b.where, b.Type)
	}
	return nil
}

func (b *anthropicBlock) imageRefusal(images int) *Step {
	where := b.where + ".image.source.base64"
	kind, side, ok := picture.Look(b.Source.Data)
	switch {
	case b.Source.Type != "base64":
		return nil
	case len(b.Source.Data) > maxImageBytes:
		return refusal(400, "", "%s: image exceeds 5 MB maximum: %d bytes > %d bytes", where, len(b.Source.Data), maxImageBytes)
	case !ok:
		return refusal(400, "", "Could not process image")
	case side > maxImagePixels || isPoison(b.Call, poisonImage):
		return refusal(400, "", "%s.data: At least one of the image dimensions exceed max allowed size: %d pixels", where, maxImagePixels)
	case images > manyImages && side > manyPixels:
		return refusal(400, "", "%s.data: At least one of the image dimensions exceed max allowed size for many-image requests: %d pixels", where, manyPixels)
	case b.Source.Media != "image/"+kind:
		return refusal(400, "", "%s.data: The image was specified using the %s media type, but the image appears to be a image/%s image", where, b.Source.Media, kind)
	}
	return nil
}

// signature is how a service signs what a model has thought.
func signature(thinking string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "rehearsed %d", len(thinking)))
}

// openaiItem is one of the history, as far as it is looked at.
type openaiItem struct {
	Type, ID        string
	Call            string  `json:"call_id"`
	Encrypted       *string `json:"encrypted_content"`
	Content, Output json.RawMessage
}

var openaiItems = []string{"", "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call",
	"image_generation_call", "tool_search_call", "tool_search_output", "tool_search_call_output", "compaction", "compaction_summary", "context_compaction", "additional_tools", "item_reference", "mcp_call", "computer_call",
	"computer_call_output", "apply_patch_call", "apply_patch_call_output", "shell_call", "shell_call_output", "code_interpreter_call", "file_search_call"}

// openaiRefusal is why the Responses API refuses a history; nil if it does not.
func openaiRefusal(body []byte) *Step {
	var q struct{ Input []openaiItem }
	if json.Unmarshal(body, &q) != nil {
		return nil
	}
	no := func(format string, args ...any) *Step { return refusal(400, "invalid_value", format, args...) }
	called, told, ids, size := map[string]string{}, map[string]bool{}, map[string]bool{}, 0
	for i, item := range q.Input {
		size += len(item.Content) + len(item.Output)
		switch kind, isOutput := strings.CutSuffix(item.Type, "_output"); {
		case !slices.Contains(openaiItems, item.Type):
			return no("Invalid value: '%s'. Supported values are: 'apply_patch_call', 'function_call', 'function_call_output', 'message', and 'reasoning'.", item.Type)
		case item.ID != "" && ids[item.ID]:
			return no("Duplicate item found with id %s. Remove duplicate items from your input and try again.", item.ID)
		case item.Type == "reasoning" && item.Encrypted != nil && !strings.HasPrefix(*item.Encrypted, "gAAAA"):
			return refusal(400, "invalid_encrypted_content", "The encrypted content %.4s... could not be verified. Reason: Encrypted content could not be decrypted or parsed.", *item.Encrypted)
		case item.Type == "reasoning" && i == len(q.Input)-1:
			return no("Item '%s' of type 'reasoning' was provided without its required following item.", item.ID)
		case isOutput && item.Call != "" && (called[item.Call] == "" || told[item.Call]):
			return no("No tool call found for %s output with call_id %s.", strings.ReplaceAll(kind, "_", " "), item.Call)
		case isOutput:
			told[item.Call] = !isPoison(item.Call, poisonOrphan)
		case strings.HasSuffix(item.Type, "_call") && item.Call != "":
			called[item.Call] = strings.ReplaceAll(item.Type, "_", " ")
		}
		ids[item.ID] = true
		if !openaiTakes(item.Content, false) || !openaiTakes(item.Output, isPoison(item.Call, poisonImage)) {
			return no("The image data you provided does not represent a valid image. Please check your input and try again with one of the following image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].")
		}
	}
	for _, item := range q.Input {
		if what := called[item.Call]; item.Call != "" && !told[item.Call] {
			return no("No tool output found for %s %s.", what, item.Call)
		}
	}
	if size/bytesPerToken > maxTokens {
		return refusal(400, "context_length_exceeded", "%s", openaiCodes["context_length_exceeded"][1])
	}
	return nil
}

// openaiTakes reports whether the images of a list are taken, which may be poisoned.
func openaiTakes(list json.RawMessage, poisoned bool) bool {
	var parts []struct {
		Type string
		URL  string `json:"image_url"`
	}
	json.Unmarshal(list, &parts)
	for _, p := range parts {
		of, data, ok := strings.Cut(p.URL, ";base64,")
		if p.Type != "input_image" || !ok {
			continue
		}
		if kind, side, ok := picture.Look(data); !ok || poisoned || side > maxImagePixels || of != "data:image/"+kind {
			return false
		}
	}
	return true
}
