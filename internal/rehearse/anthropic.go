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

// anthropic is the stand-in for the Messages API, which claude talks to.
type anthropic struct{}

func (anthropic) name() string { return "anthropic" }

// claims takes everything of the Messages API. claude also checks that the bare address answers.
func (anthropic) claims(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1/messages") || strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/"
}

func (anthropic) read(r *http.Request, body []byte) call {
	var q struct {
		Model     string `json:"model"`
		Stream    bool   `json:"stream"`
		MaxTokens int    `json:"max_tokens"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Metadata struct {
			UserID string `json:"user_id"`
		} `json:"metadata"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	json.Unmarshal(body, &q)                                     // what is not understood is not there
	_, session, _ := strings.Cut(q.Metadata.UserID, "_session_") // where claude 2.0 says it
	c := call{refusal: anthropicRefusal, model: q.Model, stream: q.Stream, session: cmp.Or(r.Header.Get("X-Claude-Code-Session-Id"), session)}
	for _, t := range q.Tools {
		c.tools = append(c.tools, t.Name)
	}
	for _, m := range q.Messages {
		if m.Role == "user" {
			c.last = cmp.Or(lastText(m.Content), c.last)
		}
	}
	// A check of the quota asks for one token; older claudes warm up and let a small model, which gets no tools, think
	// of titles.
	small := strings.Contains(q.Model, "haiku") && len(q.Tools) == 0
	c.main = r.Method == http.MethodPost && r.URL.Path == "/v1/messages" && q.MaxTokens != 1 && c.last != "Warmup" && !small
	return c
}

// lastText is the last text of a message, which is a string or a list of blocks.
func lastText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"` // of a tool's result
	}
	json.Unmarshal(content, &blocks)
	for _, b := range blocks {
		switch {
		case b.Text != "":
			text = b.Text
		case b.Type == "tool_result":
			text = lastText(b.Content)
		}
	}
	return text
}

func (anthropic) good(c *call, s *Step, n int) reply {
	content := s.anthropicContent(n)
	stop := cmp.Or(s.Stop, "end_turn")
	if s.Tool != "" {
		stop = cmp.Or(s.Stop, "tool_use")
	}
	message := object{"id": fmt.Sprintf("msg_rehearsal%04d", n), "type": "message", "role": "assistant", "model": c.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": anthropicUsage(s.charged())}
	rep := jsonReply(http.StatusOK, message)
	if c.stream {
		rep = anthropicStream(message, content, s.charged())
	}
	anthropicHeaders(rep.header, c, n, time.Time{})
	if windows := c.api.used(); c.subscription && windows != nil { // with an error, only one that is used up is named
		anthropicClaim(rep.header, windows[0].Name, windows[0].resets)
	}
	rep.usage = s.charged()
	return rep
}

// anthropicContent are the blocks of an answer: a text, a tool call, or both.
func (s *Step) anthropicContent(n int) []object {
	var content []object
	if text := s.text(); text != "" {
		content = append(content, object{"type": "text", "text": text})
	}
	if s.Tool == "" {
		return content
	}
	name, input := s.Tool, any(json.RawMessage(s.ToolInput))
	if s.Poison == poisonImage { // claude takes such an output for an image
		name, input = "Bash", object{"command": "echo 'data:image/png;base64," + anImage + "'", "description": "rehearsed"}
	} else if strings.EqualFold(name, "bash") {
		name, input = "Bash", object{"command": s.ToolInput, "description": "rehearsed"}
	} else if !json.Valid([]byte(s.ToolInput)) {
		input = object{"input": s.ToolInput}
	}
	for i := range max(s.Calls, 1) {
		content = append(content, object{"type": "tool_use", "id": "toolu_" + s.callID(n, i), "name": name, "input": input})
	}
	return content
}

// anthropicStream is a message as a stream of events.
func anthropicStream(message object, content []object, u Usage) reply {
	var e events
	first := u
	first.Output = min(first.Output, 1)
	begun := with(message, object{"content": []object{}, "stop_reason": nil, "usage": anthropicUsage(first)})
	e.add("message_start", object{"type": "message_start", "message": begun})
	e.mark(AtStart)
	for i, block := range content {
		start, deltas := object{"type": "text", "text": ""}, []object{}
		if text, ok := block["text"].(string); ok {
			for _, piece := range pieces(text) {
				deltas = append(deltas, object{"type": "text_delta", "text": piece})
			}
		} else {
			start = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": string(encode(block["input"]))})
		}
		e.add("content_block_start", object{"type": "content_block_start", "index": i, "content_block": start})
		if i == 0 {
			e.add("ping", object{"type": "ping"})
		}
		for j, d := range deltas {
			if j == len(deltas)/2 {
				e.mark(InText)
			}
			e.add("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d})
		}
		e.add("content_block_stop", object{"type": "content_block_stop", "index": i})
		e.mark(AfterBlock)
	}
	e.add("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": message["stop_reason"], "stop_sequence": nil},
		"usage": object{"output_tokens": u.Output}})
	e.add("message_stop", object{"type": "message_stop"})
	return e.reply()
}

func anthropicUsage(u Usage) object {
	return object{"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead,
		"cache_creation_input_tokens": u.CacheCreate, "service_tier": "standard"}
}

