//go:build linux

package main

import (
	"fmt"
	"strings"
)

// codex is a script about codex exec.
func (g *generator) codex() {
	g.s.Kind = "codex"
	g.s.Acts["codex"] = g.acts(g.codexAct)
	g.run(func() []string {
		args := []string{"codex", "exec"}
		g.optional(&args, 35, "--json")
		g.optional(&args, 30, "--skip-git-repo-check")
		g.optional(&args, 15, "-m", "gpt-5-codex")
		g.optional(&args, 10, "--sandbox", "read-only")
		g.optional(&args, 3, "--frobnicate")
		switch g.IntN(12) {
		case 0:
			return append(args, "resume", sessionID(g.s.Seed, 2), "And now the docs")
		case 1:
			return append(args, "resume", "--last", "And now the docs")
		case 2:
			return append(args, "review", "--uncommitted")
		case 3:
			return append(args, "-")
		}
		return append(args, pick(g.chance, "Review the last commit", "Say hi", strings.Repeat("long ", 3000)))
	})
	g.sessions()
}

// codexReasons are why a turn of codex fails.
var codexReasons = []string{
	"exceeded retry limit, last status: 429 Too Many Requests", "unexpected status 503 Service Unavailable: overloaded", "unexpected status 500 Internal Server Error: oops",
	"unexpected status 401 Unauthorized: Missing bearer", "stream disconnected before completion: Transport error: network error: error decoding response body",
	"stream disconnected before completion: idle timeout waiting for SSE", "You've hit your usage limit. Try again in 3 days 4 hours.", "You've hit your usage limit. Try again at 2:12 AM.",
	"Rate limit reached for gpt-5 on tokens per min. Please try again in 20ms.", "Quota exceeded. Check your plan and billing details.", "Selected model is at capacity. Please try a different model.",
	"Codex ran out of room in the model's context window.", "We're currently experiencing high demand, which may cause temporary errors.",
	`{"error":{"message":"Unsupported value","type":"invalid_request_error","code":"unsupported_value"}}`, "something that is new",
}

// codexRecord is what codex itself puts on record of a session.
func codexRecord() op {
	return op{Append: ".codex/sessions/{{day}}/rollout-1-{{session}}.jsonl", Text: event("timestamp", "{{now}}", "type", "session_meta", "payload", map[string]any{"cli_version": "0.166.0", "cwd": "/home/user/project"}) +
		event("timestamp", "{{now}}", "type", "turn_context", "payload", map[string]any{"model": "gpt-5-codex"}) +
		event("timestamp", "{{now}}", "type", "event_msg", "payload", map[string]any{"type": "token_count", "info": map[string]any{
			"total_token_usage": map[string]any{"input_tokens": 700, "output_tokens": 30}, "last_token_usage": map[string]any{"input_tokens": 700, "cached_input_tokens": 10, "output_tokens": 30}}})}
}

// codexAct is what one start of codex does.
func (g *generator) codexAct() act {
	if g.in(25) {
		return g.replay("codex")
	}
	a := act{{Read: "all", Err: pick(g.chance, "", "Reading additional input from stdin...\n"), Out: event("type", "thread.started", "thread_id", "{{session}}")},
		{Out: event("type", "turn.started")}}
	if g.in(40) {
		a = append(a, codexRecord())
	}
	reason := codexReasons[g.IntN(len(codexReasons))]
	if g.in(30) {
		for n := range g.between(1, 5) {
			a = append(a, op{Out: event("type", "error", "message", fmt.Sprintf("Reconnecting... %d/5 (%s)", n+1, reason)), Sleep: innerPause})
		}
	}
	if g.in(30) {
		for n := range g.between(1, 3) {
			item := map[string]any{"id": fmt.Sprintf("item_%d", n), "type": pick(g.chance, "command_execution", "file_change", "mcp_tool_call"), "server": "db", "tool": "query", "aggregated_output": ""}
			begin := op{Out: event("type", "item.started", "item", item), Sleep: g.IntN(4)}
			item["aggregated_output"] = strings.Repeat("z", pick(g.chance, 10, 10, 40000))
			a = append(a, begin, op{Out: event("type", "item.completed", "item", item)})
		}
	}
	if g.in(6) {
		a = append(a, op{Out: pick(g.chance, "a line that is no event\n", "{torn\n", event("type", "future.event"))})
	}
	if g.in(6) {
		a = append(a, op{Spawn: pick(g.chance, "group", "session")})
	}
	said := g.words(g.between(1, 20))
	if g.in(2) {
		said = "{{long}}"
	}
	answer := op{Out: event("type", "item.completed", "item", map[string]any{"id": "item_9", "type": "agent_message", "text": said})}
	done := op{Out: event("type", "turn.completed", "usage", map[string]any{"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": 50, "reasoning_output_tokens": 20})}
	switch g.IntN(16) {
	case 0, 1, 2, 3, 4, 5:
		return append(a, answer, done, op{Exit: number(0)})
	case 6, 7, 8, 9:
		return append(a, op{Out: event("type", "error", "message", reason) + event("type", "turn.failed", "error", map[string]any{"message": reason})}, op{Exit: number(1)})
	case 10:
		return append(a, answer, op{Exit: number(g.IntN(2))}) // it ends in the middle
	case 11:
		return append(a, done, op{Exit: number(0)}) // without an answer
	case 12:
		return act{{Read: "all", Err: pick(g.chance, "Error: thread/resume failed: no rollout found for thread id {{session}}\n", "error: unexpected argument '--frobnicate' found\n",
			"Error: error loading config: bad TOML\n", "ERROR: "+reason+"\n")}, {Exit: number(g.between(1, 2))}}
	case 13:
		return append(a, op{Signal: pick(g.chance, "KILL", "TERM", "INT")})
	case 14:
		return g.hang(append(a, pick(g.chance, op{}, answer, done))...)
	}
	return append(a, answer, done, op{Exit: number(pick(g.chance, 1, 101))})
}
