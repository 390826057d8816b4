package codex

import (
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// TestRules has for every row what codex really prints when it speaks, in the words of several versions.
func TestRules(t *testing.T) {
	samples := map[string][]string{
		"status-529":            {"unexpected status 529 <unknown status code>: overloaded, url: http://127.0.0.1/v1/responses"},
		"status-503-overloaded": {"unexpected status 503 Service Unavailable: The server is overloaded, url: http://127.0.0.1/v1/responses"},
		"status-5xx": {
			"unexpected status 503 Service Unavailable: <html><body>upstream down</body></html>, url: http://127.0.0.1/v1/responses",
			"unexpected status 500 Internal Server Error: quota exceeded, url: http://127.0.0.1/v1/responses",
			"unexpected status 408 Request Timeout: x, url: http://127.0.0.1/v1/responses",
			"exceeded retry limit, last status: 504 Gateway Timeout",
		},
		"usage-limit": {
			"You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 2:12 AM.",
			"You've hit your usage limit. To get more access now, send a request to your admin or try again at Nov 18th, 2026 12:18 AM.",
			"You've hit your usage limit for gpt-x. Switch to another model now, or try again at 2:12 AM.",
			"You’ve hit your usage limit. Try again later.",
		},
		"credits": {
			"Your workspace is out of credits. Ask your workspace owner to refill in order to continue.",
			"You hit your spend cap set in your workspace. Increase your spend cap to continue.",
		},
		"quota": {
			"Quota exceeded. Check your plan and billing details.",
			"unexpected status 429 Too Many Requests: You exceeded your current quota, please check your plan, url: http://127.0.0.1/v1/responses",
		},
		"plan":              {"To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus."},
		"status-400":        {"unexpected status 422 Unprocessable Entity: x, url: http://127.0.0.1/v1/responses"},
		"status-401":        {"unexpected status 401 Unauthorized: Incorrect API key provided: sk-dummy, url: http://127.0.0.1/v1/responses", "unexpected status 403 Forbidden: x, url: http://127.0.0.1/v1/responses"},
		"status-402":        {"unexpected status 402 Payment Required: pay, url: http://127.0.0.1/v1/responses"},
		"status-404":        {"unexpected status 404 Not Found: The model `x` does not exist, url: http://127.0.0.1/v1/responses"},
		"status-413":        {"unexpected status 413 Payload Too Large: too big, url: http://127.0.0.1/v1/responses"},
		"status-429":        {"exceeded retry limit, last status: 429 Too Many Requests", "unexpected status 429 Too Many Requests: x, url: http://127.0.0.1/v1/responses"},
		"capacity":          {"Selected model is at capacity. Please try a different model.", "Flex capacity unavailable.", "Policy-restricted capacity is unavailable. Please try again later."},
		"high-demand":       {"We’re currently experiencing high demand, which may cause temporary errors.", "We're currently experiencing high demand, which may cause temporary errors."},
		"rate-limit":        {"rate limit exceeded: Rate limit reached for gpt-x. Please try again in 1.5s.", "stream disconnected before completion: Rate limit reached for gpt-x. Please try again in 1.5s."},
		"context-window":    {"Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying."},
		"input-length":      {`turn/start: turn/start failed: Input exceeds the maximum length of 1048576 characters. (code -32602), data: {"input_error_code":"input_too_large","max_chars":1048576,"actual_chars":3000000}`},
		"max-output-tokens": {"Incomplete response returned, reason: max_output_tokens", "stream disconnected before completion: Incomplete response returned, reason: max_output_tokens"},
		"content-filter":    {"stream disconnected before completion: Incomplete response returned, reason: content_filter"},
		"incomplete":        {"stream disconnected before completion: Incomplete response returned, reason: other"},
		"policy":            {"This request has been flagged for possible cybersecurity risk.", "Invalid prompt: your prompt was flagged as potentially violating our usage policy."},
		"budget":            {"shared rollout token budget exhausted"},
		"sse-idle":          {"stream disconnected before completion: idle timeout waiting for SSE", "request timed out"},
		"missing-key":       {"Missing environment variable: `FAKE_KEY`."},
		"not-logged-in":     {"Not logged in"},
		"login-expired":     {"Your access token could not be refreshed because you have since logged out or signed in to another account. Please sign in again."},
		"api-key":           {"stream disconnected before completion: Incorrect API key provided"},
		"no-session":        {"thread/resume: thread/resume failed: no rollout found for thread id 00000000-0000-4000-8000-000000000000 (code -32600)"},
		"active-writer":     {"thread/resume: thread/resume failed: thread 01a1dc91-c02c-74f1-968a-841994875946 already has an active writer (code -32600)"},
		"trust":             {"Not inside a trusted directory and --skip-git-repo-check was not specified."},
		"config": {
			"Error loading config.toml:\nconfig.toml:10:6: key with no value, expected `=`",
			"Error loading config.toml: unknown configuration field `foo` in -c/--config override",
			"Error parsing -c overrides: Invalid override (missing '='): foo",
			"Error: Model provider `nope` not found",
			"Error: Unknown feature flag: foo",
		},
		"prompt":       {"No prompt provided via stdin.", "Failed to read prompt from stdin: input is not valid UTF-8 (invalid byte at offset 3)."},
		"schema":       {"Failed to read output schema file x: No such file or directory (os error 2)", "Output schema file bad.json is not valid JSON: key must be a string"},
		"directory":    {"Error: No such file or directory (os error 2)"},
		"worktree":     {"Error: --worktree cannot be combined with --ephemeral", "Error: `--worktree` cannot resume an existing session; use `codex exec fork --worktree`", "Error: git command failed: fatal: not a git repository"},
		"mcp-timeout":  {"thread/start: thread/start failed: error creating thread: Fatal error: Failed to initialize session: required MCP servers failed to initialize: lab: timed out handshaking with MCP server after 2s: deadline has elapsed"},
		"mcp":          {"thread/start: thread/start failed: error creating thread: Fatal error: Failed to initialize session: required MCP servers failed to initialize: lab: No such file or directory (os error 2) (code -32603)"},
		"image":        {"Image poisoning"},
		"model":        {"The model `fake-model` does not exist or you do not have access to it."},
		"interrupted":  {"turn interrupted", "interrupted (Ctrl-C). Something went wrong? Hit `/feedback` to report the issue."},
		"panic":        {"thread 'codex-main' (12523) panicked at library/std/src/io/stdio.rs:1165:9:", "internal error; agent loop died unexpectedly"},
		"server-error": {"stream disconnected before completion: An error occurred while processing your request."},
		"network": {
			"stream disconnected before completion: error sending request",
			"stream disconnected before completion: error sending request for url (http://127.0.0.1/v1/responses)",
			"stream disconnected before completion: Transport error: network error: error decoding response body",
			"stream disconnected before completion: stream closed before response.completed",
			"stream disconnected before completion: failed to lookup address information: Try again",
			"Connection failed: error sending request",
		},
		"usage": {"error: unexpected argument '--no-such-flag' found\n\nUsage: codex exec [OPTIONS] [PROMPT]", "error: invalid value 'bogus' for '--sandbox <SANDBOX_MODE>'"},
	}
	for _, r := range ruleTable {
		t.Run(r.Name, func(t *testing.T) {
			if len(samples[r.Name]) == 0 {
				t.Fatal("no sample")
			}
			exit := 1
			if len(r.Exit) > 0 {
				exit = r.Exit[0]
			}
			for _, s := range samples[r.Name] {
				if v := classifyExit(s, exit, noon); v.Rule != r.Name || v.Class != r.Class {
					t.Errorf("%q: %s by %s", s, v.Class, v.Rule)
				}
			}
		})
	}
}

// The body of a 400 says by a code what is wrong.
func TestClassify_Body(t *testing.T) {
	for code, class := range codes {
		for _, body := range []string{`{"error":{"code":"` + code + `"}}`, `{"error":{"type":"` + code + `","message":"x","code":null}}`} {
			if v := classify(body, noon); v.Class != class || v.Retryable != class.Retryable() {
				t.Errorf("%s: %s", body, v.Class)
			}
		}
	}
	for body, class := range map[string]verdict.Class{
		`{"error": {"message": "Invalid value: 'x'.", "type": "invalid_request_error", "code": "invalid_value"}}`: verdict.InvalidRequest,
		`{"detail":"The model is not supported when using Codex with a ChatGPT account."}`:                        verdict.InvalidRequest,
		`{"error":"a text"}`: verdict.InvalidRequest,
		`{"error":{"message":"Your input exceeds the context window of this model.","code":7}}`:                                verdict.TooLarge,
		`{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"HTTP 429 rate limit exceeded"}}`: verdict.TooLarge,
		`{"error":{"type":"rate_limit_error","message":"Please try again in 20s"}}`:                                            verdict.RateLimit,
		`{ this is not JSON`: verdict.Unknown,
	} {
		if v := classify(body, noon); v.Class != class {
			t.Errorf("%s: %s by %s", body, v.Class, v.Rule)
		}
	}
	if v := classify(`{"error":{"type":"rate_limit_error","message":"Please try again in 20s"}}`, noon); v.Hint.After != 20*time.Second {
		t.Errorf("hint %+v", v.Hint)
	}
}

func TestClassify_Hints(t *testing.T) {
	for message, want := range map[string]verdict.Hint{
		"rate limit exceeded: Rate limit reached for gpt-x. Please try again in 1.5s.":                              {After: 1500 * time.Millisecond},
		"You’ve hit your usage limit. Upgrade to Plus (https://chatgpt.com/explore/plus), or try again at 2:12 AM.": {At: time.Date(2026, 11, 16, 2, 13, 0, 0, time.UTC), Inferred: true},
		"You've hit your usage limit. Send a request to your admin or try again at Nov 18th, 2026 12:18 AM.":        {At: time.Date(2026, 11, 18, 0, 19, 0, 0, time.UTC), Inferred: true},
		"You’ve hit your usage limit. Try again later.":                                                             {},
		"unexpected status 401 Unauthorized: your key is bad, try again in 20s, url: http://127.0.0.1/v1/responses": {},
	} {
		v := classify(message, noon)
		if v.Hint.After != want.After || !v.Hint.At.Equal(want.At) || v.Hint.Inferred != want.Inferred {
			t.Errorf("%q: %+v", message, v.Hint)
		}
	}
}

// A stream that was cut for a reason that nobody has heard of was still cut.
func TestClassify_Stream(t *testing.T) {
	if v := classify("stream disconnected before completion: something new", noon); v.Class != verdict.Network || !v.Retryable {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
	if v := classify("something new", noon); v.Class != verdict.Unknown || v.Retryable {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
}
