package rehearse

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// anthropicErrors are the types and messages that go with a status.
var anthropicErrors = map[int][2]string{
	400: {"invalid_request_error", "messages: at least one message is required"},
	401: {"authentication_error", "invalid x-api-key"},
	402: {"billing_error", "Your account has no credit left."},
	403: {"permission_error", "Your API key does not have permission to use the specified resource."},
	404: {"not_found_error", "Not Found"},
	408: {"timeout_error", "Request timeout"},
	413: {"request_too_large", "Request exceeds the maximum size"},
	429: {"rate_limit_error", "This request would exceed your organization's rate limit. Please try again later."},
	500: {"api_error", "Internal server error"},
	503: {"api_error", "Service unavailable"},
	529: {"overloaded_error", "Overloaded"},
}

// anthropicError is the body of an error.
func anthropicError(c *call, s *Step, status, n int) object {
	known := anthropicErrors[status]
	message := known[1]
	if status == http.StatusNotFound && c.model != "" {
		message = "model: " + c.model
	}
	return object{"type": "error", "request_id": fmt.Sprintf("req_rehearsal%04d", n),
		"error": object{"type": cmp.Or(s.Type, s.Code, known[0], "api_error"), "message": cmp.Or(s.Message, message, http.StatusText(status), "error")}}
}

func (anthropic) fail(c *call, s *Step, n int) reply {
	status, reset := s.Status, time.Time{}
	switch {
	case s.Overloaded:
		status = 529
	case s.UsageLimit:
		status, reset = http.StatusTooManyRequests, s.resetTime()
		limited := *s
		limited.Message = cmp.Or(s.Message, "This request would exceed your account's rate limit. Please try again later.")
		s = &limited
	}
	rep := jsonReply(status, anthropicError(c, s, status, n))
	anthropicHeaders(rep.header, c, n, reset)
	if s.UsageLimit {
		unifiedLimit(rep.header, s.Window, reset)
	}
	return rep
}

// anthropicHeaders are the headers of every answer: a request id, and for a subscriber how much of the plan is used.
func anthropicHeaders(h http.Header, c *call, n int, used time.Time) {
	h.Set("Request-Id", fmt.Sprintf("req_rehearsal%04d", n))
	if !c.subscription {
		reset := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
		for _, what := range []string{"Requests", "Tokens"} {
			h.Set("Anthropic-Ratelimit-"+what+"-Limit", "4000")
			h.Set("Anthropic-Ratelimit-"+what+"-Remaining", "3999")
			h.Set("Anthropic-Ratelimit-"+what+"-Reset", reset)
		}
		return
	}
	if used.IsZero() {
		unified(h, "", "Status", "allowed")
		for window, length := range map[string]time.Duration{"5h": 5 * time.Hour, "7d": 7 * 24 * time.Hour} {
			unified(h, window, "Status", "allowed")
			unified(h, window, "Utilization", "0.1")
			unified(h, window, "Reset", strconv.FormatInt(time.Now().Add(length/2).Unix(), 10))
		}
	}
}

// unifiedLimit are the headers of a plan whose window is used up.
func unifiedLimit(h http.Header, window string, reset time.Time) {
	claim := "five_hour"
	if window == "7d" {
		claim = "seven_day"
	}
	at := strconv.FormatInt(reset.Unix(), 10)
	unified(h, "", "Status", "rejected")
	unified(h, "", "Reset", at)
	unified(h, "", "Representative-Claim", claim)
	unified(h, "", "Fallback-Percentage", "0.5")
	unified(h, "", "Overage-Status", "rejected")
	unified(h, "", "Overage-Disabled-Reason", "org_level_disabled")
	unified(h, window, "Status", "rejected")
	unified(h, window, "Reset", at)
	unified(h, window, "Utilization", "1.0")
}

func unified(h http.Header, window, name, value string) {
	if window != "" {
		window += "-"
	}
	h.Set("Anthropic-Ratelimit-Unified-"+window+name, value)
}

func (anthropic) failInside(c *call, s *Step, n int) []byte {
	status := http.StatusInternalServerError
	if s.Cut == CutOverloaded {
		status = 529
	}
	return event("error", anthropicError(c, s, status, n))
}
