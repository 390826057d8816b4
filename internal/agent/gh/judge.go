package gh

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// judgement finds out what an outcome means.
type judgement struct {
	verdict.Outcome
	line      line
	now       time.Time
	trace     *trace
	listened  bool   // the trace has been taken out of stderr already
	words     string // gh's own, on stderr
	wordsRead bool   // words has been set
	printed   answer // what `gh api -i` has printed of the last answer
}

// readSaved takes out of the output what gh was asked to write there: the trace, and the headers.
func (j *judgement) readSaved() {
	if !j.listened {
		var words bytes.Buffer
		saved := &trace{foreignQueries: true, incomplete: j.Stderr.Truncated()}
		f := &filter{user: &words, trace: saved}
		if j.trace == nil {
			j.trace = saved
			f.setTimes(j.Started, j.now)
		}
		f.Write([]byte(untilEnd(j.Stderr)))
		f.Close()
		j.words, j.wordsRead = words.String(), true
	}
	stdout := j.Stdout.Text()
	if j.trace.total == 0 && strings.HasPrefix(stdout, beginMark) { // --verbose
		j.trace.incomplete = j.trace.incomplete || j.Stdout.Truncated()
		f := &filter{user: io.Discard, trace: j.trace}
		f.setTimes(j.Started, j.now)
		f.Write([]byte(untilEnd(j.Stdout)))
		f.Close()
	}
	j.printed = readPrinted(stdout)
}

// untilEnd is what an excerpt holds that a trace can be read from: of a long one the end, from where a request begins.
func untilEnd(e verdict.Excerpt) string {
	if !e.Truncated() {
		return e.Text()
	}
	tail := "\n" + string(e.Tail)
	if i := strings.Index(tail, "\n"+beginMark); i >= 0 {
		return tail[i+1:]
	}
	if i := strings.LastIndex(tail, "\n"+endMark); i >= 0 {
		_, rest, _ := strings.Cut(tail[i+1:], "\n")
		return rest
	}
	return e.Text()
}

// verdict says what the outcome means.
func (j *judgement) verdict() verdict.Verdict {
	if !j.wordsRead {
		j.words, j.wordsRead = j.Stderr.Text(), true
	}
	v := j.judge()
	v.Sent = j.sent(v)
	if v.Class != verdict.OK && v.Evidence == "" {
		v.Evidence = cmp.Or(verdict.LastLines(j.words, 3, 400), verdict.LastWords(j.Outcome), fmt.Sprintf("exit %d", j.ExitCode))
	}
	return v
}

func (j *judgement) judge() verdict.Verdict {
	if v, ok := verdict.EndedBySignal(j.Outcome); ok {
		return v
	}
	if v, ok := verdict.EndedByCode(j.Outcome); ok {
		return v
	}
	switch {
	case j.ExitCode == 0:
		return j.byOutput()
	case j.ExitCode == exitAuth:
		first, _, _ := strings.Cut(strings.TrimSpace(j.words), "\n") // the other lines are what else would do
		return verdict.Verdict{Class: verdict.Auth, Rule: "exit-4", Evidence: agent.Evidence(first)}
	case j.ExitCode == exitPending && (j.line.command == "" || j.line.command == "pr checks"):
		// It has told what it was asked, and its exit code is part of that: the checks are not over.
		return verdict.Verdict{Class: verdict.OK, Rule: "pending"}
	}
	return j.byFailure()
}

// gh's exit codes. 1 is everything else.
const (
	exitCancelled = 2
	exitAuth      = 4
	exitPending   = 8
)

// byFailure judges a run that did not end with 0: by what was answered to the request that it failed at, then by what gh
// says.
func (j *judgement) byFailure() verdict.Verdict {
	if r := j.failedRequest(); r != nil {
		if v, ok := j.byRequest(r); ok {
			return v
		}
	}
	if j.printed.failed() {
		if class, rule := j.printed.class(); class != "" {
			return j.verdictOn(&j.printed, class, rule)
		}
	}
	if v, ok := j.byWords(); ok {
		return v
	}
	if v, ok := j.byPrintedErrors(); ok && strings.TrimSpace(j.words) == "" {
		return v
	}
	if j.ExitCode == exitCancelled {
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "exit-2"}
	}
	if v, ok := j.byLastResort(); ok {
		return v
	}
	return verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code"}
}

