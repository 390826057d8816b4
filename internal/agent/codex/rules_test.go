package codex

import (
	"maps"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// TestRules has for every row what codex really prints for it, in the words of several versions.
func TestRules(t *testing.T) {
	samples := map[string][]string{
		"bad-request": {"bad request", "<html><head><title>400 Bad Request</title></head></html>"},
		"certificate": {
			"stream disconnected before completion: error sending request for url (https://api.openai.com/v1/responses): client error (Connect): invalid peer certificate: UnknownIssuer",
		},
		"storage": {
			"duplicate tool: shell",
			"Error: Fatal error: Codex cannot access session files at /home/u/.codex/sessions (permission denied). If sessions were created using sudo, fix ownership: sudo chown -R $(whoami) /home/u/.codex/sessions",
			"Error: thread/start: thread/start failed: error creating thread: Fatal error: Session storage path /x is blocked by an existing file. Remove or rename it so Codex can create sessions. (code -32603)",
		},
		"malformed": {
			"stream disconnected before completion: failed to parse ResponseCompleted: missing field `id` at line 1 column 40",
		},
		"refresh": {
			`Failed to refresh token: 401 Unauthorized: {"error":{"code":"refresh_token_reused","message":"Your refresh token has already been used"}}`,
			"Failed to refresh token: 400 Bad Request: invalid_grant",
		},
		"region": {
			"Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status 403 Forbidden), url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
		},
		"status-529": {
			"unexpected status 529 <unknown status code>: overloaded, url: http://127.0.0.1/v1/responses",
			"unexpected status 529 <unknown status code>: Overloaded, url: http://127.0.0.1/v1/responses",
		},
		"status-5xx": {
			"Failed to refresh token: 503 Service Unavailable: upstream connect error",
			"unexpected status 502 Bad Gateway: <html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
			"unexpected status 520 <unknown status code>: error code: 520, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
			"unexpected status 522 <unknown status code>: <!DOCTYPE html><html><title>Connection timed out</title>, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
			"unexpected status 504 Gateway Timeout: upstream request timeout, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
			"unexpected status 503 Service Unavailable: Service temporarily unavailable, url: https://x/v1/responses",
			"exceeded retry limit, last status: 500 Internal Server Error",
			"exceeded retry limit, last status: 503 Service Unavailable, request id: x",
			"unexpected status 503 Service Unavailable: <html><body>upstream down</body></html>, url: http://127.0.0.1/v1/responses",
			"unexpected status 500 Internal Server Error: quota exceeded, url: http://127.0.0.1/v1/responses",
			"unexpected status 408 Request Timeout: x, url: http://127.0.0.1/v1/responses",
			"exceeded retry limit, last status: 504 Gateway Timeout",
		},
		"usage-limit": {
			"You’ve hit your usage limit. Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or try again at Nov 19th, 2026 3:05 PM.",
			"You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 3 days 4 hours 32 minutes.",
			"You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing), or wait for limits to reset (every 5h and every week.).",
			"You've hit your usage limit. Visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 11:03 PM.",
			"You've hit your usage limit for GPT-5.3-Codex-Spark. Switch to another model now, or try again at 2:12 AM.",
			"You've reached your usage limit. Increase your limits by purchasing more credits or try again later.",
			"stream disconnected before completion: The usage limit has been reached",
			"You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 2:12 AM.",
			"You've hit your usage limit. To get more access now, send a request to your admin or try again at Nov 18th, 2026 12:18 AM.",
			"You've hit your usage limit for gpt-x. Switch to another model now, or try again at 2:12 AM.",
			"You’ve hit your usage limit. Try again later.",
		},
		"credits": {
			"ExceededBudget: User=u1 over budget. Spend=10.5, Budget=10.0",
			"Budget has been exceeded! Current cost: 10.5, Max budget: 10.0",
			"Your workspace is out of credits. Add credits to continue.",
			"You hit your spend cap set by the owner of your workspace. Ask an owner to increase your spend cap to continue.",
			"Your workspace is out of credits. Ask your workspace owner to refill in order to continue.",
			"You hit your spend cap set in your workspace. Increase your spend cap to continue.",
		},
		"quota": {
			"stream disconnected before completion: You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
			"Quota exceeded. Check your plan and billing details.",
			"unexpected status 429 Too Many Requests: You exceeded your current quota, please check your plan, url: http://127.0.0.1/v1/responses",
		},
		"plan": {"To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus."},
		"status-400": {
			"unexpected status 422 Unprocessable Entity: x, url: http://127.0.0.1/v1/responses",
			`unexpected status 400 Bad Request: {"detail":"Stream must be set to true"}, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e`,
			"unexpected status 405 Method Not Allowed: Unknown error, url: http://127.0.0.1/v1/responses",
		},
		"status-401": {
			"unexpected status 401 Unauthorized: Incorrect API key provided: sk-dummy, url: http://127.0.0.1/v1/responses", "unexpected status 403 Forbidden: x, url: http://127.0.0.1/v1/responses",
			"unexpected status 401 Unauthorized: Your authentication token has expired. Please try signing in again., url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e, auth error: 401, auth error code: token_expired",
			"unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: https://api.openai.com/v1/responses, cf-ray: x",
			"unexpected status 403 Forbidden: Country, region, or territory not supported, url: https://api.openai.com/v1/responses",
			"unexpected status 403 Forbidden: Unknown error, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
			"unexpected status 407 Proxy Authentication Required: <html>no</html>, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
		},
		"status-402": {
			"unexpected status 402 Payment Required: pay, url: http://127.0.0.1/v1/responses",
			`unexpected status 402 Payment Required: {"detail":{"code":"deactivated_workspace"}}, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e`,
			"unexpected status 402 Payment Required: Insufficient credits. Add more using https://openrouter.ai/settings/credits, url: https://openrouter.ai/api/v1/responses",
		},
		"status-404": {
			"unexpected status 404 Not Found: The model `x` does not exist, url: http://127.0.0.1/v1/responses",
			"unexpected status 404 Not Found: The model `gpt-9` does not exist or you do not have access to it.', url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
			`unexpected status 404 Not Found: {"detail":"Not Found"}, url: http://127.0.0.1:8000/v1/responses`,
		},
		"status-413": {
			"unexpected status 413 Payload Too Large: too big, url: http://127.0.0.1/v1/responses",
			"unexpected status 413 Payload Too Large: <html><head><title>413 Request Entity Too Large</title></head></html>, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
		},
		"status-429": {
			"exceeded retry limit, last status: 429 Too Many Requests", "unexpected status 429 Too Many Requests: x, url: http://127.0.0.1/v1/responses",
			"exceeded retry limit, last status: 429 Too Many Requests, request id: 9a8b",
			"unexpected status 429 Too Many Requests: Rate limit exceeded, please slow down, url: https://chatgpt.com/backend-api/codex/responses, cf-ray: 9bf0a3b2c8d1-FRA, request id: 3f1e",
		},
		"capacity": {
			"Selected model is at capacity. Please try a different model.", "Flex capacity unavailable.", "Policy-restricted capacity is unavailable. Please try again later.",
			"stream disconnected before completion: Our servers are currently overloaded. Please try again later.",
			"stream disconnected before completion: That model is currently overloaded with other requests. You can retry your request",
		},
		"high-demand": {"We’re currently experiencing high demand, which may cause temporary errors.", "We're currently experiencing high demand, which may cause temporary errors."},
		"rate-limit": {
			"rate limit exceeded: Rate limit reached for gpt-x. Please try again in 1.5s.", "stream disconnected before completion: Rate limit reached for gpt-x. Please try again in 1.5s.",
			"stream disconnected before completion: Rate limit is exceeded. Try again in 11 seconds.",
			"stream disconnected before completion: Rate limit reached for gpt-5.1 in organization org-AAA on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s. Visit https://platform.openai.com/account/rate-limits to learn more.",
			"stream disconnected before completion: Requests to the Responses_Create Operation under Azure OpenAI API version have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 26 seconds.",
			"stream disconnected before completion: Concurrency limit exceeded for account, please retry later",
			"stream disconnected before completion: Too many requests",
			"rate limit exceeded: Rate limit reached for gpt-5-codex in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.",
		},
		"context-window": {
			"Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
			"Codex ran out of room in the model's context window. Start a new conversation or clear earlier history before retrying.",
			"stream disconnected before completion: Your input exceeds the context window of this model. Please adjust your input and try again.",
			"stream disconnected before completion: Input is too long for requested model.",
		},
		"input-length":      {`turn/start: turn/start failed: Input exceeds the maximum length of 1048576 characters. (code -32602), data: {"input_error_code":"input_too_large","max_chars":1048576,"actual_chars":3000000}`},
		"max-output-tokens": {"Incomplete response returned, reason: max_output_tokens", "stream disconnected before completion: Incomplete response returned, reason: max_output_tokens"},
		"content-filter":    {"stream disconnected before completion: Incomplete response returned, reason: content_filter"},
		"incomplete":        {"stream disconnected before completion: Incomplete response returned, reason: other"},
		"policy": {
			"This request has been flagged for possible cybersecurity risk.", "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
			"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.",
			"This request was blocked due to a misalignment policy violation.",
			"stream disconnected before completion: The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
			"stream disconnected before completion: This content was flagged for possible cybersecurity risk. If this seems wrong, try rephrasing your request.",
		},
		"budget": {"shared rollout token budget exhausted"},
		"sse-idle": {
			"stream disconnected before completion: idle timeout waiting for SSE", "request timed out",
			"Error while reading the server response: error decoding response body: request or response body error: operation timed out, request id: x",
			"stream disconnected before completion: idle timeout waiting for websocket",
			"timeout waiting for child process to exit",
		},
		"missing-key": {"Missing environment variable: `FAKE_KEY`."},
		"not-logged-in": {
			"Not logged in",
			"Login is restricted to workspace(s) acme, but current credentials belong to other. Logging out.",
			"ChatGPT login is required, but an API key is currently being used. Logging out.",
			"Not logged in. Please run `codex login`.",
		},
		"login-expired": {
			"Your access token could not be refreshed because you have since logged out or signed in to another account. Please sign in again.",
			"Your access token could not be refreshed because your refresh token has expired. Please log out and sign in again.",
			"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.",
			"Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again.",
			"Provided authentication token is expired. Please try signing in again.",
			"Encountered invalidated oauth token for user, failing request",
		},
		"api-key": {"stream disconnected before completion: Incorrect API key provided", "Missing bearer or basic authentication in header"},
		"no-session": {
			"thread/resume: thread/resume failed: no rollout found for thread id 00000000-0000-4000-8000-000000000000 (code -32600)",
			"no thread with id: 01a1dc8b-4824-7893-b160-9438ab57e05e",
			"Error: thread/resume: thread/resume failed: no rollout found for thread id 00000000-0000-4000-8000-000000000009 (code -32600)",
			"Error: Session not found: nope",
		},
		"history": {
			"No tool output found for function call call_1.",
			"Invalid image in your last message. Please remove it and try again.",
			"No tool call found for function call output with call_id call_1.",
			"Duplicate item found with id fc_1. Remove duplicate items from your input and try again.",
			"Item 'rs_1' of type 'reasoning' was provided without its required following item.",
			"The encrypted content gAAA...GDc= could not be verified.",
			"The image data you provided does not represent a valid image. Please check your input and try again with one of the following image formats: ['image/jpeg', 'image/png'].",
			"Invalid value: 'functiom_call'. Supported values are: 'function_call', 'function_call_output', 'message', and 'reasoning'.",
		},
		"record": {"Error: thread/resume: thread/resume failed: failed to read thread: thread-store internal error: failed to read session metadata rollout.jsonl"},
		"active-writer": {
			"thread/resume: thread/resume failed: thread 01a1dc91-c02c-74f1-968a-841994875946 already has an active writer (code -32600)",
			"Error: thread/resume: thread/resume failed: thread 01a1dc91-c02c-74f1-968a-841994875946 already has an active writer (code -32600)",
		},
		"trust": {"Not inside a trusted directory and --skip-git-repo-check was not specified."},
		"config": {
			`Error finding codex home: CODEX_HOME points to "/nope", but that path does not exist`,
			`Error loading config.toml: invalid type: string "x", expected a boolean`,
			"Error loading config.toml:\nconfig.toml:10:6: key with no value, expected `=`",
			"Error loading config.toml: unknown configuration field `foo` in -c/--config override",
			"Error parsing -c overrides: Invalid override (missing '='): foo",
			"Error: Model provider `nope` not found",
			"Error: Unknown feature flag: foo",
		},
		"prompt":      {"No prompt provided via stdin.", "Failed to read prompt from stdin: input is not valid UTF-8 (invalid byte at offset 3)."},
		"schema":      {"Failed to read output schema file x: No such file or directory (os error 2)", "Output schema file bad.json is not valid JSON: key must be a string"},
		"directory":   {"Error: No such file or directory (os error 2)"},
		"worktree":    {"Error: --worktree cannot be combined with --ephemeral", "Error: `--worktree` cannot resume an existing session; use `codex exec fork --worktree`", "Error: git command failed: fatal: not a git repository"},
		"mcp-timeout": {"thread/start: thread/start failed: error creating thread: Fatal error: Failed to initialize session: required MCP servers failed to initialize: lab: timed out handshaking with MCP server after 2s: deadline has elapsed"},
		"mcp":         {"thread/start: thread/start failed: error creating thread: Fatal error: Failed to initialize session: required MCP servers failed to initialize: lab: No such file or directory (os error 2) (code -32603)"},
		"image": {
			"Image poisoning",
		},
		"model": {
			"The model `fake-model` does not exist or you do not have access to it.",
			"The model `gpt-9` does not exist or you do not have access to it.",
			"The model `gpt-9` is not available",
		},
		"interrupted": {
			"turn interrupted", "interrupted (Ctrl-C). Something went wrong? Hit `/feedback` to report the issue.",
			"turn aborted. Something went wrong? Hit `/feedback` to report the issue.",
		},
		"panic": {"thread 'codex-main' (12523) panicked at library/std/src/io/stdio.rs:1165:9:", "internal error; agent loop died unexpectedly"},
		"server-error": {
			"stream disconnected before completion: An error occurred while processing your request.",
			"stream disconnected before completion: The server had an error processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists.",
			"stream disconnected before completion: An error occurred while processing your request. You can retry your request, or contact us through our help center at help.openai.com if the error persists. Please include the request ID 0a1b in your message.",
			"stream disconnected before completion: Internal server error",
			"stream disconnected before completion: The server encountered an error while processing your request",
		},
		"network": {
			"stream disconnected before completion: WebSocket protocol error: Connection reset without closing handshake",
			"stream disconnected before completion: IO error: Connection reset by peer (os error 104)",
			"stream disconnected before completion: error sending request for url (https://chatgpt.com/backend-api/codex/responses)",
			"Connection failed: error sending request for url (https://chatgpt.com/backend-api/codex/responses): client error (Connect): dns error: failed to lookup address information: Name or service not known",
			"Connection failed: error sending request for url (http://127.0.0.1:9/v1/responses): client error (Connect): tcp connect error: Connection refused (os error 111)",
			"stream disconnected before completion: Transport error: timeout",
			"stream error: stream disconnected before completion: stream closed before response.completed; retrying 5/5 in 3.2s…",
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
			own := 0
			for _, s := range samples[r.Name] {
				v := classifyExit(s, exit, noon)
				_, served := agent.OfService(s, toldStatus(s), noon)
				if v.Class != r.Class || v.Rule != r.Name && !served {
					t.Errorf("%q: %s by %s", s, v.Class, v.Rule)
				}
				if v.Rule == r.Name {
					own++
				}
			}
			if own == 0 {
				t.Error("no sample needs this row")
			}
		})
	}
}

