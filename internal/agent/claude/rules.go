package claude

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// The tables say which class each of claude's own words for a failure is. They are asked from the most exact to the
// vaguest, see judge.

// bySubtype is the subtype of a result that is no "success".
var bySubtype = agent.Classes{
	verdict.LimitReached: "error_max_turns error_max_budget_usd error_max_structured_output_retries",
}

// stopPrevented says that a hook ended the turn. It comes after the answer, if there is one: then the work was done.
const stopPrevented = "stop_hook_prevented"

// byTerminal is why a turn ended, where that says it all ("completed", "api_error" and "model_error" do not).
var byTerminal = agent.Classes{
	verdict.Interrupted:  "aborted_streaming aborted_tools",
	verdict.TooLarge:     "blocking_limit rapid_refill_breaker prompt_too_long",
	verdict.LimitReached: "max_turns budget_exhausted structured_output_retry_exhausted",
	verdict.Blocked:      stopPrevented + " hook_stopped",
	verdict.BadOutput:    "malformed_tool_use_exhausted",
}

// byAPIError is the kind that versions from 2.1.260 on give an error of the API or on the way to it.
var byAPIError = agent.Classes{
	verdict.UsageLimit: "usage_limit_reached",
	verdict.Network:    "connection_failed computer_slept",
	verdict.Timeout:    "no_response stream_idle_timeout",
	// network_edge_blocked is a 403 that no other try mends.
	verdict.Auth: "network_edge_blocked org_disabled_credential stored_login_refused provider_credentials " +
		"gateway_signin_required gateway_session_expired api_key_auth_disabled invalid_credential_header",
	verdict.BadOutput:     "empty_completion malformed_tool_use_exhausted gateway_content_type",
	verdict.LimitReached:  "max_output_tokens",
	verdict.TooLarge:      "autocompact_thrashing pdf_too_large",
	verdict.SessionBroken: "tool_history_mismatch media_removed",
	verdict.Refused:       "dlp_request_denied safety_monitor_blocked",
	verdict.Blocked:       "hook_denied",
	verdict.Billing:       "model_requires_usage_credits long_context_credits_required consent_unanswered",
	verdict.InvalidRequest: "tls_untrusted_ca claude_code_version_too_old effort_requires_thinking " +
		"advisor_incompatible pdf_password_protected no_allowed_fallback " +
		"model_substitution_disabled field_not_granted unattended_start_limit unattended_start_unconfirmed",
}

// refinedByText are the kinds whose text may say more: the limit may be that of a plan without credits, and what cut
// the answer short may be the context window.
var refinedByText = agent.Classes{
	verdict.Billing:  "usage_limit_reached",
	verdict.TooLarge: "max_output_tokens",
}

// byStartup is why claude refused to start, where another start may well work, or a person must sign in. The rest is a
// matter of settings.
var byStartup = agent.Classes{
	verdict.Auth: "org_pin_api_key_conflict org_pin_mismatch org_config_refused gateway_signin_required " +
		"gateway_access_denied org_verify_failed",
	verdict.Network:     "org_config_required_unavailable remote_settings_required_unavailable",
	verdict.SessionBusy: "session_held_by_background",
}

// byType is the type in the API's own error.
var byType = agent.Classes{
	verdict.RateLimit:      "rate_limit_error",
	verdict.Overloaded:     "overloaded_error",
	verdict.ServerError:    "api_error timeout_error",
	verdict.Auth:           "authentication_error permission_error",
	verdict.Billing:        "billing_error",
	verdict.NotFound:       "not_found_error",
	verdict.TooLarge:       "request_too_large",
	verdict.InvalidRequest: "invalid_request_error",
}

// byError is the kind in claude's own message about a failure. It is server_error for all that fails on the other side,
// and invalid_request of a refusal too, so that words and status go before it.
var byError = agent.Classes{
	verdict.RateLimit:   "rate_limit",
	verdict.Overloaded:  "overloaded",
	verdict.ServerError: "server_error",
	verdict.Auth: "authentication_failed oauth_org_not_allowed account_on_hold verification_required " +
		"cloud_credential_error",
	verdict.Billing:        "billing_error",
	verdict.NotFound:       "model_not_found",
	verdict.LimitReached:   "max_output_tokens",
	verdict.InvalidRequest: "invalid_request",
}

// textRules match claude's sentences about itself, from all versions. They are asked only about text that is claude's own: the
// text of a failed result, what a failed run has printed where there are no events, and stderr.
var textRules = agent.Rules{Table: textRuleTable}