// maskingWords are gh's words that hide why a request failed.
var maskingWords = []string{"unknown owner type", "token in ", "is invalid", "Failed to log in"}

// failedRequest is the request that the run failed at; nil if none did. Side requests of gh may fail without effect, so it
// is the last one, unless gh's words hide it or several were under way.
func (j *judgement) failedRequest() *request {
	if j.trace == nil || len(j.trace.requests) == 0 {
		return nil
	}
	list := j.trace.requests
	if last := &list[len(list)-1]; last.broken() {
		return last
	}
	anyOne := j.trace.interleaved
	for _, words := range maskingWords {
		anyOne = anyOne || strings.Contains(j.words, words)
	}
	for i := len(list) - 1; anyOne && i >= 0; i-- {
		if list[i].broken() {
			return &list[i]
		}
	}
	return nil
}

// broken reports whether the request did not do what it was to do.
func (r *request) broken() bool {
	return r.broke != "" || r.cut != "" || r.failed() || r.malformed
}

// byRequest judges by what became of a request.
func (j *judgement) byRequest(r *request) (verdict.Verdict, bool) {
	what := r.method + " " + r.path()
	if r.name != "" {
		what = r.kind + " " + r.name
	}
	switch {
	case r.broke != "":
		v, ok := rules.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(r.broke)}, j.now)
		if !ok {
			v = verdict.Verdict{Class: verdict.Network, Retryable: true, Rule: "no-answer"}
		}
		v.Evidence = agent.Evidence(what + ": " + r.broke)
		return v, true
	case r.cut != "" && r.status < 400:
		return verdict.Verdict{Class: verdict.Network, Retryable: true, Rule: "cut", Evidence: agent.Evidence(what + ": the answer is not whole: " + r.cut)}, true
	case r.malformed && r.status < 300:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "malformed", Evidence: agent.Evidence(what + ": the answer is no JSON")}, true
	}
	class, rule := r.class()
	if class == "" {
		return verdict.Verdict{}, false
	}
	v := j.verdictOn(&r.answer, class, rule)
	v.Evidence = agent.Evidence(what + ": " + v.Evidence)
	if j.isCached(r) {
		// To ask again is no use: gh answers from its cache, also when GitHub is well again.
		v.Retryable, v.Hint, v.Rule = false, verdict.Hint{}, "cached-"+v.Rule
		v.Evidence += "\nthis answer is in gh's cache, which will give it again; clear it with: " + clearCache(j.trace.version)
	}
	return v, true
}

// isCached reports whether gh has a failure in its cache: it keeps all but 403 and 5xx.
func (j *judgement) isCached(r *request) bool {
	cached := r.cacheable || j.line.isAPI() && j.line.opts.Has("--cache")
	return cached && r.status < 500 && r.status != 403 && (r.method == "GET" || r.method == "HEAD" || r.graphql())
}

// clearCache is the command that empties gh's cache. Before 2.34 gh has none, and keeps the cache among temporary files.
func clearCache(version string) string {
	if version != "" && agent.CompareVersions(version, "2.34.0") < 0 {
		return `rm -r "${TMPDIR:-/tmp}/gh-cli-cache"`
	}
	return "gh config clear-cache"
}

// verdictOn is the verdict on an answer.
func (j *judgement) verdictOn(a *answer, class verdict.Class, rule string) verdict.Verdict {
	v := verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: rule}
	if v.Retryable || class.Throttle() {
		if v.Hint = a.hint(j.now); v.Hint.IsZero() {
			v.Hint, _ = verdict.ParseHint(a.message, j.now)
		}
	}
	message := strings.ReplaceAll(strings.TrimSpace(a.message), "\n", ", ")
	switch {
	case a.status >= 300:
		v.Evidence = strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", a.status, message), ": ")
	case a.errors:
		v.Evidence = "GraphQL: " + message
		if types := strings.Trim(strings.Join(a.types, ", "), ", "); types != "" {
			v.Evidence += " (" + types + ")"
		}
	default:
		v.Evidence = message
	}
	v.Evidence = agent.Evidence(v.Evidence)
	return v
}
