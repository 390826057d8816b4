package agent

import "github.com/belay-run/belay/verdict"

// APICodes are what OpenAI's API, and those that are like it, call an error in the body of an answer.
var APICodes = Classes{
	"context_length_exceeded":              verdict.TooLarge,
	"string_above_max_length":              verdict.TooLarge,
	"request_too_large":                    verdict.TooLarge,
	"model_not_found":                      verdict.NotFound,
	"not_found_error":                      verdict.NotFound,
	"insufficient_quota":                   verdict.Billing,
	"billing_not_active":                   verdict.Billing,
	"billing_hard_limit_reached":           verdict.Billing,
	"organization_spend_limit_exceeded":    verdict.Billing,
	"usage_not_included":                   verdict.Billing,
	"usage_limit_reached":                  verdict.UsageLimit,
	"rate_limit_exceeded":                  verdict.RateLimit,
	"rate_limit_error":                     verdict.RateLimit,
	"server_is_overloaded":                 verdict.Overloaded,
	"slow_down":                            verdict.Overloaded,
	"overloaded_error":                     verdict.Overloaded,
	"server_error":                         verdict.ServerError,
	"internal_server_error":                verdict.ServerError,
	"invalid_api_key":                      verdict.Auth,
	"invalid_organization":                 verdict.Auth,
	"token_expired":                        verdict.Auth,
	"unsupported_country_region_territory": verdict.Auth,
	"account_deactivated":                  verdict.Auth,
	"authentication_error":                 verdict.Auth,
	"permission_error":                     verdict.Auth,
	"content_filter":                       verdict.Refused,
	"content_policy_violation":             verdict.Refused,
	"invalid_prompt":                       verdict.Refused, // "flagged as potentially violating our usage policy"
}

// ClassOfCode says what the code of an error in the body of an answer means. own are codes that the CLI knows beyond those that
// all services share.
func ClassOfCode(code string, own Classes) (verdict.Class, bool) {
	if class, ok := own[code]; ok {
		return class, true
	}
	class, ok := APICodes[code]
	return class, ok
}
