package gh

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/belay-run/belay/verdict"
)

// frames are how gh reports an answer that is an error. The words inside are GitHub's. From the most exact to the
// vaguest.
var frames = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?m)^gh: (?P<message>.*) \(HTTP (?P<status>\d{3})\)$`),
		regexp.MustCompile(`(?m)^gh: HTTP (?P<status>\d{3})$`),
		regexp.MustCompile(`(?m)^(?:.*: )?HTTP (?P<status>\d{3})(?:: (?P<message>.*?))? \(https?://[^ ]*\)$`),
		regexp.MustCompile(`(?m)^(?:.*: )?HTTP (?P<status>\d{3})(?:: (?P<message>.*))?$`),
		regexp.MustCompile(`(?m)^(?:.*: )?HTTP (?P<status>\d{3}) \((?P<message>.*)\)$`),
		regexp.MustCompile(`(?m)^(?P<message>.*) \(HTTP (?P<status>\d{3})\)$`),
		regexp.MustCompile(`(?m)non-200 OK status code: (?P<status>\d{3}) [^\n]*?body: (?P<quoted>".*")$`),
		regexp.MustCompile(`(?m)The requested URL returned error: (?P<status>\d{3})`),
		regexp.MustCompile(`(?m)(?:non-200 OK|unexpected|bad|received)? ?(?:HTTP )?(?:status|response) code:? (?P<status>\d{3})\b(?P<message>.*)$`),
		regexp.MustCompile(`(?mi)^(?:.*: )?(?P<message>you have (?:exceeded a secondary rate limit|triggered an abuse detection mechanism)\b.*)$`),
		regexp.MustCompile(`(?m)^(?:.*: )?GraphQL: (?P<graphql>.*)$`),
		regexp.MustCompile(`(?ms)^gh: (?P<graphql>.*)`),
	}
})

// byWords judges by what gh says.
func (j *judgement) byWords() (verdict.Verdict, bool) {
	if j.stoppedByHook() {
		return verdict.Verdict{Class: verdict.InvalidRequest, Rule: "push", Evidence: verdict.LastLines(j.words, 3, 400)}, true
	}
	if v, ok := usageRules.Judge(j.ownOutcome(), j.now); ok {
		return v, true
	}
	if a, ok := j.answerFromWords(); ok {
		if class, rule := a.class(); class != "" {
			// The same failure in the trace says more.
			if j.trace != nil {
				for i := len(j.trace.requests) - 1; i >= 0; i-- {
					r := &j.trace.requests[i]
					if same, _ := r.class(); r.failed() && same == class {
						if v, ok := j.byRequest(r); ok {
							return v, true
						}
					}
				}
			}
			v := j.verdictOn(&a, class, rule)
			v.Evidence = verdict.LastLines(j.words, 3, 400)
			if v.Hint.IsZero() && (v.Retryable || class.Throttle()) {
				v.Hint, _ = verdict.ParseHint(j.words, j.now)
			}
			return v, true
		}
	}
	return rules.Judge(j.ownOutcome(), j.now)
}

// stoppedByHook reports whether a hook of the repository kept git from pushing. It may have printed anything; git adds
// no more than that it did not push.
func (j *judgement) stoppedByHook() bool {
	if !strings.Contains(j.words, "error: failed to push some refs") {
		return false
	}
	return !slices.ContainsFunc([]string{"fatal: ", "remote: ", "RPC failed;", "send-pack: ", "rejected]"}, func(sign string) bool {
		return strings.Contains(j.words, sign)
	})
}

// byLastResort judges by the plain signals in gh's words. Those of a command that runs git, or writes more than gh's own
// words to stderr, hold what others have printed; and if every request was answered well, it was none of them that failed.
func (j *judgement) byLastResort() (verdict.Verdict, bool) {
	if j.line.traits&untraced != 0 || slices.Contains(runGit, j.line.command) || j.trace != nil && j.trace.total > 0 && j.failedRequest() == nil {
		return verdict.Verdict{}, false
	}
	return verdict.LastResort(j.ownOutcome(), j.now)
}

// runGit are the commands that run git, which runs hooks.
var runGit = []string{"pr create", "pr checkout", "pr close", "pr merge", "issue develop", "repo clone", "repo create", "repo fork", "repo sync", "gist clone", "release create"}

// titlePattern matches the title of a pull request or an issue in gh's words: "#12 (its title) was already merged".
var titlePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(#\d+) \(.*\)( (?:is|was|has|can|cannot|can't|could|does|will)\b)`)
})

// wordsWithoutTitles are gh's words without the titles of pull requests and issues.
func (j *judgement) wordsWithoutTitles() string {
	return titlePattern().ReplaceAllString(strings.ReplaceAll(j.words, "\r\n", "\n"), "$1$2")
}

// ownOutcome is the outcome with nothing but gh's own words in it: what GitHub sent is on stdout.
func (j *judgement) ownOutcome() verdict.Outcome {
	return verdict.Outcome{ExitCode: j.ExitCode, Stderr: verdict.ExcerptOf(j.wordsWithoutTitles())}
}

// answerFromWords is the answer that gh's words tell of.
func (j *judgement) answerFromWords() (a answer, ok bool) {
	words := j.wordsWithoutTitles()
	for _, frame := range frames() {
		m := frame.FindAllStringSubmatchIndex(words, -1)
		if m == nil {
			continue
		}
		at := m[len(m)-1] // it belongs to the failure that ended it
		last := make([]string, len(at)/2)
		for i := range last {
			if at[2*i] >= 0 {
				last[i] = words[at[2*i]:at[2*i+1]]
			}
		}
		for i, name := range frame.SubexpNames() {
			switch name {
			case "status":
				a.status, _ = strconv.Atoi(last[i])
			case "message":
				a.message = last[i]
			case "quoted":
				if body, err := strconv.Unquote(last[i]); err == nil {
					a.readBody([]byte(body), false)
				}
				a.message = cmp.Or(a.message, last[i])
			case "graphql":
				a.message, a.errors = last[i], true
			}
		}
		if details := words[at[1]:]; a.status == 422 { // on the lines after it
			a.message += details[:min(len(details), 1000)]
		}
		if a.status >= 400 && !j.Stdout.Truncated() { // `gh api` prints the details
			printed := answer{status: a.status}
			printed.readBody(withoutHeaders(j.Stdout).Head, false)
			if details, ok := strings.CutPrefix(printed.message, a.message); ok {
				a.message += details
			}
		}
		if a.errors && !j.Stdout.Truncated() { // `gh api graphql` prints the types
			var printed answer
			printed.readBody(withoutHeaders(j.Stdout).Head, true)
			a.types = printed.types
		}
		if a.status > 0 && a.status < 300 {
			return answer{}, false
		}
		return a, true
	}
	return a, false
}
