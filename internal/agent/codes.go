package agent

import "github.com/belay-run/belay/verdict"

// APICodes are what OpenAI's API, and those that are like it, call an error in the body of an answer.
var APICodes = Classes{
	verdict.TooLarge: "context_length_exceeded string_above_max_length request_too_large",
	verdict.NotFound: "model_not_found not_found_error",
	verdict.Billing: "insufficient_quota billing_not_active billing_hard_limit_reached " +
		"organization_spend_limit_exceeded usage_not_included",
	verdict.UsageLimit:  "usage_limit_reached",
	verdict.RateLimit:   "rate_limit_exceeded rate_limit_error",
	verdict.Overloaded:  "server_is_overloaded slow_down overloaded_error",
	verdict.ServerError: "server_error internal_server_error",
	verdict.Auth: "invalid_api_key invalid_organization token_expired unsupported_country_region_territory " +
		"account_deactivated authentication_error permission_error",
	// invalid_prompt is "flagged as potentially violating our usage policy".
	verdict.Refused: "content_filter content_policy_violation invalid_prompt",
}

// ClassOfCode says what the code of an error in the body of an answer means. own are codes that the CLI knows beyond those that
// all services share.
func ClassOfCode(code string, own Classes) (verdict.Class, bool) {
	if class, ok := own.Of(code); ok {
		return class, true
	}
	return APICodes.Of(code)
}
