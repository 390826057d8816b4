//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// claude is a script about claude -p, or about a conversation with it.
func (g *generator) claude() {
	g.s.Kind = "claude"
	if g.in(7) {
		g.conversation()
		return
	}
	g.s.Acts["claude"] = g.acts(g.claudeAct)
	called := 0
	g.run(func() []string {
		called++
		args := []string{"claude", "-p"}
		switch g.IntN(6) {
		case 0, 1:
			args = append(args, "--output-format", "json")
		case 2, 3:
			args = append(args, "--output-format", "stream-json", "--verbose")
		}
		g.optional(&args, 10, "--include-partial-messages")
		g.optional(&args, 15, "--model", "sonnet")
		g.optional(&args, 6, "--max-turns", g.number(1, 3))
		g.optional(&args, 4, "--max-budget-usd", "0.002")
		g.optional(&args, 5, "--session-id", sessionID(g.s.Seed, called))
		g.optional(&args, 4, "--resume", sessionID(g.s.Seed, 7))
		g.optional(&args, 3, "--frobnicate")
		g.optional(&args, 3, "-c")
		if g.in(80) {
			args = append(args, pick(g.chance, "Review the last commit", "/compact", "Say hi", strings.Repeat("long ", 2500)))
		}
		return args
	})
	g.sessions()
}

// sessions adds flags about sessions and cost to the calls of an agent.
func (g *generator) sessions() {
	for i := range g.s.Steps {
		args := g.s.Steps[i].Args
		if args[0] != "run" {
			continue
		}
		var f []string
		switch g.IntN(12) {
		case 0, 1:
			f = append(f, "--resume", pick(g.chance, "last", "last", sessionID(g.s.Seed, 3), "no session"))
		case 2:
			f = append(f, "--resume-or-new", pick(g.chance, "last", sessionID(g.s.Seed, 4)))
		}
		g.optional(&f, 5, "--resume-prompt", "Go on.")
		g.optional(&f, 8, "--no-resume-on-retry")
		g.optional(&f, 8, "--max-cost", pick(g.chance, "0.001", "0.01", "5"))
		g.s.Steps[i].Args = append(append([]string{"run"}, f...), args[1:]...)
	}
}

// claudeInit is how a stream begins.
func (g *generator) claudeInit() op {
	return op{Read: "all", Out: event("type", "system", "subtype", "init", "cwd", "/home/user/project", "session_id", "{{session}}", "tools", []string{"Bash", "Edit"},
		"model", "claude-opus-4-8", "permissionMode", "default", "apiKeySource", pick(g.chance, "ANTHROPIC_API_KEY", "none"),
		"claude_code_version", pick(g.chance, "2.1.325", "2.1.197", "9.0.0"), "uuid", "u-init")}
}

// said is a message of the model.
func (g *generator) said(n int, content ...any) op {
	return op{Out: event("type", "assistant", "message", map[string]any{"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "claude-opus-4-8",
		"content": content, "usage": usage(100, 1)}, "parent_tool_use_id", nil, "session_id", "{{session}}", "uuid", fmt.Sprintf("u-%d", n))}
}

func text(s string) any { return map[string]any{"type": "text", "text": s} }

func usage(in, out int) map[string]any {
	return map[string]any{"input_tokens": in, "output_tokens": out, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 5}
}

// claudeRetries are retries inside claude, each with a pause in which belay may end it.
func (g *generator) claudeRetries() (ops act) {
	status, name := 429, "rate_limit"
	switch g.IntN(6) {
	case 0:
		status, name = 529, "overloaded"
	case 1:
		status, name = 500, "server_error"
	case 2:
		status, name = 401, "authentication_failed"
	case 3:
		status, name = 0, "unknown"
	}
	for n := range g.between(1, 4) {
		ops = append(ops, op{Out: event("type", "system", "subtype", "api_retry", "attempt", n+1, "max_retries", 10, "retry_delay_ms", pick(g.chance, 12.5, 20.25, 40.5, 1000),
			"error_status", status, "error", name, "session_id", "{{session}}", "uuid", fmt.Sprintf("u-retry-%d", n)), Sleep: innerPause})
	}
	return ops
}

