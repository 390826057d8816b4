package claude

import (
	"strings"
	"sync"

	"github.com/belay-run/belay/verdict"
)

// The tables say which class each of claude's own words for a failure is. They are asked from the most exact to the
// vaguest, see judge.

// bySubtype is the subtype of a result that is no "success".
var bySubtype = map[string]verdict.Class{
	"error_max_turns":                     verdict.LimitReached,
	"error_max_budget_usd":                verdict.LimitReached,
	"error_max_structured_output_retries": verdict.LimitReached,
}

// byTerminal is why a turn ended, where that says it all ("completed", "api_error" and "model_error" do not).
var byTerminal = map[string]verdict.Class{
	"aborted_streaming":                 verdict.Interrupted,
	"aborted_tools":                     verdict.Interrupted,
	"blocking_limit":                    verdict.TooLarge,
	"rapid_refill_breaker":              verdict.TooLarge,
	"prompt_too_long":                   verdict.TooLarge,
	"max_turns":                         verdict.LimitReached,
	"budget_exhausted":                  verdict.LimitReached,
	"structured_output_retry_exhausted": verdict.LimitReached,
	"stop_hook_prevented":               verdict.Blocked,
	"hook_stopped":                      verdict.Blocked,
	"malformed_tool_use_exhausted":      verdict.BadOutput,
}

// byAPIError is the kind that versions from 2.1.260 on give an error of the API or on the way to it.
var byAPIError = map[string]verdict.Class{
	"usage_limit_reached":           verdict.UsageLimit,
	"connection_failed":             verdict.Network,
	"no_response":                   verdict.Network,
	"computer_slept":                verdict.Network,
	"network_edge_blocked":          verdict.Network,
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

// byType is the type in the API's own error.
var byType = map[string]verdict.Class{
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

// byError is the word on claude's own message about a failure. It says server_error of all that lies on the other side,
// and invalid_request of a refusal too, so that words and status go before it.
var byError = map[string]verdict.Class{
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

// classOfStatus is the class of an HTTP status. A 503 is an overload only if its text says so.
func classOfStatus(status int, text string) (verdict.Class, bool) {
	switch status {
	case 401, 403:
		return verdict.Auth, true
	case 402:
		return verdict.Billing, true
	case 404:
		return verdict.NotFound, true
	case 408:
		return verdict.ServerError, true
	case 413:
		return verdict.TooLarge, true
	case 429:
		return verdict.RateLimit, true
	case 529:
		return verdict.Overloaded, true
	case 503:
		if text := strings.ToLower(text); strings.Contains(text, "overloaded") || strings.Contains(text, "at capacity") {
			return verdict.Overloaded, true
		}
	}
	switch {
	case status >= 500 && status < 600:
		return verdict.ServerError, true
	case status >= 400 && status < 500:
		return verdict.InvalidRequest, true
	}
	return "", false
}

// words are claude's sentences about itself, from all versions. They are asked only about text that is claude's own: the
// text of a failed result, what a failed run has printed where there are no events, and stderr.
var words = sync.OnceValue(func() *verdict.Rules {
	rules, err := verdict.Compile(texts...)
	if err != nil {
		panic(err) // a test compiles them
	}
	return rules
})

var texts = []verdict.Rule{
	// Limits of a plan. A throttle says that it is not one.
	{Name: "throttle", Class: verdict.RateLimit, Match: `not your usage limit|usage limit reached\|0\b`},
	{Name: "plan-limit", Class: verdict.UsageLimit, Match: `^(you've|you have) (hit|reached) your [\w -]*\blimit\b`},
	{Name: "plan-limit-reached", Class: verdict.UsageLimit, Match: `^[\w-]*( [\w-]+)? ?(limit|cap) reached( ?[·∙]| resets|$)`},
	{Name: "usage-limit-epoch", Class: verdict.UsageLimit, Match: `usage limit reached\|[1-9]`},
	{Name: "api-usage-cap", Class: verdict.UsageLimit, Match: `reached your specified (\w+ )?(API )?usage limits?`},

	{Name: "credit", Class: verdict.Billing, Match: `credit balance is too low|^API Error: 402|requires? usage credits`},
	{Name: "not-logged-in", Class: verdict.Auth, Match: `^not logged in|^invalid API key|^failed to authenticate|please run /login|please log ?in again|OAuth (token|session)( has)? (been )?(revoked|expired)|does not have access to Claude|belongs to a disabled organi[sz]ation|^API Error: (401|403)\b`},
	{Name: "refresh", Class: verdict.Network, Match: `^failed to refresh OAuth token`},

	{Name: "prompt-too-long", Class: verdict.TooLarge, Match: `^(API Error: 400 )?prompt is too long|^request too large|piped stdin input exceeds|^API Error: 413|exceed context limit`},
	{Name: "model", Class: verdict.NotFound, Match: `issue with the selected model|^API Error: 404\b`},
	{Name: "max-turns", Class: verdict.LimitReached, Match: `reached max(imum number of)? turns`},
	{Name: "max-budget", Class: verdict.LimitReached, Match: `exceeded USD budget|reached maximum budget`},
	{Name: "max-output", Class: verdict.LimitReached, Match: `exceeded the \d+ output token maximum`},
	{Name: "policy", Class: verdict.Refused, Match: `appears to violate our usage policy|safeguards flagged`},

	{Name: "no-conversation", Class: verdict.SessionNotFound, Match: `no conversation found`},
	{Name: "in-use", Class: verdict.SessionBusy, Match: `^error: session ID \S+ is already in use`},

	{Name: "rejected", Class: verdict.RateLimit, Match: `^API Error: (429\b|request rejected \(429\)|rate limit reached)|temporarily limiting requests`},
	{Name: "overloaded", Class: verdict.Overloaded, Match: `^API Error: (repeated )?529\b|^API Error: 503\b.*(overloaded|at capacity)|^API Error:.*\boverloaded_error\b`},
	{Name: "server-error", Class: verdict.ServerError, Match: `^API Error: (5\d\d|408)\b`},
	{Name: "timed-out", Class: verdict.Timeout, Match: `^(API Error: )?(request timed out|the operation timed out|stream idle timeout)`},
	{Name: "connection", Class: verdict.Network, Match: `^API Error: (unable to connect|connection|the socket connection)|^API Error:.*\((ECONN\w+|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ConnectionRefused|FailedToOpenSocket|ConnectionClosed)\)`},
	{Name: "malformed", Class: verdict.BadOutput, Match: `^API Error: (API returned an empty or malformed response|failed to parse JSON|JSON parse error|unexpected token|unexpected end of JSON|cannot read properties of)|^could not parse message into JSON`},

	{Name: "usage", Class: verdict.InvalidRequest, Stream: "stderr", Match: `^error: (unknown option|unknown command|option |missing required|too many arguments|when using --print|input must be provided|invalid |--|settings file|the prompt|prompt|cannot)|^error parsing streaming input|cannot be used with root|must be a positive number`},
	{Name: "rejected-request", Class: verdict.InvalidRequest, Match: `^API Error: 4\d\d\b`},
}

// nothingDone are the answers of claude itself that look like a success: a command that it does not know, a hook that
// stopped the prompt.
var nothingDone = []string{"Unknown command: /", "Unknown slash command: ", "Unknown skill: ", "UserPromptSubmit operation blocked by hook", "Operation stopped by hook"}
