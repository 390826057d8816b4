package claude

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// The tables say which class each of claude's own words for a failure is. They are asked from the most exact to the
// vaguest, see judge.

// bySubtype is the subtype of a result that is no "success".
var bySubtype = agent.Classes{
	"error_max_turns":                     verdict.LimitReached,
	"error_max_budget_usd":                verdict.LimitReached,
	"error_max_structured_output_retries": verdict.LimitReached,
}

// stopPrevented says that a hook ended the turn. It comes after the answer, if there is one: then the work was done.
const stopPrevented = "stop_hook_prevented"

// byTerminal is why a turn ended, where that says it all ("completed", "api_error" and "model_error" do not).
var byTerminal = agent.Classes{
	"aborted_streaming":                 verdict.Interrupted,
	"aborted_tools":                     verdict.Interrupted,
	"blocking_limit":                    verdict.TooLarge,
	"rapid_refill_breaker":              verdict.TooLarge,
	"prompt_too_long":                   verdict.TooLarge,
	"max_turns":                         verdict.LimitReached,
	"budget_exhausted":                  verdict.LimitReached,
	"structured_output_retry_exhausted": verdict.LimitReached,
	stopPrevented:                       verdict.Blocked,
	"hook_stopped":                      verdict.Blocked,
	"malformed_tool_use_exhausted":      verdict.BadOutput,
}

// byAPIError is the kind that versions from 2.1.260 on give an error of the API or on the way to it.
var byAPIError = agent.Classes{
	"usage_limit_reached":           verdict.UsageLimit,
	"connection_failed":             verdict.Network,
	"no_response":                   verdict.Timeout,
	"computer_slept":                verdict.Network,
	"network_edge_blocked":          verdict.Auth, // a 403 that no other try mends
	"stream_idle_timeout":           verdict.Timeout,
	"empty_completion":              verdict.BadOutput,
	"malformed_tool_use_exhausted":  verdict.BadOutput,
	"gateway_content_type":          verdict.BadOutput,
	"max_output_tokens":             verdict.LimitReached,
	"autocompact_thrashing":         verdict.TooLarge,
	"pdf_too_large":                 verdict.TooLarge,
	"dlp_request_denied":            verdict.Refused,
	"safety_monitor_blocked":        verdict.Refused,
	"hook_denied":                   verdict.Blocked,
	"org_disabled_credential":       verdict.Auth,
	"stored_login_refused":          verdict.Auth,
	"provider_credentials":          verdict.Auth,
	"gateway_signin_required":       verdict.Auth,
	"gateway_session_expired":       verdict.Auth,
	"api_key_auth_disabled":         verdict.Auth,
	"invalid_credential_header":     verdict.Auth,
	"model_requires_usage_credits":  verdict.Billing,
	"long_context_credits_required": verdict.Billing,
	"consent_unanswered":            verdict.Billing,
	"tls_untrusted_ca":              verdict.InvalidRequest,
	"claude_code_version_too_old":   verdict.InvalidRequest,
	"effort_requires_thinking":      verdict.InvalidRequest,
	"advisor_incompatible":          verdict.InvalidRequest,
	"tool_history_mismatch":         verdict.InvalidRequest,
	"pdf_password_protected":        verdict.InvalidRequest,
	"media_removed":                 verdict.InvalidRequest,
	"no_allowed_fallback":           verdict.InvalidRequest,
	"model_substitution_disabled":   verdict.InvalidRequest,
	"field_not_granted":             verdict.InvalidRequest,
	"unattended_start_limit":        verdict.InvalidRequest,
	"unattended_start_unconfirmed":  verdict.InvalidRequest,
}

// refinedByText are the kinds whose text may say more: the limit may be that of a plan without credits, and what cut
// the answer short may be the context window.
var refinedByText = agent.Classes{
	"usage_limit_reached": verdict.Billing,
	"max_output_tokens":   verdict.TooLarge,
}