var textRuleTable = []verdict.Rule{
	// Limits of a plan. A throttle says that it is not one.
	{Name: "throttle", Class: verdict.RateLimit, Match: `not your usage limit|usage limit reached\|0\b|^(API Error: )?rate limit reached|^(you've|you have) (hit|reached|exceeded) your [\w' ]*\brate limit\b`},
	{Name: "plan-limit", Class: verdict.UsageLimit, Match: `^(you've|you have) (hit|reached) your [^.·∙]*\b(limit|budget|cap)\b`},
	{Name: "plan-limit-reached", Class: verdict.UsageLimit, Match: `^[\w' -]{0,40}\b(limit|cap) reached( ?[·∙]|\.| resets|$)|\bspend limit reached\b`},
	{Name: "usage-limit-epoch", Class: verdict.UsageLimit, Match: `usage limit reached\|[1-9]`},
	{Name: "credits-reset", Class: verdict.UsageLimit, Match: `^you're out of (usage credits|extra usage) ?[·∙] ?resets|^usage is paused for your organization`},

	// Money, and what a plan does not include.
	{Name: "credit", Class: verdict.Billing, Match: `credit balance is too low|^API Error: 402|(requires?|are required for|is required for) (usage credits|extra usage|long context)|usage credits required|you're out of (usage credits|extra usage)|org is out of usage`},
	{Name: "plan", Class: verdict.Billing, Match: `^your seat type doesn't include|^this service is disabled for your org|^your usage allocation has been disabled|^your group's usage limit is set to|is not available with the claude \w+ plan|is unavailable for your plan`},

	// Credentials and permissions.
	{Name: "disk-full", Class: verdict.InvalidRequest, Match: `^failed to refresh OAuth token: the disk|^could not refresh your login: the disk`},
	{Name: "refresh", Class: verdict.Network, Match: `^failed to refresh OAuth token|^could not refresh your login`},
	{Name: "not-logged-in", Class: verdict.Auth, Match: `^not logged in|^(error: )?invalid (API key|auth token)|^failed to authenticate|please run /login|please log ?in again|OAuth (token|session)( has)? (been )?(revoked|expired)|does not have access to Claude|\bAPI Error: (401|403|407)\b|login (expired|reached its time limit)`},
	{Name: "shut-out", Class: verdict.Auth, Match: `belongs to a disabled organi[sz]ation|organi[sz]ation has (been )?disabled|^your account is on hold|^your apiKeyHelper script is failing|request blocked before it reached`},
	{Name: "credentials", Class: verdict.Auth, Match: `^authentication (error|required|failed)\b|^(AWS|google cloud|microsoft foundry) (credentials|authentication)\b|could not load [\w ]{0,20}credentials\b|^gateway refused the request`},

	// Too much at once.
	// The history, as the service says it, or as claude puts that. What it says of an image it says of one that is in there.
	{Name: "history-pair", Class: verdict.SessionBroken, Match: `^(API Error: 400 )?(due to tool use concurrency issues|orphaned tool_result in conversation|duplicate tool_use ID in conversation)|tool_use.{0,4} ids (were found without|must be unique)|unexpected .{0,2}tool_use_id.{0,2} found in|tool_use must have a single result|tool use with id .* was found without a corresponding|tool_use\.id: String should match pattern`},
	{Name: "history-thinking", Class: verdict.SessionBroken, Match: `^(API Error: 400 )?messages\.\d+\..*(invalid .?signature.? in .?thinking|thinking.? blocks.* cannot be modified|expected .?thinking.? or .?redacted_thinking)`},
	{Name: "history-empty", Class: verdict.SessionBroken, Match: `^(API Error: 400 )?messages[.:].*(text content blocks must be non-empty|messages must have non-empty content)|^(API Error: 400 )?messages\.\d+\.content\.\d+: input tag `},
	{Name: "history-image", Class: verdict.SessionBroken, Match: `^(API Error: 400 )?messages\.\d+\..*\bimage\b|^(API Error: 400 )?could not process image|^(API Error: )?an image in the conversation (could not be processed|exceeds)`},
	{Name: "prompt-too-long", Class: verdict.TooLarge, Match: `^(API Error: 400 )?(prompt is|conversation) too long|^request too large|piped stdin input exceeds|^API Error: 413|exceed context limit|reached its context window limit`},
	{Name: "media-too-large", Class: verdict.TooLarge, Match: `^(image was|PDF) too large|exceeds the dimension limit|image (exceeds|dimensions exceed) .*\bm(ax|any-image)|maximum of \d+ PDF pages`},

	{Name: "model", Class: verdict.NotFound, Match: `issue with the selected model|^API Error: 404\b|^the model \S+ is not available on your|^API Error \(\S+\): .*model id`},
	{Name: "max-turns", Class: verdict.LimitReached, Match: `reached max(imum number of)? turns`},
	{Name: "max-budget", Class: verdict.LimitReached, Match: `exceeded USD budget|reached maximum budget`},
	{Name: "max-output", Class: verdict.LimitReached, Match: `exceeded the \d+ output token maximum|failed to provide valid structured output`},
	{Name: "policy", Class: verdict.Refused, Match: `appears to violate our usage policy|safeguards flagged|^API Error: \S+( \S+)? can't help with this\.`},
	{Name: "hook", Class: verdict.Blocked, Match: `^a mod's http\.fetch hook stopped`},

	{Name: "no-conversation", Class: verdict.SessionNotFound, Match: `no conversation found|^failed to resume session`},
	{Name: "in-use", Class: verdict.SessionBusy, Match: `^error: session ID \S+ is already in use`},

	{Name: "rejected", Class: verdict.RateLimit, Match: `^API Error: (429\b|request rejected \(429\))|temporarily limiting requests`},
	{Name: "overloaded", Class: verdict.Overloaded, Match: `^API Error: (repeated )?529\b|^API Error: 503\b.*(overloaded|at capacity)|^API Error:.*\boverloaded_error\b|^API Error: overloaded\b|^\w+ is experiencing high load`},
	{Name: "server-error", Class: verdict.ServerError, Match: `^API Error: (5\d\d|408|425)\b|the API is temporarily unavailable|^API Error: .*\bthis is a server-side issue\b`},
	{Name: "timed-out", Class: verdict.Timeout, Match: `^(API Error: )?(request timed out|the operation timed out|stream idle timeout|no response from API)`},
	{Name: "certificate", Class: verdict.InvalidRequest, Match: `^API Error:.*(SSL certificate|self[- ]signed certificate|\(CERT_|UNABLE_TO_(VERIFY|GET_ISSUER))`},
	{Name: "connection", Class: verdict.Network, Match: `^API Error: (unable to connect|connection|the socket connection|fetch failed|terminated$|socket hang up|stream ended before|premature close)`},
	{Name: "errno", Class: verdict.Network, Match: `^API Error:.*\b(E(CONN\w+|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT|HOST(UNREACH|DOWN)|NET(UNREACH|DOWN)|PROTO)|UND_ERR_\w+|ERR_(PROXY|SOCKET|SSL|TLS|STREAM)_\w+|ConnectionRefused|FailedToOpenSocket|ConnectionClosed)\b`},
	{Name: "malformed", Class: verdict.BadOutput, Match: `^API Error: (API returned an empty or malformed response|failed to parse JSON|JSON parse error|unexpected (token|end of JSON)|unterminated string|content block|stream (ended without receiving any events|event unreadable))|^could not parse message into JSON`},
	{Name: "stumbled", Class: verdict.BadOutput, Match: `^API Error: (cannot read propert|.* is not (an object|iterable|a function|valid JSON)\b)|^(undefined|null) is not an object \(evaluating|^error: no messages returned`},

	{Name: "no-way", Class: verdict.Network, Stream: "stderr", Match: `^error: can('|no)t (connect|reach)\b`},
	{Name: "usage", Class: verdict.InvalidRequest, Stream: "stderr", Match: `^error: (unknown option|unknown command|option |missing required|too many arguments|when using --print|input must be provided|invalid |--|settings file|the prompt|prompt|MCP tool \S+ \(passed via|can('|no)t )|^error parsing streaming input|cannot be used with root|must be a positive number`},
	{Name: "files", Class: verdict.InvalidRequest, Stream: "stderr", Match: `^error: (directory .* does not exist|(append )?system prompt file|fallback model cannot|claude code requires)|^error (processing|reading) (settings|--setting|(append )?system prompt)|^you cannot (use --strict|dynamically configure)|^claude code on windows requires`},
	{Name: "media", Class: verdict.InvalidRequest, Match: `^PDF is password protected|^the PDF file was not valid|could not be processed and was removed`},
	{Name: "options", Class: verdict.InvalidRequest, Match: `^API Error: (effort '\w+' isn't available|streaming is required)|^invalid (ANTHROPIC_CUSTOM_HEADERS|request header)`},
	{Name: "rejected-request", Class: verdict.InvalidRequest, Match: `^API Error: 4\d\d\b`},
	{Name: "crashed", Class: verdict.Crash, Stream: "stderr", Match: `^panic\(|\bbun has crashed|JavaScript heap out of memory|^(segmentation fault|illegal instruction|bus error|aborted)\b`},
}

// nothingDone are the answers of claude itself that look like a success: a command that it does not know, a hook that
// stopped the prompt.
var nothingDone = []string{"Unknown command: /", "Unknown slash command: ", "Unknown skill: ", "UserPromptSubmit operation blocked by hook", "Operation stopped by hook"}

// noAnswerTexts are what the form of text says at the end instead of an answer, also with exit code 0. There is no line break
// after it. An execution error with 0 is an interruption while it waits to retry; of 2.0.77 it may also be a page that is
// no answer of the API, but an interrupted run must not be repeated.
var noAnswerTexts = []struct {
	words string
	class verdict.Class
}{
	{"Error: Reached max turns (", verdict.LimitReached},
	{"Error: Exceeded USD budget (", verdict.LimitReached},
	{"Error: Failed to provide valid structured output", verdict.LimitReached},
	{"Execution error", verdict.Interrupted},
}
