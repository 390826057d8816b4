package rehearse

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
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
func refusal(code, format string, args ...any) *Step {
	return &Step{Source: "strict", Times: 1, Status: 400, Code: code, Message: fmt.Sprintf(format, args...), Usage: Usage{-1, -1, -1, -1}}
}

const (
	maxTokens      = 1_000_000
	bytesPerToken  = 4
	maxImageBytes  = 5 << 20
	maxImagePixels = 8000
	manyImages     = 20
	manyPixels     = 2000
)

// part is a piece of a history: a message or an item, or a block in one.
type part struct {
	Type, Role, ID, Name, Text, Thinking, Signature string
	Call                                            string  `json:"tool_use_id"`
	CallID                                          string  `json:"call_id"`
	Encrypted                                       *string `json:"encrypted_content"`
	URL                                             string  `json:"image_url"`
	Content, Output                                 json.RawMessage
	Source                                          struct {
		Type, Data string
		Media      string `json:"media_type"`
	}
	message string // messages.3
	where   string // messages.3.content.0
}

func (p *part) isWhole() bool { return p.where == p.message }

// partsOf are those of a list, each before those inside it, which have its role and its call. A text is a block too.
func partsOf(list json.RawMessage, where string, in part) (parts []part) {
	var said string
	if json.Unmarshal(list, &said) == nil && said != "" {
		return []part{{Type: "text", Role: in.Role, Call: in.Call, Text: said, message: in.message, where: where}}
	}
	var all []part
	json.Unmarshal(list, &all)
	for i, p := range all {
		p.where = fmt.Sprintf("%s.%d", where, i)
		p.message, p.Role, p.Call = cmp.Or(in.message, p.where), cmp.Or(p.Role, in.Role), cmp.Or(p.Call, p.CallID, in.Call)
		parts = append(parts, p)
		switch {
		case p.isWhole():
			parts = append(parts, partsOf(p.Content, p.where+".content", p)...)
			parts = append(parts, partsOf(p.Output, p.where+".output", p)...)
		case p.Type == "tool_result":
			parts = append(parts, partsOf(p.Content, p.where+".tool_result.content", p)...)
		}
	}
	return parts
}

var anthropicBlocks = []string{"text", "thinking", "redacted_thinking", "image", "document", "search_result", "tool_use",
	"tool_result", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
	"mcp_tool_use", "mcp_tool_result", "container_upload", "tool_reference"}

// anthropicRefusal is why the Messages API refuses a history; nil if it does not.
func anthropicRefusal(body []byte) *Step {
	var q struct{ Messages json.RawMessage }
	json.Unmarshal(body, &q) // what is not understood is not what this is about
	h := anthropicHistory{said: partsOf(q.Messages, "messages", part{}), ids: map[string]bool{}}
	size := len(body)
	for _, p := range h.said {
		if p.Type == "image" {
			h.images++
			size -= len(p.Source.Data)
		}
	}
	role := ""
	for i, p := range h.said {
		isLast := i == len(h.said)-1
		switch {
		case p.Role != "user" && p.Role != "assistant":
		case !p.isWhole():
			if s := h.refusal(&p); s != nil {
				return s
			}
		case (isLast || h.said[i+1].isWhole()) && !(isLast && p.Role == "assistant"):
			return refusal("", "%s: all messages must have non-empty content except for the optional final assistant message", p.where)
		default: // messages of the same side are taken for one
			if p.Role == "assistant" && role == "user" {
				if s := h.unanswered(); s != nil {
					return s
				}
				h.calls, h.told = nil, nil
			}
			role = p.Role
		}
	}
	if tokens := size / bytesPerToken; tokens > maxTokens {
		return refusal("", "prompt is too long: %d tokens > %d maximum", tokens, maxTokens)
	}
	return h.unanswered()
}

// anthropicHistory is what was said, with what the model called last, and which of that has its result.
type anthropicHistory struct {
	said        []part
	calls, told []string
	at          string          // the message of the calls
	ids         map[string]bool // of all calls so far
	images      int
}

// unanswered is the refusal of calls that have no result.
func (h *anthropicHistory) unanswered() *Step {
	lost := slices.DeleteFunc(slices.Clone(h.calls), func(id string) bool { return slices.Contains(h.told, id) && !isPoison(id, poisonOrphan) })
	if len(lost) == 0 {
		return nil
	}
	return refusal("", "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", h.at, strings.Join(lost, ", "))
}

