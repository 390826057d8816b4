package verdict

import "strings"

// OfStatus returns the class of an HTTP status, and of the text that came with it; Unknown for one that is no error. A 503
// is an overload only if its text says so.
func OfStatus(status int, text string) Class {
	switch status {
	case 401, 403, 407, 511:
		return Auth
	case 402:
		return Billing
	case 404, 410:
		return NotFound
	case 408, 425:
		return ServerError
	case 413:
		return TooLarge
	case 429:
		return RateLimit
	case 451:
		return Refused
	case 529:
		return Overloaded
	case 503:
		if text = strings.ToLower(text); strings.Contains(text, "overloaded") || strings.Contains(text, "at capacity") {
			return Overloaded
		}
	}
	switch {
	case status >= 500 && status < 600:
		return ServerError
	case status >= 400 && status < 500:
		return InvalidRequest
	}
	return Unknown
}
