package gh

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// judged is the verdict on words of gh with exit code 1.
func judged(stderr string) verdict.Verdict {
	return New(nil, nil, "").Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(stderr)}, noon)
}

// Every rule speaks on what gh really says, and no rule before it does.
func TestRules(t *testing.T) {
	samples := map[string][]string{
		"panic": {"panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:"},
		"usage": {
			"unknown flag: --nope\n\nUsage:  gh issue list [flags]\n\nFlags:\n  HTTP 429 in the help",
			"unknown shorthand flag: 'z' in -z\n", "unknown command \"isue\" for \"gh\"\n\nDid you mean this?\n\tissue\n",
			"accepts 1 arg(s), received 0", "flag needs an argument: --title", `required flag(s) "x" not set`, `invalid argument "x" for "-L, --limit" flag: strconv.ParseInt`,
			`Unknown JSON field: "nope"`,
		},
		"usage-shown": {"the `--paginate` option is not supported for non-GET requests\n\nUsage:  gh api <endpoint> [flags]"},
		"certificate": {`Get "https://api.github.com/user": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		"dns": {
			"error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com",
			`Post "https://api.github.com/graphql": dial tcp: lookup api.github.com on 127.0.0.53:53: server misbehaving`,
			"fatal: unable to access 'https://github.com/o/r.git/': Could not resolve host: github.com",
		},
		"refused": {`Get "http://api.github.localhost/user": dial tcp 127.0.0.2:80: connect: connection refused`, `Post "https://api.github.com/graphql": proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout`},
		"dial":    {`Get "http://api.github.localhost/user": dial tcp 127.0.0.5:80: i/o timeout`, `Get "https://api.github.com/": dial tcp 1.2.3.4:443: connect: network is unreachable`, "connect: no route to host"},
		"reset":   {`Post "http://api.github.localhost/graphql": read tcp 127.0.0.1:51784->127.0.0.1:80: read: connection reset by peer`, `write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe`},
		"cut": {
			`Post "http://api.github.localhost/graphql": EOF`, "unexpected EOF",
			`Get "http://api.github.localhost/user": net/http: HTTP/1.x transport connection broken: unexpected EOF`,
			`Post "https://api.github.com/graphql": http2: server sent GOAWAY and closed the connection`, `stream error: stream ID 3; INTERNAL_ERROR; received from peer`,
			`Post "https://api.github.com/graphql": http: server closed idle connection`,
		},
		"timed-out":      {`Get "https://api.github.com/": net/http: TLS handshake timeout`, `Post "https://x/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`, `read tcp 1.2.3.4:1->5.6.7.8:443: i/o timeout`},
		"git-network":    {"fatal: the remote end hung up unexpectedly", "error: RPC failed; curl 56 GnuTLS recv error", "ssh: connect to host github.com port 22: Operation not permitted"},
		"no-json":        {"unexpected end of JSON input", "invalid character '<' looking for beginning of value", "json: cannot unmarshal array into Go value"},
		"login":          {"To get started with GitHub CLI, please run:  gh auth login", "You are not logged into any GitHub hosts. To log in, run: x"},
		"workflow-token": {"gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable. Example:\n  env:\n    GH_TOKEN: ${{ github.token }}"},
		"token":          {"github.com\n  X Failed to log in to github.com using token (GH_TOKEN)\n  - The token in GH_TOKEN is invalid.", "error: your authentication token is missing required scopes [read:project]"},
		"git-auth":       {"remote: Invalid username or token.\nfatal: Authentication failed for 'https://github.com/o/r.git/'", "git@github.com: Permission denied (publickey)."},
		"not-found":      {"no pull requests found for branch \"x\"", "release not found", "could not find any workflows named nope", "failed to run git: remote: Repository not found.", "no checks reported on the 'x' branch"},
		"prompt":         {"must provide `--title` and `--body` when not running interactively", "specify only one of `--body`, `--body-file`, `--editor`, or `--web`"},
		"no-repository":  {"failed to run git: fatal: not a git repository (or any of the parent directories): .git", `expected the "[HOST/]OWNER/REPO" format, got "x"`, "none of the git remotes configured for this repository point to a known GitHub host."},
		"pull-request":   {"a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://github.com/o/r/pull/1", "the 'o/r' repository has disabled issues"},
		"file":           {"open nope.json: no such file or directory", "open /etc/x: permission denied"},
	}
	for _, r := range append(usageTable, ruleTable...) {
		t.Run(r.Name, func(t *testing.T) {
			if len(samples[r.Name]) == 0 {
				t.Fatal("no sample")
			}
			for _, s := range samples[r.Name] {
				if v := judged(s); v.Rule != r.Name || v.Class != r.Class || v.Retryable != r.Class.Retryable() {
					t.Errorf("%q: %s by %s", s, v.Class, v.Rule)
				}
			}
		})
	}
}

// GitHub's answers are told apart in every frame that gh puts around them.
func TestFrames(t *testing.T) {
	for words, want := range map[string]verdict.Class{
		"gh: API rate limit exceeded for installation ID 7. (HTTP 403)":                                                   verdict.RateLimit,
		"gh: You have triggered an abuse detection mechanism. Please wait a few minutes before you try again. (HTTP 403)": verdict.RateLimit,
		"gh: HTTP 429": verdict.RateLimit,
		"HTTP 429: 429 Too Many Requests (https://api.github.com/graphql)":                                                                 verdict.RateLimit,
		"failed to get runs: HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/repos/o/r/actions/runs?per_page=20)": verdict.RateLimit,
		`non-200 OK status code: 403 Forbidden body: "{\"message\": \"You have exceeded a secondary rate limit.\"}"`:                       verdict.RateLimit,
		`non-200 OK status code: 502 Bad Gateway body: "<html>"`:                                                                           verdict.ServerError,
		"pull request create failed: GraphQL: was submitted too quickly (createPullRequest)":                                               verdict.RateLimit,
		"GraphQL: You have exceeded a secondary rate limit. Please wait a few minutes before you try again. (createIssue)":                 verdict.RateLimit,
		"HTTP 422: Validation Failed (https://api.github.com/repos/o/r/issues)\nwas submitted too quickly":                                 verdict.RateLimit,
		"gh: Validation Failed (HTTP 422)": verdict.InvalidRequest,
		"gh: HTTP 500":                     verdict.ServerError,
		"HTTP 502: 502 Bad Gateway (https://api.github.com/graphql)":                                                                         verdict.ServerError,
		"HTTP 504: We couldn't respond to your request in time. Sorry about that. (https://api.github.com/graphql)":                          verdict.ServerError,
		"HTTP 503: The service is overloaded (https://api.github.com/user)":                                                                  verdict.Overloaded,
		"HTTP 408: Request Timeout (https://api.github.com/user)":                                                                            verdict.ServerError,
		"HTTP 500 (https://api.github.com/graphql)":                                                                                          verdict.ServerError,
		"gh: Something went wrong while executing your query. Please include `X` when reporting this issue.":                                 verdict.ServerError,
		"GraphQL: Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug.":        verdict.ServerError,
		"HTTP 401: Bad credentials (https://api.github.com/graphql)\nTry authenticating with:  gh auth login -h github.com":                  verdict.Auth,
		"HTTP 403: Must have admin rights to Repository. (https://api.github.com/repos/o/r/x)":                                               verdict.Auth,
		"HTTP 403: Resource protected by organization SAML enforcement. (https://api.github.com/graphql)\nAuthorize in your web browser:  x": verdict.Auth,
		"GraphQL: Resource not accessible by personal access token (createIssue)":                                                            verdict.Auth,
		"GraphQL: octo does not have the correct permissions to execute `CreateIssue` (createIssue)":                                         verdict.Auth,
		"GraphQL: Your token has not been granted the required scopes to execute this query.":                                                verdict.Auth,
		"GraphQL: Could not resolve to an Issue with the number of 99. (repository.issue)":                                                   verdict.NotFound,
		"HTTP 410: Issues are disabled for this repo (https://api.github.com/repos/o/r/issues)":                                              verdict.NotFound,
		"HTTP 404: Not Found (https://api.github.com/repos/o/r)\nThis API operation needs the \"repo\" scope.":                               verdict.NotFound,
		"HTTP 451: Repository access blocked (https://api.github.com/repos/o/r)":                                                             verdict.Refused,
		"HTTP 413: Payload Too Large (https://api.github.com/x)":                                                                             verdict.TooLarge,
		"GraphQL: Body is too long (maximum is 65536 characters) (createIssue)":                                                              verdict.TooLarge,
		"GraphQL: Variable $x of type Int was provided invalid value":                                                                        verdict.InvalidRequest,
		"GraphQL: No commits between main and x (createPullRequest)":                                                                         verdict.InvalidRequest,
		"GraphQL: a thing that nobody has heard of (x)":                                                                                      verdict.InvalidRequest,
		"could not create label: HTTP 409: Conflict (https://api.github.com/x)":                                                              verdict.InvalidRequest,
		"unknown owner type": verdict.Unknown,
		"gh: HTTP 304":       verdict.Unknown,
		"":                   verdict.Unknown,
	} {
		if v := judged(words + "\n"); v.Class != want || v.Retryable != want.Retryable() || v.Evidence == "" {
			t.Errorf("%q: %s by %s, evidence %q; want %s", words, v.Class, v.Rule, v.Evidence, want)
		}
	}
}

// Every type of GraphQL error has its class, and of several the one that says most counts.
func TestTypes(t *testing.T) {
	for name, class := range byType() {
		body := `{"data":null,"errors":[{"type":"` + name + `","message":"x"}]}`
		v := New(nil, nil, "").Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(body), Stderr: verdict.ExcerptOf("gh: x\n")}, noon)
		if v.Class != class {
			t.Errorf("%s: %s by %s", name, v.Class, v.Rule)
		}
		v = New(nil, nil, "").Judge(verdict.Outcome{Stdout: verdict.ExcerptOf(body)}, noon)
		if v.Class != class {
			t.Errorf("%s with exit 0: %s by %s", name, v.Class, v.Rule)
		}
	}
	several := answer{status: 200, errors: true, types: []string{"NOT_FOUND", "RATE_LIMITED", "FORBIDDEN"}}
	if class, _ := several.class(); class != verdict.RateLimit {
		t.Errorf("of several: %s", class)
	}
}

