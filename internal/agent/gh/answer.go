package gh

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// answer is what GitHub said, wherever that was read: in the trace, in the headers that `gh api -i` prints, or in what gh
// made of it.
type answer struct {
	status      int
	contentType string
	retryAfter  string
	remaining   string
	reset       string
	date        string
	message     string   // the error's words
	types       []string // the types of GraphQL errors
	errors      bool     // there are GraphQL errors
	data        bool     // and there is something beside them
	malformed   bool     // it is called JSON and is none
}

func (a *answer) readHeader(name, value string) {
	switch strings.ToLower(name) {
	case "content-type":
		a.contentType = value
	case "retry-after":
		a.retryAfter = value
	case "x-ratelimit-remaining":
		a.remaining = value
	case "x-ratelimit-reset":
		a.reset = value
	case "date":
		a.date = value
	}
}

// readBody reads what an answer says of a failure. Only GraphQL says one in a good answer.
func (a *answer) readBody(body []byte, graphql bool) {
	if a.status < 400 && !graphql {
		return
	}
	var said struct {
		Message string
		Errors  json.RawMessage
		Data    json.RawMessage
	}
	if json.Unmarshal(bytes.TrimSpace(body), &said) != nil {
		return
	}
	a.message = said.Message
	a.data = hasData(said.Data)
	var list []json.RawMessage
	if json.Unmarshal(said.Errors, &list) != nil {
		var text string
		if json.Unmarshal(said.Errors, &text) == nil {
			a.message = strings.TrimSpace(a.message + " " + text)
		}
		return
	}
	for _, raw := range list {
		var e struct {
			Type, Message, Code string
			Extensions          struct{ Code string }
		}
		var text string
		if json.Unmarshal(raw, &e) != nil && json.Unmarshal(raw, &text) != nil {
			continue
		}
		a.errors = a.errors || graphql
		a.types = append(a.types, strings.ToUpper(cmp.Or(e.Type, e.Extensions.Code)))
		a.message = strings.TrimSpace(a.message + "\n" + cmp.Or(e.Message, text))
	}
}

// hasData reports whether the data of a GraphQL answer is more than nulls.
func hasData(data json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return false
	}
	for _, value := range fields {
		if string(value) != "null" {
			return true
		}
	}
	return false
}

// failed reports whether the answer says a failure.
func (a *answer) failed() bool { return a.status >= 300 || a.errors }

// class says what a failure means, and by which rule; empty if the answer does not tell.
func (a *answer) class() (verdict.Class, string) {
	message := strings.ToLower(strings.ReplaceAll(a.message, "’", "'"))
	for _, p := range throttles {
		if strings.Contains(message, p) {
			return verdict.RateLimit, "rate-limit"
		}
	}
	if a.status == 429 || a.status == 403 && (a.retryAfter != "" || a.remaining == "0" && message == "") {
		return verdict.RateLimit, "status-" + strconv.Itoa(a.status)
	}
	if a.status >= 500 || a.status == 408 {
		return verdict.OfStatus(a.status, message), "status-" + strconv.Itoa(a.status)
	}
	if class, rule := a.classOfTypes(); class != "" {
		return class, rule
	}
	if a.status >= 400 {
		for _, r := range refusals {
			if strings.Contains(message, r.words) {
				return r.class, r.name
			}
		}
	}
	if a.status < 300 || a.errors {
		for _, s := range graphqlRules() {
			if s.re.MatchString(message) {
				return s.class, "graphql-" + s.name
			}
		}
	}
	switch {
	case a.status >= 300:
		return verdict.OfStatus(a.status, message), "status-" + strconv.Itoa(a.status)
	case a.errors:
		return verdict.InvalidRequest, anyGraphQL
	}
	return "", ""
}

// anyGraphQL is the rule for a GraphQL error that says nothing known.
const anyGraphQL = "graphql"

// refusals are GitHub's words that say more than the status they come with, which is 403, 406 or 422. In lower case.
var refusals = []struct {
	words, name string
	class       verdict.Class
}{
	{"is too large to", "too-large", verdict.TooLarge},
	{"exceeded the maximum number of", "too-large", verdict.TooLarge},
	{"is too long (maximum is", "too-large", verdict.TooLarge},
	{"size must be less than", "too-large", verdict.TooLarge},
	{"upgrade to github ", "plan", verdict.Billing},
}

