package journal

import "github.com/belay-run/belay/verdict"

// Classification says what kind of failure something is, for the program that reports or handles it.
type Classification struct {
	Type        verdict.Class `json:"type"`
	Message     string        `json:"message"`
	IsRetryable bool          `json:"is_retryable"`
	Category    string        `json:"category"`
	Severity    string        `json:"severity"`
}

// What category and severity can be.
const (
	Connection = "connection" // the service was not reached, or did not answer
	SDK        = "sdk"        // the CLI says what is wrong
	Other      = "unknown"

	Warning     = "warning" // worth repeating
	SevereError = "error"
)

// Classify says what kind of failure a class is.
func Classify(class verdict.Class, message string) Classification {
	c := Classification{Type: class, Message: message, Category: SDK}.Judged(class.Retryable())
	switch class {
	case verdict.Network, verdict.Timeout:
		c.Category = Connection
	case verdict.Unknown, verdict.Crash, verdict.Stalled, verdict.ToolMissing, verdict.Interrupted, verdict.BreakerOpen, "":
		c.Category = Other // the cause is not known
	}
	return c
}

// Judged is c with a verdict's own word on whether it is worth repeating. It may differ from that of the class: a deadline
// that the user has set is a timeout, and is not.
func (c Classification) Judged(retryable bool) Classification {
	c.IsRetryable, c.Severity = retryable, SevereError
	if retryable {
		c.Severity = Warning
	}
	return c
}
