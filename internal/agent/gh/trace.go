package gh

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How much of a request's and of an answer's body is read to know what they say. gh traces answers of up to 100 kB, which
// indentation makes longer. And how many requests are kept apart.
const (
	maxRequestBody = 64 << 10
	maxAnswerBody  = 512 << 10
	maxRequests    = 16
)

// What gh writes of a request with GH_DEBUG=api:
//
//	* Request at 2026-11-15 00:26:53.685301238 +0000 UTC m=+0.919396133
//	* Request to http://api.github.localhost/user
//	> GET /user HTTP/1.1
//	> Host: api.github.localhost
//
//	< HTTP/1.1 403 Forbidden
//	< Retry-After: 60
//
//	{
//	  "message": "API rate limit exceeded for user ID 1."
//	}
//
//	* Request took 32.246866ms
//
// Instead of the answer there may be one line with the error, as "* EOF". With the answer's body not read to its end there is
// "* cannot read body: …" in its place, and gh takes what has come for all of it.

// trace reads such lines. Those of requests that gh makes at the same time are interleaved; then it is not sure which of
// them an answer belongs to.
type trace struct {
	requests    []request // those that are kept: the last ones
	open        []*request
	interleaved bool
	total       int
	// of those that are not kept
	forgotten tally
	// badAnswer is the first request with a good status whose answer is not whole, or not what it says it is. badAnswerLast
	// says that the last request is such a one.
	badAnswer     *request
	badAnswerLast bool
	// vague says that it does not tell what was sent: GH_DEBUG=1 shows no more than where to.
	vague bool
	// incomplete says that a part of it is missing: it ends inside a request, or has lines outside of one.
	incomplete bool

	phase          phase
	body           []byte // of the request or the answer that is being read
	lines          int    // of that body
	variables      bool   // the query is over
	raw            bool   // something was read that could look like anything
	foreignQueries bool   // GraphQL queries are not gh's own
	version        string // of gh
}

type phase int

const (
	inInfo phase = iota
	inRequestHeader
	inRequestBody
	inAnswerHeader
	inAnswerBody
)

// begin says that a request begins.
func (t *trace) begin(at time.Time) {
	t.total++
	t.interleaved = t.interleaved || len(t.open) > 0
	t.open = append(t.open, &request{began: at})
	t.phase, t.body, t.lines, t.variables = inInfo, nil, 0, false
}

// end says that a request is over. It reports whether something in it could have looked like this end.
func (t *trace) end(took time.Duration) (wasRaw bool) {
	if len(t.open) == 0 {
		return false
	}
	at := max(0, slices.IndexFunc(t.open, func(r *request) bool { return r.status > 0 || r.broke != "" }))
	r := t.open[at]
	t.open = slices.Delete(t.open, at, at+1)
	r.took, r.ended = took, true
	if t.phase == inAnswerBody {
		r.readBody(t.body, r.graphql())
	} else if t.phase == inRequestBody && len(t.open) == 0 { // else the body may be another's
		t.readRequest(r)
	}
	t.keep(*r)
	wasRaw, t.raw, t.phase, t.body = t.raw, false, inInfo, nil
	return wasRaw
}

// reopen says that what looked like the end of the last request was part of a body.
func (t *trace) reopen() {
	if n := len(t.requests); n > 0 {
		r := t.requests[n-1]
		t.requests = t.requests[:n-1]
		t.open = append(t.open, &r)
		t.phase, t.body, t.lines, t.raw = inAnswerBody, nil, 1, true
	}
}

// keep keeps a request, and of the older ones only whether they have changed something.
func (t *trace) keep(r request) {
	t.vague = t.vague || r.method == ""
	t.badAnswerLast = r.status < 300 && (r.cut != "" || r.malformed)
	if t.badAnswerLast && t.badAnswer == nil {
		t.badAnswer = &r
	}
	if len(t.requests) == maxRequests {
		t.forgotten.add(&t.requests[0])
		t.requests = t.requests[:copy(t.requests, t.requests[1:])]
	}
	t.requests = append(t.requests, r)
}

// finish says that there is nothing more: what is open has had no answer.
func (t *trace) finish() {
	t.incomplete = t.incomplete || len(t.open) > 0
	for _, r := range t.open {
		if t.phase == inRequestBody && len(t.open) == 1 {
			t.readRequest(r)
		}
		r.broke = cmp.Or(r.broke, "ended before there was an answer")
		t.keep(*r)
	}
	t.open = nil
}

// line reads a line of an open request, without its end.
func (t *trace) line(text []byte) {
	if len(t.open) == 0 {
		return
	}
	r := t.open[0]
	if len(t.open) > 1 {
		r = t.requestOf(text)
	}
	switch t.phase {
	case inInfo:
		t.info(r, text)
	case inRequestHeader:
		if name, value, ok := header(text, '>'); ok {
			r.cacheable = r.cacheable || name == "X-Gh-Cache-Ttl"
			if version, ok := strings.CutPrefix(value, "GitHub CLI "); ok && name == "User-Agent" {
				t.version = version
			}
			t.raw = t.raw || name == "Content-Type" && shownRaw(value)
		} else if len(text) == 0 {
			t.phase = inRequestBody
		}
	case inRequestBody:
		t.requestBody(r, text)
	case inAnswerHeader:
		t.answerHeader(r, text)
	case inAnswerBody:
		t.answerBody(r, text)
	}
}

