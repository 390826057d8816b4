package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Class is the kind of an outcome.
type Class string

const (
	OK              Class = "ok"                // the work was done
	RateLimit       Class = "rate_limit"        // throttled for a short window
	UsageLimit      Class = "usage_limit"       // plan or quota used up until a reset
	Overloaded      Class = "overloaded"        // the service is at capacity
	ServerError     Class = "server_error"      // any other 5xx, and 408
	Network         Class = "network"           // refused, reset, DNS, dropped mid-stream
	Timeout         Class = "timeout"           // a request timed out, or the attempt's deadline passed
	Stalled         Class = "stalled"           // no sign of life for the stall limit
	BadOutput       Class = "bad_output"        // malformed or empty answer
	SessionBusy     Class = "session_busy"      // the session has another writer
	Auth            Class = "auth"              // credentials missing or refused
	Billing         Class = "billing"           // no credit, or not in the plan
	InvalidRequest  Class = "invalid_request"   // bad flag, config or request
	NotFound        Class = "not_found"         // 404, unknown model
	TooLarge        Class = "too_large"         // context or size limit
	SessionNotFound Class = "session_not_found" // the id to resume is unknown or expired
	SessionBroken   Class = "session_broken"    // the service rejects the history of the session
	LimitReached    Class = "limit_reached"     // max turns, budget or output tokens
	Refused         Class = "refused"           // refused for policy or safety
	Blocked         Class = "blocked"           // exit 0, but nothing was done
	NotDone         Class = "not_done"          // a success that did not pass its check
	Conflict        Class = "conflict"          // work that could not be brought into its branch
	WrongModel      Class = "wrong_model"       // another model than the one that was required
	Resources       Class = "resources"         // more memory or disk than it may take
	Runaway         Class = "runaway"           // more sub-agents, or the same call more often, than it may
	ToolMissing     Class = "tool_missing"      // command not found or not executable
	Interrupted     Class = "interrupted"       // ended by INT, TERM or HUP
	Crash           Class = "crash"             // killed by another signal, or panicked
	BreakerOpen     Class = "breaker_open"      // refused by the gate
	Unknown         Class = "unknown"           // none of the above
)

var classes = [...]Class{
	OK, RateLimit, UsageLimit, Overloaded, ServerError, Network, Timeout, Stalled,
	BadOutput, SessionBusy, Auth, Billing, InvalidRequest, NotFound, TooLarge,
	SessionNotFound, SessionBroken, LimitReached, Refused, Blocked, NotDone, Conflict, WrongModel, Resources, Runaway, ToolMissing,
	Interrupted, Crash, BreakerOpen, Unknown,
}

// Classes returns every class, in the order of the manual.
func Classes() []Class { return slices.Clone(classes[:]) }

// ParseClass returns the class of that name.
func ParseClass(s string) (Class, error) {
	if slices.Contains(classes[:], Class(s)) {
		return Class(s), nil
	}
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = string(c)
	}
	return "", fmt.Errorf("unknown class %q (one of %s)", s, strings.Join(names, ", "))
}

// Retryable reports whether an outcome of this class is worth repeating with
// back-off, unless a rule says otherwise. It is false for [UsageLimit]: backing
// off does not help against a window that is hours long, only its reset does.
func (c Class) Retryable() bool {
	switch c {
	case RateLimit, Overloaded, ServerError, Network, Timeout, Stalled, BadOutput, SessionBusy, Resources, Runaway:
		return true
	}
	return false
}

// Throttle reports whether the service asked for fewer calls. A throttle holds
// back all callers but says nothing bad about the service's health.
func (c Class) Throttle() bool { return c == RateLimit || c == UsageLimit }

// RetryLimit returns how often an outcome of this class is repeated at most,
// whatever the policy allows; 0 means that the class sets no limit of its own.
// A hang, a garbled answer or a ceiling that comes twice will most likely come again.
func (c Class) RetryLimit() int {
	switch c {
	case Stalled, BadOutput, Resources, Runaway:
		return 1
	}
	return 0
}
