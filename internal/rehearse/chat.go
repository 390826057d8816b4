package rehearse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// chat is the stand-in for OpenAI's chat completions, which nearly every provider speaks that opencode knows.
type chat struct{}

func (chat) name() string { return "chat" }

func (chat) claims(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1/chat/completions")
}

// chatText is a message's content: a string, or a list of parts.
type chatText string

func (t *chatText) UnmarshalJSON(data []byte) error {
	var text string
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &text) != nil && json.Unmarshal(data, &parts) == nil {
		for _, part := range parts {
			text += part.Text
		}
	}
	*t = chatText(text)
	return nil // what is neither has no text
}

func (chat) read(r *http.Request, body []byte) call {
	var q struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string   `json:"role"`
			Content chatText `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function chatTool `json:"function"`
		} `json:"tools"`
	}
	json.Unmarshal(body, &q)
	c := call{model: q.Model, stream: q.Stream, session: r.Header.Get("X-Session-Affinity")}
	for _, t := range q.Tools {
		c.tools = append(c.tools, t.Function.Name)
		if slices.Contains(shells, strings.ToLower(t.Function.Name)) {
			c.shell = t.Function
		}
	}
	title := false
	for _, m := range q.Messages {
		switch m.Role {
		case "system":
			title = title || strings.HasPrefix(string(m.Content), "You are a title generator.")
		case "user", "tool":
			if m.Content != "" {
				c.last = string(m.Content)
			}
		}
	}
	c.main = r.Method == http.MethodPost && !title
	return c
}

func (chat) good(c *call, s *Step, n int) reply {
	u := s.charged()
	text, finish := s.text(), "stop"
	message := object{"role": "assistant", "content": text}
	if s.Tool != "" {
		name, arguments := s.chatTool(c)
		var calls []object
		for i := range max(s.Calls, 1) {
			calls = append(calls, object{"index": i, "id": "call_" + s.callID(n, i), "type": "function", "function": object{"name": name, "arguments": arguments}})
		}
		message["tool_calls"], finish = calls, "tool_calls"
	}
	finish = cmp.Or(s.Stop, finish)
	head := object{"id": fmt.Sprintf("chatcmpl-rehearsal%04d", n), "created": time.Now().Unix(), "model": c.model}
	var rep reply
	if c.stream {
		rep = chatStream(head, text, message, finish, chatUsage(u))
	} else {
		rep = jsonReply(http.StatusOK, with(head, object{"object": "chat.completion", "usage": chatUsage(u),
			"choices": []object{{"index": 0, "message": message, "finish_reason": finish}}}))
	}
	openaiHeaders(rep.header, c, n)
	rep.usage = u
	return rep
}

// chatTool is a tool that the model is offered.
type chatTool struct {
	Name       string `json:"name"`
	Parameters struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		} `json:"properties"`
	} `json:"parameters"`
}

// shells are the names that CLIs have for the tool that runs a command.
var shells = []string{"bash", "execute", "run_commands", "run_shell_command", "run_terminal_command"}

// chatTool is the call of a tool. The input of a shell is its command, and whatever else that asks for.
func (s *Step) chatTool(c *call) (name, arguments string) {
	if !strings.EqualFold(s.Tool, "bash") {
		return s.Tool, s.ToolInput
	}
	input := object{"command": s.ToolInput, "description": "Rehearses a command"}
	shell := c.shell.Parameters
	if commands, ok := shell.Properties["commands"]; ok && commands.Type == "array" {
		input = object{"commands": []string{s.ToolInput}}
	}
	for _, name := range shell.Required {
		if _, given := input[name]; given {
			continue
		}
		switch p := shell.Properties[name]; {
		case len(p.Enum) > 0:
			input[name] = p.Enum[0]
		case p.Type == "string":
			input[name] = "rehearsed"
		case p.Type == "boolean":
			input[name] = false
		}
	}
	return cmp.Or(c.shell.Name, "bash"), string(encode(input))
}

func chatUsage(u Usage) object {
	input := u.Input + u.CacheRead + u.CacheCreate // which counts the cached ones too
	return object{"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead}}
}

// chatStream is an answer as a stream of chunks, which have no names.
func chatStream(head object, text string, message object, finish string, usage object) reply {
	var e events
	add := func(delta object, finish any) {
		e.add("", with(head, object{"object": "chat.completion.chunk",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}))
	}
	add(object{"role": "assistant", "content": ""}, nil)
	e.mark(AtStart)
	if text != "" {
		e.words(text, func(word string) { add(object{"content": word}, nil) })
		e.mark(AfterBlock)
	}
	if calls, ok := message["tool_calls"].([]object); ok {
		e.mark(InText)
		add(object{"tool_calls": calls}, nil)
		e.mark(AfterBlock)
	}
	e.mark(InText)
	e.mark(AfterBlock)
	add(object{}, finish)
	e.add("", with(head, object{"object": "chat.completion.chunk", "choices": []object{}, "usage": usage}))
	e.chunks = append(e.chunks, []byte("data: [DONE]\n\n"))
	return e.reply()
}

// with is an object with the fields of another beside its own.
func with(a, b object) object {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// side is the answer to a request for a title.
func (v chat) side(c *call) reply {
	if c.r.Method != http.MethodPost {
		return jsonReply(http.StatusNotFound, object{"error": openaiError(c, &Step{}, http.StatusNotFound)})
	}
	return v.good(c, &Step{Text: "A rehearsal", Usage: Usage{-1, -1, -1, -1}}, 0)
}

// fail is an error in OpenAI's form, but for a plan that is used up: that is told as OpenCode's own service tells it, which
// is one of those that have plans, or in the words of another one. For {reset} these have the time.
func (chat) fail(c *call, s *Step, n int) reply {
	if !s.UsageLimit {
		return openai{}.fail(c, s, n)
	}
	reset := s.resetTime()
	body := object{"type": "error",
		"error":    object{"type": "GoUsageLimitError", "message": "Subscription quota exceeded. You can continue using free models."},
		"metadata": object{"workspace": "wrk_rehearsal", "limitName": "5 hour"}}
	if s.Message != "" {
		body = object{"error": object{"message": strings.ReplaceAll(s.Message, "{reset}", reset.UTC().Format("2006-01-02 15:04:05 MST"))}}
	}
	rep := jsonReply(http.StatusTooManyRequests, body)
	rep.header.Set("Retry-After", fmt.Sprint(int(time.Until(reset).Round(time.Second).Seconds())))
	openaiHeaders(rep.header, c, n)
	return rep
}

func (chat) failInside(c *call, s *Step, n int) []byte {
	coded := *s
	status := http.StatusInternalServerError
	if s.Cut == CutOverloaded {
		coded.Code, status = "server_is_overloaded", http.StatusServiceUnavailable
	}
	return event("", object{"error": openaiError(c, &coded, status)})
}
