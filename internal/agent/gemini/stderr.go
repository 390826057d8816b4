package gemini

import (
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

// complaint is what is known of a failure, in gemini's words.
type complaint struct {
	message string
	status  int    // of HTTP; 0 if there is none
	reason  string // the service's name for it
	delay   time.Duration
	body    string // the whole of what the service has said, where that is more than the message
}

// ownStderr is what gemini has written on stderr, without colours.
func ownStderr(o verdict.Outcome) string {
	return strings.ReplaceAll(agent.WithoutColour(o.Stderr.Text()), "\r\n", "\n")
}

// lastDocument is the last error that was printed as an object, behind log lines and stack traces. Some are printed twice.
func lastDocument(stderr string) (document, bool) {
	for at := len(stderr); at > 0; {
		if at = strings.LastIndex(stderr[:at], "{\n  \""); at < 0 {
			break
		}
		begin := strings.LastIndexByte(stderr[:at], '\n') + 1
		if before := stderr[begin:at]; before != "" && before != "[ERROR] " {
			continue
		}
		if d, ok := parseDocument(stderr[at:]); ok && d.Error != nil && d.Response == nil {
			return d, true
		}
	}
	return document{}, false
}

// report matches the log line that tells of a request that failed. The file that it names holds the conversation.
var report = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^Error when talking to Gemini API (?:Full report available at: .*?\.json|Partial report .*?\.json) (?:(\w*Error): )?((?s:.*))$|^Original error that triggered report generation: (?:(\w*Error): )?((?s:.*))$`)
})

// fields matches what such a line has of the error, as node prints it.
var fields = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s+(status|code|retryDelayMs|reason): '?([\w.]+)'?,?$`)
})

// lastReport is the last of them.
func lastReport(stderr string) (c complaint, ok bool) {
	at := max(strings.LastIndex(stderr, "Error when talking to Gemini API "), strings.LastIndex(stderr, "Original error that triggered report generation: "))
	if at < 0 || at > 0 && stderr[at-1] != '\n' {
		return c, false
	}
	m := report().FindStringSubmatch(stderr[at:])
	if m == nil {
		return c, false
	}
	rest := m[2] + m[4]
	message, dump, _ := strings.Cut(rest, "\n    at ")
	if i := strings.Index(message, "\n{\n"); i >= 0 { // the object that follows
		message = message[:i]
	}
	for _, field := range fields().FindAllStringSubmatch(dump, 12) {
		switch n, err := strconv.ParseFloat(field[2], 64); {
		case field[1] == "reason" && field[2] != "undefined":
			c.reason = field[2]
		case err != nil || n < 0 || n > 1e12:
		case field[1] == "retryDelayMs":
			c.delay = time.Duration(n) * time.Millisecond
		case field[1] == "status" || c.status == 0:
			c.status = int(n)
		}
	}
	c.setMessage(strings.TrimSpace(message))
	return c, true
}

// setMessage takes a message, which may be the body of an answer of the service.
func (c *complaint) setMessage(message string) {
	c.message = message
	at := strings.IndexByte(message, '{')
	if at < 0 {
		return
	}
	var body struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Details []struct {
				Reason     string `json:"reason"`
				RetryDelay string `json:"retryDelay"`
				Violations []struct {
					QuotaID string `json:"quotaId"`
				} `json:"violations"`
			} `json:"details"`
		} `json:"error"`
	}
	if agent.Lenient(json.NewDecoder(strings.NewReader(message[at:])).Decode(&body)) != nil || body.Error.Message == "" {
		return
	}
	c.body = message
	if strings.HasPrefix(body.Error.Message, "{") && at == 0 { // a body in a body
		inner := *c
		inner.setMessage(body.Error.Message)
		*c = inner
	} else {
		c.message = body.Error.Message
	}
	c.status = cmp.Or(c.status, body.Error.Code)
	for _, d := range body.Error.Details {
		c.reason = cmp.Or(c.reason, d.Reason)
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && c.delay == 0 {
			c.delay = delay
		}
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				c.reason = perDay
			}
		}
	}
}

// perDay is our name for a quota of a day.
const perDay = "PerDay"

// complaintOf is the complaint of an error in gemini's own form.
func complaintOf(e *failure) (c complaint) {
	if n, err := strconv.Atoi(strings.Trim(string(e.Code), `"`)); err == nil && n >= 400 && n < 600 {
		c.status = n
	}
	message := e.Message
	if rest, ok := strings.CutPrefix(message, "[API Error: "); ok {
		message = rest
		if i := strings.LastIndexByte(rest, ']'); i >= 0 { // advice may follow
			message = rest[:i]
		}
	}
	c.setMessage(strings.TrimSpace(message))
	return c
}

// unknownError is all that the events of some versions say of most failures.
const unknownError = "An unknown error occurred."

// with adds what another account of the same failure knows.
func (c complaint) with(d complaint) complaint {
	if c.message == "" || c.message == unknownError {
		c.message = d.message
	}
	c.status, c.reason, c.delay, c.body = cmp.Or(c.status, d.status), cmp.Or(c.reason, d.reason), cmp.Or(c.delay, d.delay), cmp.Or(c.body, d.body)
	return c
}