// The body of a 400 says by a code what is wrong.
func TestClassify_Body(t *testing.T) {
	all := maps.Collect(agent.APICodes.All())
	maps.Insert(all, codes.All())
	for code, class := range all {
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
		`{"error":{"message":"Your input exceeds the context window of this model.","code":7}}`:                                                                                                                                                                          verdict.TooLarge,
		`{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"HTTP 429 rate limit exceeded"}}`:                                                                                                                                           verdict.TooLarge,
		`{"error":{"type":"rate_limit_error","message":"Please try again in 20s"}}`:                                                                                                                                                                                      verdict.RateLimit,
		`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1794718800,"resets_in_seconds":13872}}`:                                                                                                      verdict.UsageLimit,
		"{\n  \"error\": {\n    \"message\": \"Billing hard limit has been reached\",\n    \"type\": \"invalid_request_error\",\n    \"param\": null,\n    \"code\": \"billing_hard_limit_reached\"\n  }\n}":                                                             verdict.Billing,
		`{"error":{"message":"You do not have access to the organization tied to the API key.","type":"invalid_request_error","code":"invalid_organization"}}`:                                                                                                           verdict.Auth,
		`{"error":{"message":"Your OpenAI account has been deactivated, please check your email for more information.","type":"invalid_request_error","code":"account_deactivated"}}`:                                                                                    verdict.Auth,
		`{"error":{"message":"This model's maximum context length is 272000 tokens. However, your messages resulted in 300000 tokens.","type":"invalid_request_error","param":"input","code":null}}`:                                                                     verdict.TooLarge,
		`{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300112 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`:       verdict.TooLarge,
		`{"error":{"message":"Invalid 'input[3].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.","type":"invalid_request_error","param":"input[3].content","code":"string_above_max_length"}}`: verdict.TooLarge,
		`{"detail":"prompt is too long: 205000 tokens > 200000 maximum"}`:                                                                                                                                                                                                verdict.TooLarge,
		`{"error":{"message":"The requested model 'gpt-9' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`:                                                                                                                    verdict.NotFound,
		`{"error":{"message":"model 'llama9' not found, try pulling it first","type":"api_error","param":null,"code":null}}`:                                                                                                                                             verdict.NotFound,
		`{"detail":"Unsupported parameter: max_output_tokens"}`:                                                                                                                                                                                                                                          verdict.InvalidRequest,
		`{"detail":"The 'gpt-5.3-codex' model is not supported when using Codex with a ChatGPT account."}`:                                                                                                                                                                                               verdict.InvalidRequest,
		`{"error":{"message":"The encrypted content gAAA could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`:                                                                                                                                       verdict.SessionBroken,
		`{"error":{"message":"No tool output found for function call call_1.","type":"invalid_request_error","param":"input","code":null}}`:                                                                                                                                                              verdict.SessionBroken,
		`{"error":{"message":"Invalid value: 'x'. Supported values are: 'low', 'medium', and 'high'.","type":"invalid_request_error","param":"reasoning.effort","code":"invalid_value"}}`:                                                                                                                verdict.InvalidRequest,
		`{"error":{"message":"Invalid schema for function 'x'","type":"invalid_request_error","param":"tools[0].parameters","code":"invalid_function_parameters"}}`:                                                                                                                                      verdict.InvalidRequest,
		`{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`: verdict.Refused,
		`{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}`:                                                                                                     verdict.Refused,
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

// A stream that was cut for an unknown reason was still cut.
func TestClassify_Stream(t *testing.T) {
	if v := classify("stream disconnected before completion: something new", noon); v.Class != verdict.Network || !v.Retryable {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
	if v := classify("something new", noon); v.Class != verdict.Unknown || v.Retryable {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
}
