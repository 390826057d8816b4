package rehearse

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// geminiErrors are the names and messages that go with a status.
var geminiErrors = map[int][2]string{
	400: {"INVALID_ARGUMENT", "Request contains an invalid argument."},
	401: {"UNAUTHENTICATED", "Request had invalid authentication credentials."},
	402: {"FAILED_PRECONDITION", "Payment required."},
	403: {"PERMISSION_DENIED", "The caller does not have permission"},
	404: {"NOT_FOUND", "Requested entity was not found."},
	413: {"INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."},
	429: {"RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
	500: {"INTERNAL", "An internal error has occurred."},
	503: {"UNAVAILABLE", "The service is currently unavailable."},
	504: {"DEADLINE_EXCEEDED", "Deadline expired before operation could complete."},
}

const (
	geminiOverloaded = "The model is overloaded. Please try again later."
	geminiUsedUp     = "You have exhausted your capacity on this model. Your quota will reset after %v."
)

// geminiError is the body of an error.
func geminiError(c *call, s *Step, status int) object {
	known := geminiErrors[status]
	message := known[1]
	if status == http.StatusNotFound && c.model != "" {
		message = fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent.", c.model)
	}
	body := object{"code": status, "message": cmp.Or(s.Message, message, http.StatusText(status), "error"), "status": cmp.Or(s.Type, known[0], "UNKNOWN")}
	var details []object
	if s.Code != "" {
		details = append(details, geminiReason(s.Code, "googleapis.com"))
	}
	switch {
	case s.RetryAfter.Date:
		details = append(details, geminiDelay(s.RetryAfter.In))
	case s.RetryAfter.Seconds != "":
		details = append(details, object{"@type": retryInfo, "retryDelay": s.RetryAfter.Seconds + "s"})
	}
	if details != nil {
		body["details"] = details
	}
	return object{"error": body}
}

const retryInfo = "type.googleapis.com/google.rpc.RetryInfo"

// geminiDelay says when to come back: the API has no header for that.
func geminiDelay(d time.Duration) object {
	return object{"@type": retryInfo, "retryDelay": fmt.Sprintf("%gs", d.Round(time.Second).Seconds())}
}

func geminiReason(reason, domain string) object {
	return object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain}
}

func (gemini) fail(c *call, s *Step, n int) reply {
	status, coded := s.Status, *s
	left := time.Until(s.resetTime()).Truncate(time.Second) + time.Second
	switch {
	case s.Overloaded:
		status, coded.Message = http.StatusServiceUnavailable, cmp.Or(s.Message, geminiOverloaded)
	case s.UsageLimit: // as the service behind a login says it
		status, coded.Message = http.StatusTooManyRequests, cmp.Or(s.Message, fmt.Sprintf(geminiUsedUp, left))
	}
	body := geminiError(c, &coded, status)
	if s.UsageLimit {
		body["error"].(object)["details"] = []object{geminiReason("QUOTA_EXHAUSTED", "cloudcode-pa.googleapis.com"), geminiDelay(left)}
	}
	return jsonReply(status, body)
}

func (gemini) failInside(c *call, s *Step, _ int) []byte {
	status, coded := http.StatusInternalServerError, *s
	if s.Cut == CutOverloaded {
		status, coded.Message = http.StatusServiceUnavailable, cmp.Or(s.Message, geminiOverloaded)
	}
	return geminiEvent(geminiError(c, &coded, status))
}