func (anthropic) side(c *call) reply {
	switch {
	case c.r.URL.Path == "/v1/messages/count_tokens":
		return jsonReply(http.StatusOK, object{"input_tokens": 10})
	case c.r.URL.Path == "/v1/messages":
		return anthropic{}.good(c, &Step{Text: "Rehearsal", Usage: Usage{1, 1, 0, 0}}, 0)
	case c.r.URL.Path == "/":
		return jsonReply(http.StatusOK, object{})
	}
	return jsonReply(http.StatusNotFound, anthropicError(c, &Step{}, http.StatusNotFound, 0))
}

// anthropicErrors are the types and messages that go with a status.
var anthropicErrors = map[int][2]string{
	400: {"invalid_request_error", "messages: at least one message is required"},
	401: {"authentication_error", "invalid x-api-key"},
	402: {"billing_error", "Your account has no credit left."},
	403: {"permission_error", "Your API key does not have permission to use the specified resource."},
	404: {"not_found_error", "Not Found"},
	408: {"timeout_error", "Request timeout"},
	413: {"request_too_large", "Request exceeds the maximum size"},
	429: {"rate_limit_error", "This request would exceed your organization's rate limit. Please try again later."},
	500: {"api_error", "Internal server error"},
	503: {"api_error", "Service unavailable"},
	529: {"overloaded_error", "Overloaded"},
}

// anthropicError is the body of an error.
func anthropicError(c *call, s *Step, status, n int) object {
	known := anthropicErrors[status]
	message := known[1]
	if status == http.StatusNotFound && c.model != "" {
		message = "model: " + c.model
	}
	return object{"type": "error", "request_id": fmt.Sprintf("req_rehearsal%04d", n),
		"error": object{"type": cmp.Or(s.Type, s.Code, known[0], "api_error"), "message": cmp.Or(s.Message, message, http.StatusText(status), "error")}}
}

func (anthropic) fail(c *call, s *Step, n int) reply {
	status, reset := s.Status, time.Time{}
	switch {
	case s.Overloaded:
		status = 529
	case s.UsageLimit:
		status, reset = http.StatusTooManyRequests, s.resetTime()
		limited := *s
		limited.Message = cmp.Or(s.Message, "This request would exceed your account's rate limit. Please try again later.")
		s = &limited
	}
	rep := jsonReply(status, anthropicError(c, s, status, n))
	anthropicHeaders(rep.header, c, n, reset)
	if s.UsageLimit {
		unifiedLimit(rep.header, s.Window, reset)
	}
	return rep
}

// anthropicHeaders are the headers of every answer: a request id, and for a subscriber how much of the plan is used.
func anthropicHeaders(h http.Header, c *call, n int, used time.Time) {
	h.Set("Request-Id", fmt.Sprintf("req_rehearsal%04d", n))
	if !c.subscription {
		reset := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
		for _, what := range []string{"Requests", "Tokens"} {
			h.Set("Anthropic-Ratelimit-"+what+"-Limit", "4000")
			h.Set("Anthropic-Ratelimit-"+what+"-Remaining", "3999")
			h.Set("Anthropic-Ratelimit-"+what+"-Reset", reset)
		}
		return
	}
	windows := c.api.used()
	if windows == nil && used.IsZero() {
		windows = []Window{{Name: "5h", Share: 0.1, resets: time.Now().Add(150 * time.Minute)}, {Name: "7d", Share: 0.1, resets: time.Now().Add(84 * time.Hour)}}
	}
	unified(h, "", "Status", "allowed")
	for _, w := range windows {
		unified(h, w.Name, "Status", "allowed", "Utilization", fmt.Sprintf("%.6g", w.Share), "Reset", fmt.Sprint(w.resets.Unix()))
	}
}

// claims are the names of windows outside of headers.
var claims = map[string]string{"5h": "five_hour", "7d": "seven_day"}

// anthropicClaim names the window that counts.
func anthropicClaim(h http.Header, window string, reset time.Time) {
	unified(h, "", "Reset", fmt.Sprint(reset.Unix()), "Representative-Claim", cmp.Or(claims[window], window))
}

// unifiedLimit are the headers of a plan whose window is used up.
func unifiedLimit(h http.Header, window string, reset time.Time) {
	anthropicClaim(h, window, reset)
	unified(h, "", "Status", "rejected", "Fallback-Percentage", "0.5")
	unified(h, "", "Overage-Status", "rejected", "Overage-Disabled-Reason", "org_level_disabled")
	unified(h, window, "Status", "rejected", "Reset", fmt.Sprint(reset.Unix()), "Utilization", "1.0")
}

// unified sets headers of a window, or of all together, from pairs of name and value.
func unified(h http.Header, window string, pairs ...string) {
	if window != "" {
		window += "-"
	}
	for pair := range slices.Chunk(pairs, 2) {
		h.Set("Anthropic-Ratelimit-Unified-"+window+pair[0], pair[1])
	}
}

func (anthropic) failInside(c *call, s *Step, n int) []byte {
	status := http.StatusInternalServerError
	if s.Cut == CutOverloaded {
		status = 529
	}
	return event("error", anthropicError(c, s, status, n))
}