// claudeTools are tools at work.
func (g *generator) claudeTools() (ops act) {
	for n := range g.between(1, 3) {
		id := fmt.Sprintf("toolu_%d", n)
		ops = append(ops, g.said(100+n, map[string]any{"type": "tool_use", "id": id, "name": pick(g.chance, "Bash", "Edit", "mcp__db__query"), "input": map[string]any{"command": "make"}}),
			op{Sleep: g.IntN(4)},
			op{Out: event("type", "user", "message", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": g.words(5)}}},
				"session_id", "{{session}}", "uuid", fmt.Sprintf("u-tool-%d", n))})
	}
	return ops
}

// claudeResult is how a stream ends.
func claudeResult(subtype, result string, more ...any) op {
	fields := []any{"type", "result", "subtype", subtype, "is_error", false, "duration_ms", 148, "duration_api_ms", 22, "num_turns", 1, "result", result, "stop_reason", "end_turn",
		"session_id", "{{session}}", "total_cost_usd", 0.0012, "usage", usage(100, 20), "modelUsage", map[string]any{"claude-opus-4-8": map[string]any{"inputTokens": 100, "outputTokens": 20, "costUSD": 0.0012}},
		"permission_denials", []any{}, "uuid", "u-result"}
	return op{Out: event(append(fields, more...)...)}
}

// claudeFailure is a result that tells of a failure of the API.
func (g *generator) claudeFailure() (ops act) {
	status := pick(g.chance, 429, 529, 500, 503, 400, 401, 403, 404, 413)
	words := pick(g.chance, "API Error: Request was rejected", "API Error: Server is temporarily limiting requests", "Credit balance is too low", "Prompt is too long",
		"Invalid API key · Please run /login", "API Error: 529 Overloaded", "You've hit your session limit · resets 2:21am (UTC)", "API Error: Connection error.", "Request timed out, please try again in 20ms")
	if g.in(30) {
		ops = append(ops, op{Out: event("type", "rate_limit_event", "rate_limit_info", map[string]any{"status": pick(g.chance, "rejected", "allowed_warning"), "resetsAt": json.Number(pick(g.chance, "946684800", "4102444800")),
			"rateLimitType": "five_hour"}, "uuid", "u-limit", "session_id", "{{session}}")})
		status = 429
	}
	return append(ops,
		op{Out: event("type", "assistant", "message", map[string]any{"id": "synthetic", "model": "<synthetic>", "role": "assistant", "content": []any{text(words)}, "usage": usage(0, 0)},
			"session_id", "{{session}}", "uuid", "u-synthetic", "error", pick(g.chance, "rate_limit", "server_error", "unknown", "invalid_request"))},
		claudeResult("success", words, "is_error", true, "api_error_status", status, "modelUsage", map[string]any{}, "total_cost_usd", 0))
}

