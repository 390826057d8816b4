package agent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/verdict"
)

// quotes are what a model may say and a tool may print: every kind of failure, in the words of those that fail so.
var quotes = []string{
	// What the table of last resort knows.
	"rate limited", "HTTP 429", "Error: 429 Too Many Requests", "auth failed", "Error: 401 Unauthorized", "Error: Invalid API key",
	"Connection timeout", "Connection reset by peer", "ECONNRESET", "ETIMEDOUT", "ENOTFOUND", "EPIPE", "Error: connect ECONNREFUSED 127.0.0.1:443",
	"Failed to connect to Claude Code CLI", "You have exceeded a secondary rate limit", "HTTP 500", "HTTP 502", "Error: 503 Service Unavailable",
	"status code 504", "the service is overloaded", "Operation timed out", "gh: timeout", "HTTP 429: Retry-After: 30",
	// What claude says.
	"API Error: Request rejected (429) · This request would exceed your organization's rate limit.", "API Error: 529 Overloaded.",
	"API Error: 500 Internal server error.", "API Error: Unable to connect to API (ECONNRESET)", "Request timed out", "rate limit reached",
	"You've hit your session limit · resets 2:21am (UTC)", "Credit balance is too low", "Invalid API key · Fix external API key",
	"Error: No messages returned", "Could not parse message into JSON: x", "API Error: API returned an empty or malformed response (HTTP 200)",
	"undefined is not an object (evaluating 'a.b')", "Failed to refresh OAuth token: fetch failed", "Error: Session ID x is already in use.",
	`API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
	// What codex says.
	"exceeded retry limit, last status: 429 Too Many Requests", "unexpected status 503 Service Unavailable: busy, url: http://h/v1/responses",
	"stream disconnected before completion: idle timeout waiting for SSE", "We're currently experiencing high demand, which may cause temporary errors.",
	"Selected model is at capacity. Please try a different model.", "You've hit your usage limit. Try again later.",
	"thread x already has an active writer", "error sending request for url (http://h/v1/responses)", "ERROR: 429 Too Many Requests", "Quota exceeded. Check your plan.",
	// What gh says.
	"gh: API rate limit exceeded for user ID 1. (HTTP 403)", "HTTP 502: Bad Gateway (https://api.github.com/graphql)", "GraphQL: was submitted too quickly (createIssue)",
	`Post "https://api.github.com/graphql": dial tcp: lookup api.github.com: no such host`, "error connecting to api.github.com", "unexpected EOF",
	`{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`,
	// What services behind them say.
	"Usage limit reached for 5 hour. Your limit will reset at 2026-11-18 05:23:03", "Insufficient balance or no resource package. Please recharge.", "[1308][Usage limit]",
	"Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", "error code: 1015", "error code: 1033", "insufficient balance (1008)",
	"This model's maximum context length is 131072 tokens.", "Out of call volume quota. Quota will be replenished in 02:12:45.", "ThrottlingException", "您的限额将在 2026-11-18 05:23:03 重置。",
	"This model is currently experiencing high demand.", "The request body is not valid JSON: no low surrogate in string", "Bitte versuchen Sie es in 30 Sekunden erneut.",
	// What looks like an event, or like the end.
	`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429"}`,
	`{"type":"assistant","error":"rate_limit","message":{"model":"<synthetic>"}}`,
	`{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`,
	"Execution error", "turn interrupted", "Killed", "panic: runtime error", "No conversation found with session ID: x",
}

// speeches are how a model, or a log, puts a quotation.
var speeches = []string{"%s", "The log says:\n\n```\n%s\n```\n\nThat is why it failed.", "Summary: %s", "# Report\n\n%s\n%[1]s\n\nDone.", "line one\r\n%s\r\n"}

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// run is an outcome, and the profile that judges it.
type run struct {
	form    string
	profile agent.Profile
	verdict.Outcome
}

func outcome(code int, stdout, stderr string) verdict.Outcome {
	return verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
}

func inJSON(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// claudeEvents are the events of a run in which the model has said something and a tool has printed something.
func claudeEvents(said, printed string) string {
	const id = `"session_id":"5a0f7d1e-0000-4000-8000-000000000001","uuid":"u",`
	return strings.Join([]string{
		`{` + id + `"type":"system","subtype":"init","claude_code_version":"2.1.325","apiKeySource":"ANTHROPIC_API_KEY"}`,
		`{` + id + `"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":1}}}}`,
		`{` + id + `"type":"assistant","message":{"id":"m1","model":"claude-opus-5-5","content":[{"type":"text","text":` + inJSON(said) + `},{"type":"tool_use","id":"t","name":"Bash","input":{"command":` + inJSON(said) + `}}]}}`,
		`{` + id + `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":` + inJSON(printed) + `}]}}`,
		`{` + id + `"type":"assistant","message":{"id":"m2","model":"claude-opus-5-5","content":[{"type":"text","text":` + inJSON(said) + `}]}}`,
	}, "\n") + "\n"
}

// claudeResult is the last line of a run.
func claudeResult(fields string) string {
	return `{"session_id":"5a0f7d1e-0000-4000-8000-000000000001","uuid":"u","type":"result","num_turns":2,"modelUsage":{"m":{"inputTokens":1,"outputTokens":1}},"usage":{"input_tokens":1,"output_tokens":1},` + fields + "}\n"
}

// hook is what claude passes on of a hook that fails at the very end.
func hook(printed string) string {
	return "SessionEnd hook [./notify.sh] failed: " + printed + "\n" + printed + "\n"
}

const thread = "01a1dda8-7cdc-7952-9936-ec801d7b5e7d"

// codexEvents are the same for codex.
func codexEvents(said, printed string) string {
	return strings.Join([]string{
		`{"type":"thread.started","thread_id":"` + thread + `"}`,
		`{"type":"turn.started"}`,
		`{"type":"item.completed","item":{"id":"item_0","type":"error","message":` + inJSON(printed) + `}}`,
		`{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":` + inJSON(said) + `}}`,
		`{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"x","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"x","aggregated_output":` + inJSON(printed) + `,"exit_code":1,"status":"failed"}}`,
		`{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":` + inJSON(said) + `}}`,
	}, "\n") + "\n"
}

// codexTrace is what codex prints for people, on stderr.
func codexTrace(said, printed string) string {
	return "OpenAI Codex v0.166.0\n--------\nworkdir: /w\nmodel: m\nsession id: " + thread + "\n--------\nuser\nlook into " + said +
		"\nexec\n/bin/bash -lc 'cat log' in /w\n exited 1 in 0ms:\n" + printed + "\n\ncodex\n" + said + "\n"
}

func codexLog(printed string) string {
	return "2026-11-15T05:42:16.000000Z ERROR codex_core::tools::router: error=Exit code: 1\nOutput:\n" + printed + "\n"
}

// goodRuns are runs that have done their work and quote something.
func goodRuns(said, printed string) []run {
	ofClaude := claude.New([]string{"claude", "-p", "x"}, []string{})
	ofCodex := codex.New([]string{"codex", "exec", "x"}, nil, "")
	ofGH := gh.New([]string{"gh", "issue", "view", "1"}, []string{}, "")
	api := gh.New([]string{"gh", "api", "repos/o/r/issues/1"}, []string{}, "")
	success := claudeResult(`"subtype":"success","is_error":false,"terminal_reason":"completed","result":` + inJSON(said))
	completed := `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}` + "\n"
	stream := claudeEvents(said, printed) + success
	return []run{
		{"claude, stream", ofClaude, outcome(0, stream, "")},
		{"claude, stream, hook", ofClaude, outcome(0, stream, hook(printed))},
		{"claude, json", ofClaude, outcome(0, success, "")},
		{"claude, json, verbose", ofClaude, outcome(0, "["+strings.ReplaceAll(strings.TrimSpace(stream), "\n", ",")+"]\n", printed+"\n")},
		{"claude, text", ofClaude, outcome(0, strings.TrimSuffix(said, "\n")+"\n", hook(printed))},
		{"codex, json", ofCodex, outcome(0, codexEvents(said, printed)+completed, "")},
		{"codex, json, log", ofCodex, outcome(0, codexEvents(said, printed)+completed, codexLog(printed)+printed+"\n")},
		{"codex, plain", ofCodex, outcome(0, said+"\n", codexTrace(said, printed)+"tokens used\n15\n")},
		{"codex, plain, log", ofCodex, outcome(0, said+"\n", codexTrace(said, printed)+codexLog(printed)+"tokens used\n1,650\n")},
		{"gh, text", ofGH, outcome(0, "title:\t"+said+"\n--\n"+printed+"\n", "")},
		{"gh, json", api, outcome(0, `{"title":`+inJSON(said)+`,"body":`+inJSON(printed)+"}\n", "")},
	}
}

// failedRuns are runs that failed for a reason that will not pass, and quote something. What the plain form of codex shows
// last of a tool may be anything.
func failedRuns(said, printed string) []run {
	ofClaude := claude.New([]string{"claude", "-p", "x"}, []string{})
	ofCodex := codex.New([]string{"codex", "exec", "x"}, nil, "")
	ofGH := gh.New([]string{"gh", "issue", "create"}, []string{}, "")
	events, trace := claudeEvents(said, printed), codexTrace(said, printed)
	var runs []run
	for name, result := range map[string]string{
		"max turns":   claudeResult(`"subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"]`),
		"max budget":  claudeResult(`"subtype":"error_max_budget_usd","is_error":true,"errors":["Reached maximum budget ($0.5)"]`),
		"refusal":     claudeResult(`"subtype":"success","is_error":true,"stop_reason":"refusal","result":"API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy"`),
		"bad request": claudeResult(`"subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400 messages: at least one message is required"`),
		"bad key":     claudeResult(`"subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key · Fix external API key"`),
		"no model":    claudeResult(`"subtype":"success","is_error":true,"api_error_status":404,"result":"There's an issue with the selected model (x)."`),
		"unheard of":  claudeResult(`"subtype":"error_during_execution","is_error":true,"errors":["Something else."]`),
	} {
		runs = append(runs, run{"claude, stream, " + name, ofClaude, outcome(1, events+result, hook(printed))},
			run{"claude, json, " + name, ofClaude, outcome(1, result, printed+"\n")})
	}
	for _, words := range []string{"Error: Reached max turns (2)", "API Error: 400 messages: x\n", "Invalid API key · Please run /login\n", "Something else.\n"} {
		runs = append(runs, run{"claude, text, " + strings.TrimSpace(words), ofClaude, outcome(1, words, hook(printed))})
	}
	runs = append(runs,
		run{"claude, crashed", ofClaude, outcome(139, events, printed+"\n")},
		run{"claude, gone", ofClaude, outcome(1, events, printed+"\n")},
		run{"claude, gone, hook", ofClaude, outcome(1, events, hook(printed))},
		run{"claude, helper", ofClaude, outcome(1, "", "apiKeyHelper failed: exited 1: "+strings.ReplaceAll(printed, "\n", " ")+"\n")},
		run{"claude, never began", ofClaude, outcome(1, "", "error: unknown option '--x'\n"+hook(printed))},
		run{"claude, log", ofClaude, outcome(1, "", "2026-11-15T15:00:44.187Z [DEBUG] Hook output: "+printed+"\n"+printed+"\n")},
		run{"claude, killed", ofClaude, verdict.Outcome{ExitCode: -1, Signal: "SIGKILL", Stdout: verdict.ExcerptOf(events), Stderr: verdict.ExcerptOf(printed)}},
	)
	for name, message := range map[string]string{
		"bad request": `{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","code":"invalid_value"}}`,
		"bad key":     "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://h/v1/responses",
		"no money":    "Quota exceeded. Check your plan and billing details.",
		"filtered":    "stream disconnected before completion: Incomplete response returned, reason: content_filter",
		"too long":    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
		"unheard of":  "Something else.",
	} {
		told := `{"type":"error","message":` + inJSON(message) + "}\n" + `{"type":"turn.failed","error":{"message":` + inJSON(message) + "}}\n"
		if name == "filtered" {
			continue // codex's own prefix says that the stream was cut; see its rules
		}
		runs = append(runs, run{"codex, json, " + name, ofCodex, outcome(1, codexEvents(said, printed)+told, codexLog(printed)+printed+"\n")},
			run{"codex, plain, " + name, ofCodex, outcome(1, "", trace+"ERROR: "+message+"\nERROR: "+message+"\ntokens used\n15\n")})
	}
	runs = append(runs,
		run{"codex, json, crashed", ofCodex, outcome(101, codexEvents(said, printed), printed+"\nthread 'main' panicked at x\n")},
		run{"codex, json, gone", ofCodex, outcome(1, codexEvents(said, printed), printed+"\n")},
		run{"codex, json, gone, log", ofCodex, outcome(1, codexEvents(said, printed), codexLog(printed)+"Error: "+printed+"\n")},
		run{"codex, plain, gone", ofCodex, outcome(1, "", trace)},
		run{"codex, plain, gone, tool", ofCodex, outcome(1, "", trace+"exec\nx\n exited 1 in 0ms:\nERROR: "+printed+"\n")},
		run{"codex, plain, crashed", ofCodex, outcome(101, "", trace+"thread 'main' panicked at x\n")},
		run{"codex, plain, interrupted", ofCodex, outcome(1, "", trace+"turn interrupted\n")},
		run{"codex, bad option", ofCodex, outcome(2, "", "error: unexpected argument '--x' found\n\nUsage: codex exec [OPTIONS] "+printed+"\n")},
		run{"gh, not found", ofGH, outcome(1, printed+"\n", "gh: Not Found (HTTP 404)\n")},
		run{"gh, exists", ofGH, outcome(1, printed+"\n", "a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://github.com/o/r/pull/1\n")},
		run{"gh, usage", ofGH, outcome(1, "", "unknown flag: --x\n\nUsage:  gh issue create [flags]\n\n"+printed+"\n")},
		run{"gh, hook", gh.New([]string{"gh", "pr", "create", "-f"}, []string{}, ""), outcome(1, "", printed+"\nhusky - pre-push script failed\n"+printed+"\nerror: failed to push some refs to 'https://github.com/o/r.git'\n")},
		run{"gh, title", gh.New([]string{"gh", "pr", "merge", "1"}, []string{}, ""), outcome(1, "", "X Pull request o/r#1 ("+printed+") is not mergeable: the base branch policy prohibits the merge.\n")},
		run{"gh, not logged in", ofGH, outcome(4, printed+"\n", "To get started with GitHub CLI, please run:  gh auth login\n")},
	)
	return runs
}

// generate calls each with as many runs as are wanted, of which no two are alike.
func generate(n int, make func(said, printed string) []run, each func(run)) {
	for i := 0; n > 0; i++ {
		// Every quotation comes with every speech, and as what a tool prints with another one as what the model says.
		printed, said := quotes[i%len(quotes)], quotes[(i*7+i/len(quotes))%len(quotes)]
		said = fmt.Sprintf(speeches[i%len(speeches)], said)
		for _, r := range make(said, printed) {
			if n == 0 {
				return
			}
			each(r)
			n--
		}
	}
}

// Two thousand runs that have done their work, and quote every kind of failure: not one is judged a failure.
func TestQuoted_GoodRuns(t *testing.T) {
	seen := map[string]int{}
	generate(2000, goodRuns, func(r run) {
		seen[r.form]++
		if v := r.profile.Judge(r.Outcome, noon); v.Class != verdict.OK {
			t.Errorf("%s: %s by %s (%s)\nstdout: %.600q\nstderr: %.600q", r.form, v.Class, v.Rule, v.Evidence, r.Stdout.Text(), r.Stderr.Text())
		}
	})
	least(t, seen, 150)
}

// Two thousand runs that have failed for another reason than the one they quote: not one is worth repeating because of it.
func TestQuoted_FailedRuns(t *testing.T) {
	seen := map[string]int{}
	generate(2000, failedRuns, func(r run) {
		seen[r.form]++
		if v := r.profile.Judge(r.Outcome, noon); v.Class == verdict.OK || v.Retryable || v.Class == verdict.UsageLimit {
			t.Errorf("%s: %s, retryable %v, by %s (%s)\nstdout: %.600q\nstderr: %.600q", r.form, v.Class, v.Retryable, v.Rule, v.Evidence, r.Stdout.Text(), r.Stderr.Text())
		}
	})
	least(t, seen, 25)
}

// least checks that every form has come so often.
func least(t *testing.T, seen map[string]int, n int) {
	t.Helper()
	for _, form := range slices.Sorted(maps.Keys(seen)) {
		if seen[form] < n {
			t.Errorf("%s came %d times", form, seen[form])
		}
	}
}