// Exit 0 is no success where gh api has printed something that is no answer; and a good answer may hold any words.
func TestOutput(t *testing.T) {
	const lie = `[{"title":"gh: API rate limit exceeded (HTTP 403)","errors":[{"type":"RATE_LIMITED"}]}]`
	for _, c := range []struct {
		line, stdout string
		want         verdict.Class
	}{
		{"", "", verdict.OK},
		{"api user", "", verdict.OK},
		{"api x", lie, verdict.OK},
		{"", lie, verdict.OK},
		{"api user", `{"login": "octo", "id": `, verdict.BadOutput},
		{"api user -i", "HTTP/1.1 200 OK\nContent-Type: application/json\r\n\r\n{\"login\": \"oct", verdict.BadOutput},
		{"api user -i", "HTTP/1.1 200 OK\nContent-Type: application/json\r\n\r\n{\"login\": \"octo\"}", verdict.OK},
		{"api user --jq .x", `{"a`, verdict.OK},
		{"api user -t x", `{"a`, verdict.OK},
		{"api user", "<!DOCTYPE html><title>x", verdict.BadOutput},
		{"api markdown -f text=x", "<p>x</p>", verdict.OK},
		{"api repos/o/r/contents/index.html -H Accept:application/vnd.github.raw", "<html>", verdict.OK},
		{"repo read-file index.html", "<html>", verdict.OK},
		{"gist view x", `{"a`, verdict.OK},
		{"", "[link](https://x) and more", verdict.OK},
		{"api x --paginate", `[1,2][3]`, verdict.OK},
		{"api x", strings.Repeat("x", 300<<10), verdict.OK},
		{"api x", `["` + strings.Repeat("x", 300<<10), verdict.BadOutput},
		{"api x", `["` + strings.Repeat("x", 300<<10) + `"]`, verdict.OK},
		{"api graphql -f query={a}", `{"data":{"a":null},"errors":[{"type":"NOT_FOUND","message":"x"}]}`, verdict.NotFound},
		{"api graphql -f query={a}", `{"data":{"a":1},"errors":[]}`, verdict.OK},
		{"api repos/o/r/codeowners/errors", `{"errors":[{"message":"Invalid pattern","type":"RATE_LIMITED"}]}`, verdict.OK},
	} {
		args := append([]string{"gh"}, strings.Fields(c.line)...)
		if c.line == "" {
			args = nil
		}
		v := New(args, nil, "").Judge(verdict.Outcome{Stdout: verdict.ExcerptOf(c.stdout)}, noon)
		if v.Class != c.want {
			t.Errorf("%s: %.60q: %s by %s", c.line, c.stdout, v.Class, v.Rule)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		line string
		o    verdict.Outcome
		want verdict.Class
		sent verdict.Sent
	}{
		{"gh pr checks 1", verdict.Outcome{ExitCode: 8}, verdict.OK, verdict.SentNo},
		{"gh issue list", verdict.Outcome{ExitCode: 8}, verdict.Unknown, verdict.SentNo},
		{"gh pr checks 1", verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf("build\tfail\t0\thttps://x\n")}, verdict.Unknown, verdict.SentNo},
		{"gh issue create", verdict.Outcome{ExitCode: 4}, verdict.Auth, verdict.SentNo},
		{"gh issue create", verdict.Outcome{ExitCode: 2}, verdict.Interrupted, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{ExitCode: 2, Stderr: verdict.ExcerptOf("panic: x")}, verdict.Crash, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{ExitCode: -1, Signal: "SIGTERM"}, verdict.Interrupted, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{ExitCode: -1, Signal: "SIGKILL"}, verdict.Crash, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{ExitCode: 130}, verdict.Interrupted, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{}, verdict.OK, verdict.SentYes},
		{"gh issue create", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(`Post "x": dial tcp 1.2.3.4:443: connect: connection refused`)}, verdict.Network, verdict.SentNo},
		{"gh issue create", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(`Post "x": EOF`)}, verdict.Network, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP 502: x (https://x)")}, verdict.ServerError, verdict.SentMaybe},
		{"gh issue create", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP 403: API rate limit exceeded (https://x)")}, verdict.RateLimit, verdict.SentNo},
		{"gh release create v1 -n x", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP 403: API rate limit exceeded (https://x)")}, verdict.RateLimit, verdict.SentMaybe},
		{"gh release create v1 --nope", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("unknown flag: --nope")}, verdict.InvalidRequest, verdict.SentNo},
	} {
		if v := New(strings.Fields(c.line), nil, "").Judge(c.o, noon); v.Class != c.want || v.Sent != c.sent || v.Retryable != c.want.Retryable() {
			t.Errorf("%s, %+v: %s by %s, sent %s", c.line, c.o, v.Class, v.Rule, v.Sent)
		}
	}
}
