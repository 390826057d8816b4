package rehearse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
)

// gh runs commands of the real gh, one a line, against one stand-in, and returns what each has printed.
func gh(t *testing.T, script string, lines ...string) (outcomes []*ran) {
	t.Helper()
	t.Parallel()
	api := start(t, script)
	for _, line := range lines {
		outcomes = append(outcomes, runWith(t, api, clitest.GH(t), strings.Fields(line)...))
	}
	return outcomes
}

// The little GitHub does what the real gh asks of it.
func TestGitHub_Commands(t *testing.T) {
	type step struct{ line, prints string } // beginning with … if not every version of gh prints only this
	steps := []step{
		{"issue create -R o/r -t one -b body -l bug", "http://github.localhost/o/r/issues/1\n"},
		{"issue create -R o/r -t two -b body", "http://github.localhost/o/r/issues/2\n"},
		{"issue list -R o/r --json number,title --jq .[].title", "two\none\n"},
		{"issue view 1 -R o/r --json title,body,labels --jq .labels[0].name", "bug\n"},
		{"issue comment 1 -R o/r -b hello", "http://github.localhost/o/r/issues/1#issuecomment-1\n"},
		{"issue view 1 -R o/r --json comments --jq .comments[0].body", "hello\n"},
		{"pr create -R o/r -t three -b b --head feature --base main -l epic -l task", "http://github.localhost/o/r/pull/3\n"},
		{"pr list -R o/r --json number --jq .[].number", "3\n"},
		{"pr view 3 -R o/r --json title --jq .title", "three\n"},
		{"pr checks 3 -R o/r", "…build\tpass\t0\thttp://github.localhost/ci"},
		{"pr comment 3 -R o/r -b hi", "http://github.localhost/o/r/pull/3#issuecomment-2\n"},
		{"repo view o/r --json name --jq .name", "r\n"},
		{"api user --jq .login", "octo\n"},
		{"api rate_limit --jq .rate.limit", "5000\n"},
		{"api repos/o/r/issues?per_page=1 --paginate --jq .[].number", "3\n2\n1\n"},
		{"api repos/o/r/labels?per_page=3 --paginate --jq .[].name", "bug\nepic\nstory\ntask\n"},
		{"api repos/o/r/issues -f title=four --jq .number", "4\n"},
		{"api repos/o/r/issues/4/comments -f body=x --jq .body", "x\n"},
		{"api graphql -f query=query{viewer{login}} --jq .data.viewer.login", "octo\n"},
		{"api graphql -f query=mutation($i:CreateIssueInput!){createIssue(input:$i){issue{number}}} -F i[repositoryId]=R_o/r -F i[title]=five --jq .data.createIssue.issue.number", "5\n"},
		{"issue close 1 -R o/r", ""},
		{"run watch 1 -R o/r --interval 1", "…✓ main ci · 1\nTriggered via push less than a minute ago\n\nJOBS\n✓ build (ID 1)\n  ✓ make\n"},
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.line)
	}
	outcomes := gh(t, "200", lines...)
	for i, s := range steps {
		part, isPart := strings.CutPrefix(s.prints, "…")
		if r := outcomes[i]; r.code != 0 || r.stdout != s.prints && !(isPart && strings.Contains(r.stdout, part)) {
			t.Errorf("gh %s: exit %d, %q, %q", s.line, r.code, r.stdout, r.stderr)
		}
	}
	issues := outcomes[0].api.GitHub().Issues()
	if len(issues) != 5 || issues[0].State != "CLOSED" || !issues[2].PullRequest || issues[3].Comments[0].Body != "x" || !slices.Equal(issues[0].Labels, []string{"bug"}) || !slices.Equal(issues[2].Labels, []string{"epic", "task"}) {
		t.Errorf("%+v", issues)
	}
}

// The pages of a list become one: gh joins them by their last byte, as versions before 2.48 do not.
func TestGitHub_Pages(t *testing.T) {
	t.Parallel()
	r := runWith(t, start(t, "200"), clitest.PinnedGH(t), strings.Fields("api repos/o/r/labels?per_page=3 --paginate")...)
	if want := `[{"color":"ededed","name":"bug"},{"color":"ededed","name":"epic"},{"color":"ededed","name":"story"},{"color":"ededed","name":"task"}]`; r.stdout != want {
		t.Errorf("%s", r.stdout)
	}
}

