package gh

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// byOutput judges a run that ended with 0. `gh api` ends so with whatever came, as long as the status is good.
func (j *judgement) byOutput() verdict.Verdict {
	ok := verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
	if j.trace != nil {
		if r := j.trace.badAnswer; r != nil && (j.line.isAPI() || j.trace.badAnswerLast) {
			// With the trace on gh takes what has come for all of it, and goes on to the next page.
			v, _ := j.byRequest(r)
			return v
		}
	}
	if !j.line.isAPI() && j.line.command != "" || j.outputIsReshaped() {
		return ok
	}
	body := withoutHeaders(j.Stdout)
	switch {
	case isPage(body.Head):
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "html", Evidence: "the answer is a web page: " + verdict.LastLines(string(body.Head[:min(len(body.Head), 120)]), 1, 120)}
	case isCut(body):
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "cut-json", Evidence: "the JSON ends in the middle"}
	}
	if v, found := j.byPrintedErrors(); found {
		return v
	}
	return ok
}

// byPrintedErrors judges by the errors of a GraphQL answer on stdout.
func (j *judgement) byPrintedErrors() (v verdict.Verdict, ok bool) {
	if !j.line.isAPI() && j.line.command != "" || j.outputIsReshaped() {
		return v, false
	}
	a, ok := j.graphqlErrors(withoutHeaders(j.Stdout))
	if ok {
		class, rule := a.class()
		v, ok = j.verdictOn(&a, class, rule), class != ""
	}
	return v, ok
}

// outputIsReshaped reports whether the output is not what GitHub has answered, or not JSON by right.
func (j *judgement) outputIsReshaped() bool {
	if !j.line.isAPI() {
		return false
	}
	o := &j.line.opts
	return o.Has("--jq") || o.Has("--template") || o.Has("--silent") || o.Has("--verbose") || j.line.wantsNonJSON() || !j.line.full
}

// readPrinted reads the last answer that `gh api -i` has printed: a status line that ends in \n, headers that end in \r\n.
func readPrinted(stdout string) (a answer) {
	if !strings.HasPrefix(stdout, "HTTP/") {
		return a
	}
	at := 0
	for i := 0; ; {
		next := strings.Index(stdout[i:], "\nHTTP/")
		if next < 0 {
			break
		}
		i += next + 1
		if first, _, _ := strings.Cut(stdout[i:], "\n"); statusAfter(strings.TrimPrefix(first, "HTTP/")) > 0 {
			at = i
		}
	}
	head, rest, _ := strings.Cut(stdout[at+len("HTTP/"):], "\n")
	a.status = statusAfter(head)
	for {
		field, after, ok := strings.Cut(rest, "\r\n")
		if rest = after; !ok || field == "" {
			break
		}
		name, value, _ := strings.Cut(field, ": ")
		a.readHeader(name, value)
	}
	a.readBody([]byte(rest), a.status < 300 && strings.Contains(rest, `"errors"`)) // REST calls the details of a refusal so, too
	return a
}

// withoutHeaders is the output without the headers of the first answer.
func withoutHeaders(e verdict.Excerpt) verdict.Excerpt {
	if bytes.HasPrefix(e.Head, []byte("HTTP/")) {
		if i := bytes.Index(e.Head, []byte("\r\n\r\n")); i >= 0 {
			e.Head, e.Size = e.Head[i+4:], e.Size-int64(i+4)
		}
	}
	return e
}

// isPage reports whether it is a web page, as a portal or a proxy sends it. GitHub's own HTML is only parts of one.
func isPage(head []byte) bool {
	start := strings.ToLower(string(bytes.TrimLeft(head[:min(len(head), 200)], "\ufeff \t\r\n")))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") || strings.HasPrefix(start, "<head")
}

// isCut reports whether it is JSON that ends in the middle.
func isCut(e verdict.Excerpt) bool {
	head := bytes.TrimLeft(e.Head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	if e.Truncated() { // of which only the end can be seen
		end := bytes.TrimRight(e.Tail, " \t\r\n")
		return len(end) > 0 && end[len(end)-1] != '}' && end[len(end)-1] != ']'
	}
	dec := json.NewDecoder(strings.NewReader(e.Text()[len(e.Head)-len(head):]))
	for {
		var value json.RawMessage
		switch err := dec.Decode(&value); {
		case err == nil:
		case errors.Is(err, io.ErrUnexpectedEOF):
			return true
		default:
			return false
		}
	}
}

// graphqlErrors reads the errors of a GraphQL answer that gh has taken for a good one.
func (j *judgement) graphqlErrors(e verdict.Excerpt) (a answer, found bool) {
	if e.Truncated() || j.line.isAPI() && !j.line.isGraphQL() || !bytes.Contains(e.Head, []byte(`"errors"`)) {
		return a, false
	}
	a.readBody([]byte(e.Text()), true)
	if j.line.command == "" { // the command line is not known: its types show that it is GraphQL
		class, _ := a.classOfTypes()
		return a, a.errors && class != ""
	}
	return a, a.errors
}