// throttles are GitHub's words for too many calls, in lower case. They come with 403, 429, 422 or in a good answer.
var throttles = []string{
	"api rate limit exceeded", "api rate limit already exceeded", "rate limit exceeded", "exceeded a secondary rate limit",
	"secondary rate limit", "abuse detection mechanism", "was submitted too quickly", "rate limit already exceeded",
	"too many requests", "temporarily blocked from content creation",
}

// byType is the type of a GraphQL error.
var byType = agent.Classes{
	verdict.RateLimit: "RATE_LIMITED RATE_LIMIT RATE_LIMIT_EXCEEDED GRAPHQL_RATE_LIMIT SECONDARY_RATE_LIMITED " +
		"ABUSE_DETECTED",
	verdict.ServerError: "INTERNAL INTERNAL_ERROR INTERNAL_SERVER_ERROR SERVICE_UNAVAILABLE SERVER_ERROR TIMEOUT",
	verdict.Auth:        "UNAUTHENTICATED UNAUTHORIZED FORBIDDEN INSUFFICIENT_SCOPES SAML_ENFORCEMENT",
	verdict.NotFound:    "NOT_FOUND",
	verdict.TooLarge:    "MAX_NODE_LIMIT_EXCEEDED RESOURCE_LIMITS_EXCEEDED",
	verdict.InvalidRequest: "EXCESSIVE_PAGINATION UNPROCESSABLE ARGUMENT_ERROR ARGUMENTLITERALSINCOMPATIBLE " +
		"UNDEFINEDFIELD UNDEFINED_FIELD VALIDATION",
}

// rank is which of several errors counts: the one that says most about trying again.
var rank = []verdict.Class{verdict.RateLimit, verdict.ServerError, verdict.Auth, verdict.TooLarge, verdict.NotFound, verdict.InvalidRequest}

func (a *answer) classOfTypes() (verdict.Class, string) {
	for _, class := range rank {
		for _, name := range a.types {
			if is, _ := byType.Of(name); is == class {
				return class, "graphql-" + strings.ToLower(name)
			}
		}
	}
	return "", ""
}

// graphqlRule matches GitHub's words for a GraphQL error. gh does not show the type.
type graphqlRule struct {
	name  string
	class verdict.Class
	re    *regexp.Regexp
}

var graphqlRules = sync.OnceValue(func() []graphqlRule {
	var list []graphqlRule
	for _, s := range []struct {
		name  string
		class verdict.Class
		match string
	}{
		{"oops", verdict.ServerError, `^something went wrong\b|couldn't respond to your request in time|timeout on validation|^internal (server )?error|this may be the result of a timeout`},
		{"scope", verdict.Auth, `resource not accessible by|has not been granted the required scopes|does not have the correct permissions|saml enforcement|oauth app access restrictions|ip allow list|forbids access via|bad credentials|requires authentication|must have (push|admin|write|read) |viewer (is )?not authori[sz]ed|not authori[sz]ed to`},
		{"could-not-resolve", verdict.NotFound, `could not resolve to an? `},
		{"too-large", verdict.TooLarge, `exceeds the maximum limit|resource limits for this query exceeded|node limit|is too long \(maximum is`},
		{"validation", verdict.InvalidRequest, `doesn't exist on type|must have selections|parse error on|expected type|(variable|argument) .* (was provided invalid value|of type|is not)|can't be blank|already exists|no commits between|validation failed|query attribute must be specified|is invalid|not a valid|unable to|not supported|isn't (defined|used)`},
	} {
		list = append(list, graphqlRule{s.name, s.class, regexp.MustCompile(s.match)})
	}
	return list
})

// hint is when to come back. The reset of the window counts only if nothing is left of it.
func (a *answer) hint(now time.Time) (h verdict.Hint) {
	if a.retryAfter != "" {
		h, _ = verdict.ParseRetryAfter(a.retryAfter, now)
	}
	if a.remaining == "0" {
		if reset, err := strconv.ParseInt(a.reset, 10, 64); err == nil {
			if at, ok := verdict.ParseRetryAfter(strconv.FormatInt(reset, 10), now); ok && !at.At.IsZero() && at.At.After(h.At) {
				h.At = at.At
			}
		}
	}
	return h
}