// byStartup is why claude refused to start, where another start may well work, or a person must sign in. The rest is a
// matter of settings.
var byStartup = agent.Classes{
	"org_pin_api_key_conflict":             verdict.Auth,
	"org_pin_mismatch":                     verdict.Auth,
	"org_config_refused":                   verdict.Auth,
	"gateway_signin_required":              verdict.Auth,
	"gateway_access_denied":                verdict.Auth,
	"org_verify_failed":                    verdict.Auth,
	"org_config_required_unavailable":      verdict.Network,
	"remote_settings_required_unavailable": verdict.Network,
	"session_held_by_background":           verdict.SessionBusy,
}

// byType is the type in the API's own error.
var byType = agent.Classes{
	"rate_limit_error":      verdict.RateLimit,
	"overloaded_error":      verdict.Overloaded,
	"api_error":             verdict.ServerError,
	"timeout_error":         verdict.ServerError,
	"authentication_error":  verdict.Auth,
	"permission_error":      verdict.Auth,
	"billing_error":         verdict.Billing,
	"not_found_error":       verdict.NotFound,
	"request_too_large":     verdict.TooLarge,
	"invalid_request_error": verdict.InvalidRequest,
}

// byError is the kind in claude's own message about a failure. It is server_error for all that fails on the other side,
// and invalid_request of a refusal too, so that words and status go before it.
var byError = agent.Classes{
	"rate_limit":             verdict.RateLimit,
	"overloaded":             verdict.Overloaded,
	"server_error":           verdict.ServerError,
	"authentication_failed":  verdict.Auth,
	"oauth_org_not_allowed":  verdict.Auth,
	"account_on_hold":        verdict.Auth,
	"verification_required":  verdict.Auth,
	"cloud_credential_error": verdict.Auth,
	"billing_error":          verdict.Billing,
	"model_not_found":        verdict.NotFound,
	"max_output_tokens":      verdict.LimitReached,
	"invalid_request":        verdict.InvalidRequest,
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
	{Name: "api-usage-cap", Class: verdict.UsageLimit, Match: `reached your specified ([\w -]+ )?usage limits?`},
	{Name: "credits-reset", Class: verdict.UsageLimit, Match: `^you're out of (usage credits|extra usage) ?[·∙] ?resets|^usage is paused for your organization`},

	// Money, and what a plan does not include.
	{Name: "credit", Class: verdict.Billing, Match: `credit balance is too low|^API Error: 402|(requires?|are required for|is required for) (usage credits|extra usage|long context)|usage credits required|you're out of (usage credits|extra usage)|org is out of usage|\bExceededBudget\b|\bbudget has been exceeded\b`},
	{Name: "plan", Class: verdict.Billing, Match: `^your seat type doesn't include|^this service is disabled for your org|^your usage allocation has been disabled|^your group's usage limit is set to|is not available with the claude \w+ plan|is unavailable for your plan`},

	// Credentials and permissions.
	{Name: "disk-full", Class: verdict.InvalidRequest, Match: `^failed to refresh OAuth token: the disk|^could not refresh your login: the disk`},
	{Name: "refresh", Class: verdict.Network, Match: `^failed to refresh OAuth token|^could not refresh your login`},
	{Name: "not-logged-in", Class: verdict.Auth, Match: `^not logged in|^(error: )?invalid (API key|auth token)|^failed to authenticate|please run /login|please log ?in again|OAuth (token|session)( has)? (been )?(revoked|expired)|does not have access to Claude|\bAPI Error: (401|403|407)\b|login (expired|reached its time limit)`},
	{Name: "shut-out", Class: verdict.Auth, Match: `belongs to a disabled organi[sz]ation|organi[sz]ation has (been )?disabled|^your account is on hold|^your apiKeyHelper script is failing|request blocked before it reached`},
	{Name: "credentials", Class: verdict.Auth, Match: `^authentication (error|required|failed)\b|^(AWS|google cloud|microsoft foundry) (credentials|authentication)\b|could not load [\w ]{0,20}credentials\b|^gateway refused the request|OAuth authentication is currently not allowed`},

	// Too much at once.
	{Name: "prompt-too-long", Class: verdict.TooLarge, Match: `^(API Error: 400 )?(prompt is|conversation) too long|^request too large|piped stdin input exceeds|^API Error: 413|exceed context limit|reached its context window limit|input is too long for|maximum context length is [\d,]+ tokens`},
	{Name: "media-too-large", Class: verdict.TooLarge, Match: `^(image was|PDF) too large|exceeds the dimension limit|image (exceeds|dimensions exceed) .*\bm(ax|any-image)|maximum of \d+ PDF pages`},

	{Name: "model", Class: verdict.NotFound, Match: `issue with the selected model|^API Error: 404\b|^the model \S+ is not available on your|^API Error \(\S+\): .*model id`},
	{Name: "max-turns", Class: verdict.LimitReached, Match: `reached max(imum number of)? turns`},
	{Name: "max-budget", Class: verdict.LimitReached, Match: `exceeded USD budget|reached maximum budget`},
	{Name: "max-output", Class: verdict.LimitReached, Match: `exceeded the \d+ output token maximum|failed to provide valid structured output`},
	{Name: "policy", Class: verdict.Refused, Match: `appears to violate our usage policy|safeguards flagged|blocked by content filtering policy|^API Error: \S+( \S+)? can't help with this\.`},
	{Name: "hook", Class: verdict.Blocked, Match: `^a mod's http\.fetch hook stopped`},

	{Name: "no-conversation", Class: verdict.SessionNotFound, Match: `no conversation found|^failed to resume session`},
	{Name: "in-use", Class: verdict.SessionBusy, Match: `^error: session ID \S+ is already in use`},

	{Name: "rejected", Class: verdict.RateLimit, Match: `^API Error: (429\b|request rejected \(429\))|temporarily limiting requests`},
	{Name: "overloaded", Class: verdict.Overloaded, Match: `^API Error: (repeated )?529\b|^API Error: 503\b.*(overloaded|at capacity)|^API Error:.*\boverloaded_error\b|^API Error: overloaded\b|^\w+ is experiencing high load`},
	{Name: "server-error", Class: verdict.ServerError, Match: `^API Error: (5\d\d|408)\b|the API is temporarily unavailable|^API Error: .*\bthis is a server-side issue\b`},
	{Name: "timed-out", Class: verdict.Timeout, Match: `^(API Error: )?(request timed out|the operation timed out|stream idle timeout|no response from API)`},
	{Name: "certificate", Class: verdict.InvalidRequest, Match: `^API Error:.*(SSL certificate|self[- ]signed certificate|\(CERT_|UNABLE_TO_(VERIFY|GET_ISSUER))`},
	{Name: "connection", Class: verdict.Network, Match: `^API Error: (unable to connect|connection|the socket connection|fetch failed|terminated$|socket hang up|stream ended before|premature close)`},
	{Name: "errno", Class: verdict.Network, Match: `^API Error:.*\b(E(CONN\w+|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT|HOST(UNREACH|DOWN)|NET(UNREACH|DOWN)|PROTO)|UND_ERR_\w+|ERR_(PROXY|SOCKET|SSL|TLS|STREAM)_\w+|ConnectionRefused|FailedToOpenSocket|ConnectionClosed)\b`},
	{Name: "malformed", Class: verdict.BadOutput, Match: `^API Error: (API returned an empty or malformed response|failed to parse JSON|JSON parse error|unexpected (token|end of JSON)|unterminated string|content block|stream (ended without receiving any events|event unreadable))|^could not parse message into JSON`},
	{Name: "stumbled", Class: verdict.BadOutput, Match: `^API Error: (cannot read propert|.* is not (an object|iterable|a function|valid JSON)\b)|^(undefined|null) is not an object \(evaluating|^error: no messages returned`},

	{Name: "no-way", Class: verdict.Network, Stream: "stderr", Match: `^error: can('|no)t (connect|reach)\b`},
	{Name: "usage", Class: verdict.InvalidRequest, Stream: "stderr", Match: `^error: (unknown option|unknown command|option |missing required|too many arguments|when using --print|input must be provided|invalid |--|settings file|the prompt|prompt|can('|no)t )|^error parsing streaming input|cannot be used with root|must be a positive number`},
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
