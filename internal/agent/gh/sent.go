package gh

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/belay-run/belay/verdict"
)

// sent says whether there may have been an effect. That there was none needs evidence: a trace that tells of every request,
// words of gh that rule it out, or a command that changes nothing.
func (j *judgement) sent(v verdict.Verdict) verdict.Sent {
	sum := j.tally(v)
	switch {
	case sum.done > 0:
		return verdict.SentYes
	case sum.open > 0:
		if j.trace.interleaved && j.ruledOut() {
			return verdict.SentNo // which of them failed is not sure, but that it had no effect is
		}
		return verdict.SentMaybe
	case j.traceIsComplete(), j.line.known && !j.line.changes():
		return verdict.SentNo
	case v.Class == verdict.OK:
		return verdict.SentYes
	case j.ruledOut():
		return verdict.SentNo
	}
	return verdict.SentMaybe
}

// tally counts what became of the requests that change something.
type tally struct {
	done    int // they were answered well
	refused int // or not, so that nothing has happened
	open    int // it is not known
}

func (j *judgement) tally(v verdict.Verdict) (sum tally) {
	if j.trace == nil {
		return sum
	}
	sum = j.trace.forgotten
	for i := range j.trace.requests {
		sum.add(&j.trace.requests[i])
	}
	if j.trace.interleaved && sum.refused > 0 && v.Class != verdict.OK {
		sum.open++ // which request an answer belongs to is not sure
	}
	return sum
}

func (t *tally) add(r *request) {
	if !r.changes {
		return
	}
	class, rule := r.class()
	switch {
	case r.broke != "" && neverSent(r.broke):
	case r.broke != "" || r.cut != "" && r.status < 400 || r.status == 0:
		t.open++
	case r.status < 300 && (!r.errors || r.data):
		t.done++ // a mutation that also reports errors has happened
	case class == verdict.ServerError || class == verdict.Overloaded:
		t.open++ // the answer is that of a proxy, or it is not known how far it got
	case r.status < 300 && rule != anyGraphQL, r.status >= 400 && r.status < 500:
		t.refused++
	default:
		t.open++ // an answer that is not understood
	}
}

// traceIsComplete reports whether the trace has every request of the attempt. Behind a wrapper that drops it, or with a
// clock that is set meanwhile, requests are missing. That shows: nothing was traced, a part is missing, or gh's words tell of
// a failure that the trace does not have. What was killed may have left something behind that is still at work.
func (j *judgement) traceIsComplete() bool {
	t := j.trace
	if t == nil || t.total == 0 || t.vague || t.incomplete || j.Signal != "" || j.ExitCode >= 128 {
		return false
	}
	if j.line.isAPI() && j.line.changes() && !slices.ContainsFunc(t.requests, func(r request) bool { return r.method != "GET" }) {
		return false // these are of another call
	}
	failed, url := failureIn(j.words)
	if !failed {
		return j.ExitCode == 0 || strings.TrimSpace(j.words) != "" || j.failedRequest() != nil
	}
	return slices.ContainsFunc(t.requests, func(r request) bool { return r.broken() && (url == "" || r.url == url) })
}

// failures are gh's words for a request that has failed, with its address where they name it.
var failures = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:.*?: )??(?:` +
		`[A-Z][a-z]+ "(https?://[^"]+)": ` +
		`|HTTP \d{3}\b(?:.* \((https?://[^ ]+)\)$)?` +
		`|GraphQL: |non-200 OK status code: |(?:unexpected )?EOF$|unexpected end of JSON input|invalid character ` +
		`)|^gh: |^` + dnsMark)
})

// failureIn reports whether words tell of a request that has failed, and the address of the last one, if it is named.
func failureIn(words string) (failed bool, url string) {
	for _, m := range failures().FindAllStringSubmatch(words, -1) {
		failed, url = true, m[1]+m[2]
	}
	return failed, url
}

// ruledOut reports whether gh's words alone rule out that something was changed: gh did not come as far as a request, or the
// request that failed was not sent or was refused and cannot have come after a change.
func (j *judgement) ruledOut() bool {
	if !j.line.known && j.line.command != "" {
		return j.line.unknownIn(j.words)
	}
	said := *j
	said.trace = nil // it may be of another call
	v, _ := said.byWords()
	if j.ExitCode == exitAuth || v.Rule == "usage" || v.Rule == "usage-shown" {
		return true
	}
	if j.Signal != "" || !j.line.once(j.words) {
		return false
	}
	switch v.Class {
	case verdict.RateLimit:
		return !j.partlyDone()
	case verdict.Auth, verdict.Billing, verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge:
		a, worded := j.answerFromWords()
		return !worded || !a.errors // GraphQL says so also of a part of what it has done
	}
	return noneSent(j.words)
}

// partlyDone reports whether `gh api graphql` has printed more than errors: then one of several mutations may have been made.
func (j *judgement) partlyDone() bool {
	if !j.line.isGraphQL() {
		return false
	}
	if a, ok := j.answerFromWords(); ok && a.status >= 400 {
		return false
	}
	var a answer
	a.readBody([]byte(withoutHeaders(j.Stdout).Text()), true)
	return !a.errors || a.data
}

// unsentWords are Go's words for a request that was not sent: there was no connection to send it by.
var unsentWords = []string{"dial tcp", "dial udp", "no such host", "proxyconnect tcp", "tls: failed to verify certificate", "x509: ", "tls: handshake failure",
	"TLS handshake timeout", "tls: first record does not look like a TLS handshake", "unsupported protocol scheme", "invalid header field", dnsMark}

func neverSent(broke string) bool {
	return slices.ContainsFunc(unsentWords, func(words string) bool { return strings.Contains(broke, words) })
}

// noneSent reports whether words tell of requests that were not sent, and of no other failed one.
func noneSent(words string) bool {
	none := false
	for line := range strings.Lines(words) {
		if neverSent(line) {
			none = true
		} else if failed, _ := failureIn(line); failed {
			return false
		}
	}
	return none
}
