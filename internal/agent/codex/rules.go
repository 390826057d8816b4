package codex

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// rules tell failures apart by what codex says of them, in the words of 0.120 to 0.166. They are asked about the
// message of a failed turn and about complaints on stderr, never about what the model or a tool has said.
//
// Order matters: a 5xx goes before the words that came with it, those of a limit before a mere 429.
var rules = agent.Rules{Table: ruleTable}

// status matches what codex says of an answer that it could not use.
const status = `^(unexpected status|exceeded retry limit, last status:|failed to refresh token:) `

var ruleTable = []verdict.Rule{
	// How codex is used may be told in any words.
	{Name: "usage", Class: verdict.InvalidRequest, Exit: []int{2}, Match: `^error: `},

	// The service is in trouble, whatever it writes into its page.
	{Name: "status-529", Class: verdict.Overloaded, Match: status + `529\b`},
	{Name: "status-5xx", Class: verdict.ServerError, Match: status + `(408|425|5\d\d)\b`},

	// Limits and money.
	{Name: "usage-limit", Class: verdict.UsageLimit, Match: `you've (hit|reached) your (\S+ )?usage limit|usage limit (has been )?reached`},
	{Name: "credits", Class: verdict.Billing, Match: `out of credits|hit your spend cap`},
	{Name: "quota", Class: verdict.Billing, Match: `quota exceeded|exceeded your current quota|insufficient_quota|check your plan and billing`},
	{Name: "plan", Class: verdict.Billing, Match: `to use codex with your chatgpt plan|usage not included`},

	// The service does not want it.
	{Name: "refresh", Class: verdict.Auth, Match: `^failed to refresh token: 4\d\d\b`},
	{Name: "region", Class: verdict.Auth, Match: `^access blocked by \w+.*\(status 403\b`},
	{Name: "status-400", Class: verdict.InvalidRequest, Match: status + `(400|405|406|409|410|411|415|422|431)\b`},
	{Name: "status-401", Class: verdict.Auth, Match: status + `(401|403|407)\b`},
	{Name: "status-402", Class: verdict.Billing, Match: status + `402\b`},
	{Name: "status-404", Class: verdict.NotFound, Match: status + `404\b`},
	{Name: "status-413", Class: verdict.TooLarge, Match: status + `413\b`},
	{Name: "status-429", Class: verdict.RateLimit, Match: status + `429\b`},

	{Name: "bad-request", Class: verdict.InvalidRequest, Match: `^bad request\b|^<(!doctype )?html\b`}, // only the body of a 400 is shown as it is

	// What codex says in words of its own.
	{Name: "capacity", Class: verdict.Overloaded, Match: `is at capacity|capacity (is )?unavailable|\boverloaded\b|experiencing high load`},
	{Name: "high-demand", Class: verdict.ServerError, Match: `currently experiencing high demand`}, // its word for a 500
	{Name: "rate-limit", Class: verdict.RateLimit, Match: `^rate limit (is )?(exceeded|reached)\b|exceeded [\w ]*\brate limit\b|concurrency limit exceeded|too many requests`},
	{Name: "context-window", Class: verdict.TooLarge, Match: `ran out of room in the model's context window|context window exceeded|exceeds the context window|(prompt|input) is too long|tokens exceed the configured limit`},
	{Name: "input-length", Class: verdict.TooLarge, Match: `input exceeds the maximum length|"input_error_code":"input_too_large"`},
	{Name: "max-output-tokens", Class: verdict.LimitReached, Match: `incomplete response returned, reason: max_output_tokens`},
	{Name: "content-filter", Class: verdict.Refused, Match: `incomplete response returned, reason: content_filter`},
	{Name: "incomplete", Class: verdict.Unknown, Match: `incomplete response returned`},
	{Name: "policy", Class: verdict.Refused, Match: `flagged for possible \w+ risk|misalignment policy violation|violating our usage polic`},
	{Name: "budget", Class: verdict.LimitReached, Match: `token budget exhausted|agent thread limit reached`},
	{Name: "sse-idle", Class: verdict.Timeout, Match: `idle timeout waiting for|^request timed out|operation timed out|^timeout waiting for`},

	// Credentials.
	{Name: "missing-key", Class: verdict.Auth, Match: "missing environment variable: "},
	{Name: "not-logged-in", Class: verdict.Auth, Match: `\bnot logged in\b|login is (required|restricted to)`},
	{Name: "login-expired", Class: verdict.Auth, Match: `(log out and |please )sign in again|try signing in again|access token could not be refreshed|session could not be refreshed|invalidated oauth token`},
	{Name: "api-key", Class: verdict.Auth, Match: `missing bearer or basic authentication`},

	// The session.
	{Name: "no-session", Class: verdict.SessionNotFound, Match: `no rollout found for (thread|conversation) id|^no thread with id|^(error: )?session not found`},
	{Name: "active-writer", Class: verdict.SessionBusy, Match: `already has an active writer`},

	{Name: "history", Class: verdict.SessionBroken, Match: `no tool (output found for (function|custom tool|local shell) call|call found for (function|custom tool|local shell) call output)|^duplicate item found with id|^item '.*' of type '.*' was provided without its required|^the encrypted content .* could not be verified|^the image data you provided does not represent a valid image|^invalid image in your last message|^invalid value: '.*supported values are:.*'(message|function_call|reasoning)'`},
	{Name: "record", Class: verdict.SessionBroken, Match: `thread/resume failed: .*(failed to read session metadata|failed to parse)`},

	// What is wrong before anything is sent.
	{Name: "trust", Class: verdict.InvalidRequest, Match: `^not inside a trusted directory`},
	{Name: "config", Class: verdict.InvalidRequest, Match: `^error (loading (config|rules)|finding codex home)|^error parsing -c overrides|^(error: )?model provider .* not found|^(error: )?unknown (feature flag|configuration)`},
	{Name: "storage", Class: verdict.InvalidRequest, Match: `codex cannot access session files|session storage (missing at|path )|^duplicate tool: `},
	{Name: "prompt", Class: verdict.InvalidRequest, Match: `^no prompt provided|^failed to read prompt from stdin`},
	{Name: "schema", Class: verdict.InvalidRequest, Match: `^(failed to read output schema file|output schema file .* is not valid json)`},
	{Name: "directory", Class: verdict.InvalidRequest, Match: `^error: (no such file or directory|not a directory|permission denied) \(os error`},
	{Name: "worktree", Class: verdict.InvalidRequest, Match: "^error: (`?--worktree`? |git command failed)"},
	{Name: "mcp-timeout", Class: verdict.Timeout, Match: `required mcp servers failed to initialize: .*timed out`},
	{Name: "mcp", Class: verdict.InvalidRequest, Match: `required mcp servers failed to initialize`},
	{Name: "image", Class: verdict.InvalidRequest, Match: `^image poisoning|does not represent a valid image`},
	{Name: "model", Class: verdict.NotFound, Match: "\\bmodel [`'\"]?[^ ]+[`'\"]? (does not exist|was not found|not found|is not available)|^model not found"},

	// How it ended.
	{Name: "interrupted", Class: verdict.Interrupted, Match: `^turn interrupted$|^interrupted \(ctrl-c\)|^turn aborted\b`},
	{Name: "panic", Class: verdict.Crash, Match: `^thread '.*' (.*panicked at|has overflowed)|agent loop died unexpectedly`},

	// The way to the service.
	{Name: "server-error", Class: verdict.ServerError, Match: `an error occurred while processing your request|internal server error|the server (had|encountered) an error`},
	{Name: "certificate", Class: verdict.InvalidRequest, Match: `invalid peer certificate|certificate verify failed`},
	{Name: "malformed", Class: verdict.BadOutput, Match: `^failed to (parse|decode) `},
	{Name: "network", Class: verdict.Network, Match: `error sending request|connection failed\b|transport error|network error|error decoding response body|stream closed before response\.completed|failed to lookup address|dns error|connection (refused|reset|closed|aborted)|network is unreachable|no route to host|broken pipe|unexpected eof|error while reading the server response`},
}

// codes are what the body of an answer calls an error, beyond what all services do. Codex shows the body of a 400 as it is.
var codes = agent.Classes{
	verdict.SessionBroken: "invalid_encrypted_content",
	verdict.Refused:       "cyber_policy misalignment_policy_violation bio_policy",
}
