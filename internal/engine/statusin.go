package engine

import (
	"cmp"
	"regexp"
	"strconv"
	"sync"

	"github.com/belay-run/belay/verdict"
)

// statusWords is where a program says which HTTP status it has met: beside one of these words. Only what is an error counts.
var statusWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\bHTTP(?:/[\d.]+)?|(?:^|[^a-z])status(?: code)?|\bAPI error|\berror(?: code)?|(?:^|[^a-z])code)["']?[ :=(]{1,3}["']?([45]\d\d)(?:\D|$)`)
})

// statusIn is the HTTP status that a text names as that of an error, the last one of several; 0 if it names none. The text must
// be a program's own word on why it failed.
func statusIn(text string) int {
	found := statusWords().FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	status, _ := strconv.Atoi(found[len(found)-1][1]) // it is three digits
	return status
}

// statusOf is the HTTP status that a failed call was answered with: what the CLI has told, or else what is in its words; 0 if there is none.
func statusOf(v verdict.Verdict, told int) int {
	if !answers(v.Class) {
		return 0
	}
	return cmp.Or(v.HTTPStatus, told, statusIn(v.Rule), statusIn(v.Evidence))
}

// answers reports whether a service has answered in an outcome of that class, so that there is a status.
func answers(class verdict.Class) bool {
	switch class {
	case verdict.RateLimit, verdict.UsageLimit, verdict.Overloaded, verdict.ServerError, verdict.Timeout, verdict.Auth, verdict.Billing,
		verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge, verdict.Refused:
		return true
	}
	return false
}