// requestOf is the request that a line belongs to where several are open, as far as that can be told: they were begun, and are
// mostly answered, one after another.
func (t *trace) requestOf(text []byte) *request {
	last := t.open[len(t.open)-1]
	switch {
	case statusOf(text) > 0:
		t.phase, t.body, t.variables = inRequestBody, nil, true
		for _, r := range t.open {
			if r.status == 0 {
				return r
			}
		}
	case t.phase == inAnswerHeader || t.phase == inAnswerBody:
		for _, r := range slices.Backward(t.open) {
			if r.status > 0 {
				return r
			}
		}
	}
	return last
}

func (t *trace) info(r *request, text []byte) {
	if url, ok := bytes.CutPrefix(text, []byte("* Request to ")); ok {
		r.url = string(url)
	} else if f := bytes.Fields(text); len(f) == 4 && string(f[0]) == ">" && bytes.HasPrefix(f[3], []byte("HTTP/")) {
		r.method = string(f[1])
		r.changes = r.method != "GET" && r.method != "HEAD" && r.method != "OPTIONS"
		t.phase = inRequestHeader
	}
}

const queryMark, variablesMark = "GraphQL query:", "GraphQL variables: "

func (t *trace) requestBody(r *request, text []byte) {
	isQuery := bytes.HasPrefix(t.body, []byte(queryMark))
	switch {
	case statusOf(text) > 0 && (!isQuery || t.variables):
		t.readRequest(r)
		r.status, r.broke = statusOf(text), ""
		t.phase = inAnswerHeader
		return
	case bytes.HasPrefix(text, []byte("* body cannot be formatted: ")):
		t.raw = true
	case bytes.HasPrefix(text, []byte("* ")) && !isRemark(text):
		r.broke = string(text[2:min(len(text), 1000)]) // if nothing else follows but the end
		return
	default:
		r.broke = ""
	}
	t.variables = t.variables || isQuery && bytes.HasPrefix(text, []byte(variablesMark))
	t.raw = t.raw || t.foreignQueries && string(text) == queryMark
	t.take(text, maxRequestBody)
}

// readRequest reads what the body of a request says.
func (t *trace) readRequest(r *request) {
	if !r.graphql() {
		return
	}
	query, ok := bytes.CutPrefix(t.body, []byte(queryMark+"\n"))
	if !ok {
		query = []byte(queryOf(t.body))
	}
	r.kind, r.name = operation(string(query), "mutation")
	if r.kind == "" {
		r.kind, r.name = operation(string(query), "")
	}
	// What was too long to be shown, or to be read, may be anything. gh's own documents have one operation.
	r.changes = r.kind == "mutation" || len(query) == 0 || len(t.body) >= maxRequestBody && (r.kind == "" || t.foreignQueries)
}

func (t *trace) answerHeader(r *request, text []byte) {
	name, value, ok := header(text, '<')
	switch {
	case ok:
		r.readHeader(name, value)
	case len(text) == 0:
		t.phase, t.body, t.lines = inAnswerBody, nil, 0
		t.raw = t.raw || shownRaw(r.contentType)
	default: // it was no answer, but something in the request's body
		r.answer = answer{}
		t.phase = inRequestBody
	}
}

func (t *trace) answerBody(r *request, text []byte) {
	t.lines++
	if t.lines == 1 {
		if why, ok := bytes.CutPrefix(text, []byte("* cannot read body: ")); ok {
			r.cut = string(why[:min(len(why), 1000)])
			return
		}
		if bytes.HasPrefix(text, []byte("* body cannot be formatted: ")) {
			r.malformed, t.raw = true, true
			return
		}
		if isRemark(text) {
			return
		}
	}
	t.take(text, maxAnswerBody)
}

func (t *trace) take(text []byte, most int) {
	if room := most - len(t.body); room > 0 {
		t.body = append(append(t.body, text[:min(len(text), room)]...), '\n')
	}
}

// header reads "< Name: value".
func header(text []byte, mark byte) (name, value string, ok bool) {
	if len(text) < 2 || text[0] != mark || text[1] != ' ' {
		return "", "", false
	}
	name, value, ok = strings.Cut(string(text[2:min(len(text), 4096)]), ": ")
	if !ok { // one without a value
		name, ok = strings.CutSuffix(name, ":")
	}
	return name, value, ok && !strings.Contains(name, " ")
}

// statusOf is the status in "< HTTP/1.1 403 Forbidden"; 0 for any other line.
func statusOf(text []byte) int {
	rest, ok := bytes.CutPrefix(text, []byte("< HTTP/"))
	if !ok {
		return 0
	}
	return statusAfter(string(rest[:min(len(rest), 100)]))
}

// statusAfter is the status in "1.1 403 Forbidden".
func statusAfter(rest string) int {
	_, rest, _ = strings.Cut(rest, " ")
	if len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' {
		return 0
	}
	status, err := strconv.Atoi(rest[:3])
	if err != nil || status < 100 {
		return 0
	}
	return status
}

// shownRaw reports whether the trace shows bodies of this type as they are.
func shownRaw(contentType string) bool {
	return !isJSON(contentType) && (strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/x-www-form-urlencoded"))
}

// isJSON reports whether gh takes a content type for JSON.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
}

// remarks are what the trace says about a body, where it does not show it.
var remarks = []string{"* body contains binary data", "* body is too long", "* panic while", "* error on "}

func isRemark(text []byte) bool {
	return slices.ContainsFunc(remarks, func(r string) bool { return bytes.HasPrefix(text, []byte(r)) })
}
