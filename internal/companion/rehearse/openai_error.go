package rehearse

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// openaiErrors are type, code and message that go with a status.
var openaiErrors = map[int][3]string{
	400: {"invalid_request_error", "invalid_value", "Invalid value: 'x'."},
	401: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-rehearsal."},
	402: {"invalid_request_error", "billing_hard_limit_reached", "Billing hard limit has been reached."},
	403: {"invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported"},
	404: {"invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."},
	413: {"invalid_request_error", "request_too_large", "Request too large"},
	429: {"requests", "rate_limit_exceeded", "Rate limit reached for requests"},
	500: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
	503: {"server_error", "", "The server is temporarily unable to handle the request."},
	529: {"server_error", "", "overloaded"},
}

// openaiCodes are the messages that go with a code of its own.
var openaiCodes = map[string][2]string{
	"insufficient_quota":      {"insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
	"server_is_overloaded":    {"service_unavailable_error", "Our servers are currently overloaded. Please try again later."},
	"context_length_exceeded": {"invalid_request_error", "Your input exceeds the context window of this model. Please adjust your input and try again."},
	"rate_limit_exceeded":     {"requests", "Rate limit reached for requests. Please try again in 1.5s."},
	"usage_not_included":      {"usage_not_included", "Usage is not included in your plan"},
}

// openaiError is what an error is made of.
func openaiError(c *call, s *Step, status int) object {
	known := openaiErrors[status]
	if status == http.StatusNotFound && c.model != "" {
		known[2] = fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", c.model)
	}
	code := cmp.Or(s.Code, known[1])
	of := openaiCodes[s.Code]
	var coded any
	if code != "" {
		coded = code
	}
	return object{"type": cmp.Or(s.Type, of[0], known[0], "server_error"), "code": coded, "param": nil,
		"message": cmp.Or(s.Message, of[1], known[2], http.StatusText(status), "error")}
}

func (openai) fail(c *call, s *Step, n int) reply {
	status, body := s.Status, openaiError(c, s, s.Status)
	switch {
	case s.Overloaded:
		status = http.StatusServiceUnavailable
		coded := *s
		coded.Code = cmp.Or(s.Code, "server_is_overloaded")
		body = openaiError(c, &coded, status)
	case s.UsageLimit:
		status = http.StatusTooManyRequests
		reset := s.resetTime()
		body = object{"type": "usage_limit_reached", "message": cmp.Or(s.Message, "The usage limit has been reached"),
			"plan_type": cmp.Or(s.Plan, "plus"), "resets_at": reset.Unix(), "resets_in_seconds": int(time.Until(reset).Seconds())}
	}
	rep := jsonReply(status, object{"error": body})
	openaiHeaders(rep.header, n)
	return rep
}

func openaiHeaders(h http.Header, n int) {
	h.Set("X-Request-Id", fmt.Sprintf("req_rehearsal%04d", n))
}

func (openai) failInside(c *call, s *Step, n int) []byte {
	coded := *s
	if s.Cut == CutOverloaded {
		coded.Code = cmp.Or(s.Code, "server_is_overloaded")
	}
	coded.Code = cmp.Or(coded.Code, s.Type, "server_error")
	failed := openaiResponse(c, n, "failed", []object{})
	failed["error"] = openaiError(c, &coded, http.StatusInternalServerError)
	return event("response.failed", object{"type": "response.failed", "response": failed})
}