// claudeAct is what one start of claude does.
func (g *generator) claudeAct() act {
	if g.in(22) {
		return g.replay("claude")
	}
	a := act{g.claudeInit()}
	if g.in(6) {
		a = append(a, op{Out: pick(g.chance, "a line that is no event\n", "{\"type\":\"future_event\",\"uuid\":\"u-f\"}\n", "{torn\n"), Err: "warning: something\n"})
	}
	if g.in(25) {
		a = append(a, g.claudeRetries()...)
	}
	if g.in(30) {
		a = append(a, g.claudeTools()...)
	}
	if g.in(8) {
		a = append(a, op{Spawn: pick(g.chance, "group", "session")})
	}
	answer := g.words(g.between(1, 30))
	switch g.IntN(20) {
	case 0, 1, 2, 3, 4, 5, 6:
		return append(a, g.said(1, text(answer)), claudeResult("success", answer), op{Exit: number(0)})
	case 7, 8, 9, 10:
		return append(append(a, g.claudeFailure()...), op{Exit: number(1)})
	case 11:
		answer = pick(g.chance, strings.Repeat(answer+" ", 2000), "{{long}}")
		return append(a, g.said(1, text(answer)), claudeResult("success", answer), op{Exit: number(0)})
	case 12:
		return append(a, g.said(1, text(answer)), op{Exit: number(g.between(0, 1))}) // it ends in the middle
	case 13:
		return append(a, claudeResult("success", "", "usage", usage(100, 1)), op{Exit: number(0)}) // an empty answer
	case 14:
		return append(a, claudeResult(pick(g.chance, "error_max_turns", "error_during_execution", "error_max_budget_usd"), "", "errors", []string{"Reached the limit"}), op{Exit: number(1)})
	case 15:
		return act{{Read: "all", Err: pick(g.chance, "No conversation found with session ID: {{session}}\n", "error: unknown option '--frobnicate'\n", "Error: connect ECONNREFUSED 127.0.0.1:443\n",
			"Error: Session ID {{session}} is already in use.\n", "Execution error")}, {Exit: number(1)}}
	case 16:
		return append(a, op{Signal: pick(g.chance, "KILL", "TERM", "INT", "SEGV")})
	case 17:
		return g.hang(append(a, pick(g.chance, op{}, g.said(1, text(answer)), claudeResult("success", answer)))...)
	case 18:
		return append(a, g.said(1, text(answer)), claudeResult("success", answer), op{Exit: number(pick(g.chance, 1, 2, 143))}) // it works, and fails at its end
	}
	pieces := act{{Out: event("type", "stream_event", "event", map[string]any{"type": "message_start", "message": map[string]any{"id": "msg_1", "usage": usage(100, 1)}}, "session_id", "{{session}}", "uuid", "u-s1")},
		{Out: event("type", "stream_event", "event", map[string]any{"type": "message_delta", "usage": usage(0, 20), "delta": map[string]any{"stop_reason": "end_turn"}}, "session_id", "{{session}}", "uuid", "u-s2")}}
	return append(append(a, pieces...), g.said(1, text(answer)), claudeResult("success", answer), op{Exit: number(0)})
}

// conversation is one that the caller drives line by line.
func (g *generator) conversation() {
	var stdin strings.Builder
	a := act{}
	for n := range g.between(1, 3) {
		stdin.WriteString(event("type", "user", "message", map[string]any{"role": "user", "content": g.words(4)}))
		answer := g.words(5)
		init := g.claudeInit()
		init.Read = "line"
		a = append(a, init)
		if g.in(20) {
			a = append(a, g.claudeRetries()...)
		}
		if g.in(30) {
			a = append(a, g.claudeFailure()...)
		} else {
			a = append(a, g.said(n, text(answer)), claudeResult("success", answer))
		}
	}
	g.s.Acts["claude"] = []act{append(a, op{Exit: number(g.IntN(2))})}
	input := stdin.String()
	args := []string{"run"}
	g.optional(&args, 30, "--result-file", resultFile)
	g.optional(&args, 30, "--verbose")
	g.optional(&args, 30, "--max-retries", "2")
	args = append(args, "--", "claude", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	g.optional(&args, 50, "-p")
	g.s.Steps = append(g.s.Steps, step{Args: args, Stdin: &input})
	g.questions()
}

// event is a line of JSON with these fields, in this order: names and values by turns. A later value of a name stands in the
// place of an earlier one.
func event(fields ...any) string {
	var b strings.Builder
	for i := 0; i < len(fields); i += 2 {
		value := fields[i+1]
		for j := i + 2; j < len(fields); j += 2 {
			if fields[j] == fields[i] {
				value = fields[j+1]
			}
		}
		if earlier(fields[:i], fields[i]) {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			panic(err) // a value that no script has
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", fields[i], data)
	}
	return "{" + b.String() + "}\n"
}

// earlier reports whether a name stands among fields.
func earlier(fields []any, name any) bool {
	for i := 0; i < len(fields); i += 2 {
		if fields[i] == name {
			return true
		}
	}
	return false
}
