package rehearse

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// openai is the stand-in for the Responses API, which codex talks to.
type openai struct{}

func (openai) name() string { return "openai" }

func (openai) claims(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1/responses") || strings.HasPrefix(r.URL.Path, "/v1/models")
}

func (openai) read(r *http.Request, body []byte) call {
	var q struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Input  []struct {
			Type    string `json:"type"`
			Role    string `json:"role"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	json.Unmarshal(body, &q)
	c := call{refusal: openaiRefusal, model: q.Model, stream: q.Stream, session: cmp.Or(r.Header.Get("Session-Id"), r.Header.Get("Session_id"))}
	for _, t := range q.Tools {
		c.tools = append(c.tools, t.Name)
	}
	for _, item := range q.Input {
		switch {
		case item.Role == "user":
			for _, part := range item.Content {
				c.last = cmp.Or(part.Text, c.last)
			}
		case strings.HasSuffix(item.Type, "_call_output"):
			c.last = string(item.Output)
			json.Unmarshal(item.Output, &c.last) // mostly a string
		}
	}
	c.main = r.Method == http.MethodPost && r.URL.Path == "/v1/responses"
	return c
}

func (openai) good(c *call, s *Step, n int) reply {
	output := s.openaiOutput(c, n)
	response := openaiResponse(c, n, "in_progress", []object{})
	whole := openaiResponse(c, n, "completed", output)
	whole["usage"] = openaiUsage(s.charged())
	final := "response.completed"
	if s.Stop != "" {
		final = "response.incomplete"
		whole["status"], whole["incomplete_details"] = "incomplete", object{"reason": s.Stop}
	}
	rep := jsonReply(http.StatusOK, whole)
	if c.stream {
		rep = openaiStream(response, whole, output, final)
	}
	openaiHeaders(rep.header, c, n)
	rep.usage = s.charged()
	return rep
}

func openaiResponse(c *call, n int, status string, output []object) object {
	return object{"id": fmt.Sprintf("resp_rehearsal%04d", n), "object": "response", "created_at": time.Now().Unix(), "status": status,
		"model": c.model, "output": output, "error": nil, "incomplete_details": nil}
}

func openaiUsage(u Usage) object {
	input := u.Input + u.CacheRead + u.CacheCreate // which counts the cached ones too
	return object{"input_tokens": input, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": input + u.Output}
}

// openaiOutput are the items of an answer: a message, a call of a function, or both.
func (s *Step) openaiOutput(c *call, n int) []object {
	var output []object
	if text := s.text(); text != "" {
		output = append(output, object{"type": "message", "id": fmt.Sprintf("msg_rehearsal%04d", n), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": text, "annotations": []object{}}}})
	}
	if s.Tool == "" {
		return output
	}
	name, arguments := s.openaiTool(c)
	named := object{"type": "function_call", "name": name, "arguments": arguments, "status": "completed"}
	// A tool of an MCP server is mcp__server__tool to older codexes, and in a namespace of its server to newer ones, as their own are: collaboration__spawn_agent.
	if i := strings.LastIndex(name, "__"); i > 0 && name[:i] != "mcp" && !slices.Contains(c.tools, name) {
		named["namespace"], named["name"] = name[:i], name[i+2:]
	}
	for i := range max(s.Calls, 1) {
		output = append(output, with(named, object{"id": "fc_" + s.callID(n, i), "call_id": "call_" + s.callID(n, i)}))
	}
	return output
}

// openaiTool is the call of the shell that this codex knows: they have had different ones.
func (s *Step) openaiTool(c *call) (name, arguments string) {
	if s.Poison == poisonImage {
		return "view_image", string(encode(object{"path": c.api.imagePath()}))
	}
	if !strings.EqualFold(s.Tool, "bash") {
		return s.Tool, s.ToolInput
	}
	switch {
	case slices.Contains(c.tools, "shell"):
		return "shell", string(encode(object{"command": []string{"bash", "-lc", s.ToolInput}}))
	case slices.Contains(c.tools, "shell_command"):
		return "shell_command", string(encode(object{"command": s.ToolInput}))
	}
	return "exec_command", string(encode(object{"cmd": s.ToolInput}))
}

// openaiStream is a response as a stream of events.
func openaiStream(begun, whole object, output []object, final string) reply {
	var e events
	sequence := 0
	add := func(name string, fields object) {
		fields["type"], fields["sequence_number"] = name, sequence
		sequence++
		e.add(name, fields)
	}
	add("response.created", object{"response": begun})
	add("response.in_progress", object{"response": begun})
	e.mark(AtStart)
	for i, item := range output {
		opened := with(item, object{"status": "in_progress"})
		if item["type"] == "message" {
			opened["content"] = []object{}
			add("response.output_item.added", object{"output_index": i, "item": opened})
			part := item["content"].([]object)[0]
			text := part["text"].(string)
			add("response.content_part.added", object{"output_index": i, "content_index": 0, "item_id": item["id"],
				"part": object{"type": "output_text", "text": "", "annotations": []object{}}})
			e.words(text, func(piece string) {
				add("response.output_text.delta", object{"output_index": i, "content_index": 0, "item_id": item["id"], "delta": piece})
			})
			add("response.output_text.done", object{"output_index": i, "content_index": 0, "item_id": item["id"], "text": text})
			add("response.content_part.done", object{"output_index": i, "content_index": 0, "item_id": item["id"], "part": part})
		} else {
			opened["arguments"] = ""
			add("response.output_item.added", object{"output_index": i, "item": opened})
			e.mark(InText)
			add("response.function_call_arguments.done", object{"output_index": i, "item_id": item["id"], "arguments": item["arguments"]})
		}
		add("response.output_item.done", object{"output_index": i, "item": item})
		e.mark(AfterBlock)
	}
	add(final, object{"response": whole})
	return e.reply()
}

func (v openai) side(c *call) reply {
	if strings.HasPrefix(c.r.URL.Path, "/v1/models") {
		return jsonReply(http.StatusOK, object{"object": "list", "data": []object{}, "models": []object{}})
	}
	if isAside(c.r.Header) {
		return v.good(c, &Step{Text: "A rehearsal", Usage: Usage{-1, -1, -1, -1}}, 0)
	}
	return jsonReply(http.StatusNotFound, object{"error": openaiError(c, &Step{}, http.StatusNotFound)})
}

// openaiErrors are type, code and message that go with a status.
var openaiErrors = map[int][3]string{
	400: {"invalid_request_error", "invalid_value", "Invalid value: 'x'."},
	401: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-rehearsal."},
	402: {"invalid_request_error", "billing_hard_limit_reached", "Billing hard limit has been reached."},
	403: {"invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported"},
	404: {"invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."},
	413: {"invalid_request_error", "request_too_large", "Request too large"},
	429: {"requests", "rate_limit_exceeded", "Rate limit reached for requests"},
	500: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
	503: {"server_error", "", "The server is temporarily unable to handle the request."},
	529: {"server_error", "", "overloaded"},
}

// openaiCodes are the messages that go with a code of its own.
var openaiCodes = map[string][2]string{
	"insufficient_quota":      {"insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
	"server_is_overloaded":    {"service_unavailable_error", "Our servers are currently overloaded. Please try again later."},
	"context_length_exceeded": {"invalid_request_error", "Your input exceeds the context window of this model. Please adjust your input and try again."},
	"rate_limit_exceeded":     {"requests", "Rate limit reached for requests. Please try again in 1.5s."},
	"usage_not_included":      {"usage_not_included", "Usage is not included in your plan"},
}

// openaiError is what an error is made of.
func openaiError(c *call, s *Step, status int) object {
	known := openaiErrors[status]
	if status == http.StatusNotFound && c.model != "" {
		known[2] = fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", c.model)
	}
	code := cmp.Or(s.Code, known[1])
	of := openaiCodes[s.Code]
	var coded any
	if code != "" {
		coded = code
	}
	return object{"type": cmp.Or(s.Type, of[0], known[0], "server_error"), "code": coded, "param": nil,
		"message": cmp.Or(s.Message, of[1], known[2], http.StatusText(status), "error")}
}

func (openai) fail(c *call, s *Step, n int) reply {
	status, body := s.Status, openaiError(c, s, s.Status)
	switch {
	case s.Overloaded:
		status = http.StatusServiceUnavailable
		coded := *s
		coded.Code = cmp.Or(s.Code, "server_is_overloaded")
		body = openaiError(c, &coded, status)
	case s.UsageLimit:
		status = http.StatusTooManyRequests
		reset := s.resetTime()
		body = object{"type": "usage_limit_reached", "message": cmp.Or(s.Message, "The usage limit has been reached"),
			"plan_type": cmp.Or(s.Plan, "plus"), "resets_at": reset.Unix(), "resets_in_seconds": int(time.Until(reset).Seconds())}
	}
	rep := jsonReply(status, object{"error": body})
	openaiHeaders(rep.header, c, n)
	return rep
}

// openaiHeaders are the headers of every answer: a request id, and how much is used of two windows, as codex reads it.
func openaiHeaders(h http.Header, c *call, n int) {
	h.Set("X-Request-Id", fmt.Sprintf("req_rehearsal%04d", n))
	windows := c.api.used()
	for i, w := range windows[:min(len(windows), 2)] {
		of := "X-Codex-" + []string{"Primary", "Secondary"}[i]
		h.Set(of+"-Used-Percent", fmt.Sprintf("%.6g", w.Share*100))
		h.Set(of+"-Window-Minutes", fmt.Sprint(int(w.Length.Minutes())))
		h.Set(of+"-Reset-At", fmt.Sprint(w.resets.Unix()))
		h.Set(of+"-Reset-After-Seconds", fmt.Sprint(int(time.Until(w.resets).Seconds())))
	}
}

func (openai) failInside(c *call, s *Step, n int) []byte {
	coded := *s
	if s.Cut == CutOverloaded {
		coded.Code = cmp.Or(s.Code, "server_is_overloaded")
	}
	coded.Code = cmp.Or(coded.Code, s.Type, "server_error")
	failed := openaiResponse(c, n, "failed", []object{})
	failed["error"] = openaiError(c, &coded, http.StatusInternalServerError)
	return event("response.failed", object{"type": "response.failed", "sequence_number": 99, "response": failed})
}