// Versions of gh ask in different ways, and users of gh api in theirs.
func TestGitHub_Queries(t *testing.T) {
	for name, tt := range map[string]struct{ query, answer string }{
		"a label":          {`{ repository(owner: "o", name: "r") { l000: label(name: "BUG") { id, name } l001: label(name: "none") { id } } }`, `{"repository":{"l000":{"id":"L_o/r#bug","name":"bug"},"l001":null}}`},
		"a close fragment": {`{ viewer { __typename...on Bot { id }...on User { login } } }`, `{"viewer":{"__typename":"User","id":"U_octo","login":"octo"}}`},
		"a close spread":   {`{ viewer { name...F } } fragment F on User { login }`, `{"viewer":{"login":"octo","name":"octo"}}`},
		"numbers":          {`{ a: rateLimit { limit } viewer { projectsV2(first: 1.5, last: -2) { totalCount } } }`, `{"a":{"limit":5000},"viewer":{"projectsV2":{"totalCount":0}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(rehearse.AnswerGraphQL(tt.query)); got != `{"data":`+tt.answer+"}" {
				t.Errorf("%s, want %s", got, tt.answer)
			}
		})
	}
}

// What went wrong is seen by gh, and whether there was an effect is known to the stand-in.
func TestGitHub_Faults(t *testing.T) {
	for script, want := range map[string]struct {
		made int
		says string
	}{
		"200":                     {1, ""},
		"200, lost":               {1, `Post "http://api.github.localhost/graphql": `},
		"200, lost(502)":          {1, "HTTP 502: Server Error (http://api.github.localhost/graphql)\n"},
		"200, drop-mid":           {1, "read tcp "},
		"200, reset":              {0, `Post "http://api.github.localhost/graphql": `},
		"200, 502":                {0, "HTTP 502: Server Error (http://api.github.localhost/graphql)\n"},
		"200, primary(resets=9s)": {0, "HTTP 403: API rate limit exceeded for user ID 1."},
		"200, secondary":          {0, "HTTP 403: You have exceeded a secondary rate limit."},
		"200(type=RATE_LIMITED)":  {0, "GraphQL: API rate limit already exceeded for user ID 1.\n"},
		"200, 200(type=UNPROCESSABLE, message=was submitted too quickly)": {0, "GraphQL: was submitted too quickly\n"},
		"200, end-mid": {1, "unexpected end of JSON input\n"},
		"200(content-type=text/html, body=<html></html>)": {0, "invalid character '<' looking for beginning of value\n"},
		"401": {0, "HTTP 401: Bad credentials (http://api.github.localhost/graphql)\nTry authenticating with:  gh auth login"},
	} {
		t.Run(script, func(t *testing.T) {
			r := gh(t, script, "issue create -R o/r -t one -b body")[0]
			if made := len(r.api.GitHub().Issues()); made != want.made || !strings.HasPrefix(r.stderr, want.says) || (r.code == 0) != (want.says == "") {
				t.Errorf("%d issues, exit %d, %q", made, r.code, r.stderr)
			}
		})
	}
}

// The headers of a limit are those that GitHub sends.
func TestGitHub_Limits(t *testing.T) {
	r := gh(t, "primary(resets=9s), secondary(retry-after=3), 429", "api -i user", "api -i user", "api -i user")
	for i, want := range []string{"X-Ratelimit-Remaining: 0\r\n", "Retry-After: 3\r\n", "HTTP/1.1 429 Too Many Requests\n"} {
		if !strings.Contains(r[i].stdout, want) {
			t.Errorf("%q is not in %q", want, r[i].stdout)
		}
	}
}

func FuzzGitHub_Query(f *testing.F) {
	f.Add(`query Q($n: [Int!]! = 1) @a(b: 1) { a: viewer(x: "y", z: {k: [$n, null, true]}) { ...F login ... on User { id } } } fragment F on User { name }`)
	f.Add(`mutation { createIssue(input: {repositoryId: "R_o/r", title: """x"""}) { issue { number comments(last: 1) { nodes { id } } } } }`)
	f.Add(`{ node(id: "I_o/r#1") { ... { id } } search(query: "x", after: "cursor9", first: -1) { issueCount } }`)
	f.Add(`{ viewer { ...A } } fragment A on User { ...A login }`)
	f.Fuzz(func(t *testing.T, text string) { rehearse.AnswerGraphQL(text) })
}