// refusal is why a block is refused, after those before it.
func (h *anthropicHistory) refusal(p *part) *Step {
	switch {
	case p.Type == "text" && p.Text == "":
		return refusal("", "messages: text content blocks must be non-empty")
	case p.Type == "thinking" && p.Signature != signature(p.Thinking):
		return refusal("", "%s: Invalid `signature` in `thinking` block", p.where)
	case p.Type == "tool_use" && (p.ID == "" || strings.ContainsFunc(p.ID, func(r rune) bool { return r > 127 || !isWord(byte(r)) })):
		return refusal("", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", p.where)
	case p.Type == "tool_use" && h.ids[p.ID]:
		return refusal("", "messages: `tool_use` ids must be unique")
	case p.Type == "tool_use":
		h.calls, h.at, h.ids[p.ID] = append(h.calls, p.ID), p.message, true
	case p.Type == "tool_result" && (p.Role != "user" || !slices.Contains(h.calls, p.Call)):
		return refusal("", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
			"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", p.where, p.Call)
	case p.Type == "tool_result" && slices.Contains(h.told, p.Call):
		return refusal("", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", p.where, p.Call)
	case p.Type == "tool_result":
		h.told = append(h.told, p.Call)
	case p.Type == "server_tool_use" && !slices.ContainsFunc(h.said, func(r part) bool { return r.Call == p.ID }):
		return refusal("", "%s: `%s` tool use with id `%s` was found without a corresponding `%[2]s_tool_result` block", p.message, p.Name, p.ID)
	case p.Type == "image" && p.Source.Type == "base64":
		return p.imageRefusal(h.images)
	case !slices.Contains(anthropicBlocks, p.Type):
		return refusal("", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: "+
			"'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'", p.where, p.Type)
	}
	return nil
}

func (p *part) imageRefusal(images int) *Step {
	where := p.where + ".image.source.base64"
	const tooWide = "%s.data: At least one of the image dimensions exceed max allowed size"
	switch kind, side, ok := picture.Look(p.Source.Data); {
	case len(p.Source.Data) > maxImageBytes:
		return refusal("", "%s: image exceeds 5 MB maximum: %d bytes > %d bytes", where, len(p.Source.Data), maxImageBytes)
	case !ok:
		return refusal("", "Could not process image")
	case side > maxImagePixels || isPoison(p.Call, poisonImage):
		return refusal("", tooWide+": %d pixels", where, maxImagePixels)
	case images > manyImages && side > manyPixels:
		return refusal("", tooWide+" for many-image requests: %d pixels", where, manyPixels)
	case p.Source.Media != "image/"+kind:
		return refusal("", "%s.data: The image was specified using the %s media type, but the image appears to be a image/%s image", where, p.Source.Media, kind)
	}
	return nil
}

// signature is how a service signs what a model has thought.
func signature(thinking string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "rehearsed %d", len(thinking)))
}

// openaiTools are what calls of tools begin with, and results, which end in _output. openaiItems are all others.
var (
	openaiTools = []string{"function", "custom_tool", "local_shell", "web_search", "image_generation", "tool_search", "mcp", "computer",
		"apply_patch", "shell", "code_interpreter", "file_search"}
	openaiItems = []string{"", "message", "reasoning", "tool_search_output", "compaction", "compaction_summary", "context_compaction",
		"additional_tools", "item_reference"}
)

// openaiRefusal is why the Responses API refuses a history; nil if it does not.
func openaiRefusal(body []byte) *Step {
	var q struct{ Input json.RawMessage }
	json.Unmarshal(body, &q)
	said := partsOf(q.Input, "input", part{})
	no := func(format string, args ...any) *Step { return refusal("invalid_value", format, args...) }
	called, told, ids, size := map[string]string{}, map[string]bool{}, map[string]bool{}, 0
	for _, p := range said {
		size += len(p.Text)
		kind, isOutput := strings.CutSuffix(p.Type, "_output")
		tool, isCall := strings.CutSuffix(kind, "_call")
		switch {
		case !p.isWhole():
			if p.Type == "input_image" && !p.isTaken() {
				return no("The image data you provided does not represent a valid image. " +
					"Please check your input and try again with one of the following image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].")
			}
			continue
		case !(isCall && slices.Contains(openaiTools, tool)) && !slices.Contains(openaiItems, p.Type):
			return no("Invalid value: '%s'. Supported values are: 'apply_patch_call', 'function_call', 'function_call_output', 'message', and 'reasoning'.", p.Type)
		case p.ID != "" && ids[p.ID]:
			return no("Duplicate item found with id %s. Remove duplicate items from your input and try again.", p.ID)
		case p.Type == "reasoning" && p.Encrypted != nil && !strings.HasPrefix(*p.Encrypted, "gAAAA"):
			return refusal("invalid_encrypted_content", "The encrypted content %.4s... could not be verified. "+
				"Reason: Encrypted content could not be decrypted or parsed.", *p.Encrypted)
		case isOutput && p.Call != "" && (called[p.Call] == "" || told[p.Call]):
			return no("No tool call found for %s output with call_id %s.", strings.ReplaceAll(kind, "_", " "), p.Call)
		case isOutput:
			told[p.Call] = !isPoison(p.Call, poisonOrphan)
		case isCall && p.Call != "":
			called[p.Call] = strings.ReplaceAll(p.Type, "_", " ")
		}
		ids[p.ID] = true
	}
	for _, p := range said {
		if what := called[p.Call]; what != "" && !told[p.Call] {
			return no("No tool output found for %s %s.", what, p.Call)
		}
	}
	if size/bytesPerToken > maxTokens {
		return refusal("context_length_exceeded", "%s", openaiCodes["context_length_exceeded"][1])
	}
	return nil
}

// isTaken reports whether OpenAI takes an image.
func (p *part) isTaken() bool {
	of, data, inline := strings.Cut(p.URL, ";base64,")
	kind, side, ok := picture.Look(data)
	return !inline || ok && side <= maxImagePixels && of == "data:image/"+kind && !isPoison(p.Call, poisonImage)
}
