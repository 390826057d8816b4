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

// Every rule matches what gh really says, and no rule before it does.
func TestRules(t *testing.T) {
	samples := map[string][]string{
		"state": {
			"fatal: destination path 'r' already exists and is not an empty directory.\nfailed to run git: exit status 128",
			"a release with the same tag name already exists: v1",
			"remote: error: GH013: Repository rule violations found for refs/heads/main.\n ! [remote rejected] main -> main (push declined due to repository rule violations)\nerror: failed to push some refs to 'https://github.com/o/r.git'",
			"! [rejected]        x -> x (non-fast-forward)\nerror: failed to push some refs to 'https://github.com/o/r.git'",
			"job 5 is still in progress; logs will be available when it is complete",
			"run 5 cannot be rerun; its workflow file may be broken",
		},
		"no-such": {
			"fatal: Remote branch nope not found in upstream origin",
			"no assets match the file pattern",
			`template "x" not found`,
			"could not add label: 'nope' not found",
		},
		"file-size": {
			"remote: error: File big.bin is 123.00 MB; this exceeds GitHub's file size limit of 100.00 MB\nremote: error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.\nTo https://github.com/o/r.git\n ! [remote rejected] main -> main (pre-receive hook declined)\nerror: failed to push some refs to 'https://github.com/o/r.git'",
		},
		"proxy-refused": {
			`Get "https://api.github.com/user": Proxy Authentication Required`,
		},
		"git-remote": {
			"kex_exchange_identification: Connection closed by remote host\nConnection closed by 140.82.121.4 port 22\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
			"fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
		},
		"proxy-failed": {
			`Get "https://api.github.com/user": Bad Gateway`,
			`Post "https://api.github.com/graphql": Service Unavailable`,
		},
		"panic": {
			"panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:",
			"panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x0]\n\ngoroutine 1 [running]:",
		},
		"usage": {
			"unknown command \"isue\" for \"gh\"\n\nDid you mean this?\n\tissue\n\nUsage:  gh <command> <subcommand> [flags]",
			"Unknown JSON field: \"foo\"\nAvailable fields:\n  additions\n  assignees",
			"Specify one or more comma-separated fields for `--json`:\n  additions\n  assignees",
			"failed to parse jq expression (line 1, column 4)\n    .[}\n       ^  unexpected token \"}\"",
			"unknown flag: --nope\n\nUsage:  gh issue list [flags]\n\nFlags:\n  HTTP 429 in the help",
			"unknown shorthand flag: 'z' in -z\n", "unknown command \"isue\" for \"gh\"\n\nDid you mean this?\n\tissue\n",
			"accepts 1 arg(s), received 0", "flag needs an argument: --title", `required flag(s) "x" not set`, `invalid argument "x" for "-L, --limit" flag: strconv.ParseInt`,
			`Unknown JSON field: "nope"`,
		},
		"usage-shown": {
			"the `--paginate` option is not supported for non-GET requests\n\nUsage:  gh api <endpoint> [flags]",
			"invalid limit: 0\n\nUsage:  gh run list [flags]\n\nFlags:\n  -L, --limit int   rate limit exceeded",
		},
		"certificate": {
			`Get "https://api.github.com/user": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
			`Get "https://ghe.example/api/v3/user": x509: certificate has expired or is not yet valid: current time 2026-11-15T08:00:00Z is after 2026-11-01T00:00:00Z`,
			"fatal: unable to access 'https://github.com/o/r.git/': SSL certificate problem: unable to get local issuer certificate",
		},
		"dns": {
			"error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com",
			`Post "https://api.github.com/graphql": dial tcp: lookup api.github.com on 127.0.0.53:53: server misbehaving`,
			"fatal: unable to access 'https://github.com/o/r.git/': Could not resolve host: github.com",
		},
		"refused": {
			`Get "http://api.github.localhost/user": dial tcp 127.0.0.2:80: connect: connection refused`, `Post "https://api.github.com/graphql": proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout`,
			`Get "https://api.github.com/user": proxyconnect tcp: dial tcp 127.0.0.1:3128: connect: connection refused`,
			"fatal: unable to access 'https://github.com/o/r.git/': Failed to connect to github.com port 443 after 130 ms: Connection refused",
		},
		"dial": {
			`Get "http://api.github.localhost/user": dial tcp 127.0.0.5:80: i/o timeout`, `Get "https://api.github.com/": dial tcp 1.2.3.4:443: connect: network is unreachable`, "connect: no route to host",
			`Post "https://api.github.com/graphql": dial tcp: lookup api.github.com on 127.0.0.53:53: read udp 127.0.0.1:41230->127.0.0.53:53: i/o timeout`,
			`Get "https://api.github.com/user": dial tcp 140.82.112.6:443: connect: network is unreachable`,
			`Get "https://api.github.com/user": dial tcp 140.82.112.6:443: connect: no route to host`,
		},
		"reset": {
			`Post "http://api.github.localhost/graphql": read tcp 127.0.0.1:51784->127.0.0.1:80: read: connection reset by peer`, `write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe`,
			`Post "https://uploads.github.com/repos/o/r/releases/1/assets": write tcp 10.0.0.1:5->140.82.112.6:443: write: broken pipe`,
			`Get "https://api.github.com/user": read tcp 10.0.0.1:5->140.82.112.6:443: read: connection timed out`,
			"ssh: connect to host github.com port 22: Connection timed out\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
		},
		"cut": {
			`Post "https://api.github.com/graphql": http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=""`,
			`Post "https://api.github.com/graphql": stream error: stream ID 1; INTERNAL_ERROR; received from peer`,
			`Get "https://api.github.com/repos/o/r/actions/runs/1/logs": http2: client connection lost`,
			`Post "https://api.github.com/graphql": unexpected EOF`,
			"http: unexpected EOF reading trailer",
			"Cloning into 'r'...\nerror: RPC failed; curl 56 GnuTLS recv error (-54): Error in the pull function.\nerror: 1234 bytes of body are still expected\nfetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output\nfailed to run git: exit status 128",
			`Post "http://api.github.localhost/graphql": EOF`, "unexpected EOF",
			`Get "http://api.github.localhost/user": net/http: HTTP/1.x transport connection broken: unexpected EOF`,
			`Post "https://api.github.com/graphql": http2: server sent GOAWAY and closed the connection`, `stream error: stream ID 3; INTERNAL_ERROR; received from peer`,
			`Post "https://api.github.com/graphql": http: server closed idle connection`,
		},
		"timed-out": {
			`Get "https://api.github.com/": net/http: TLS handshake timeout`, `Post "https://x/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`, `read tcp 1.2.3.4:1->5.6.7.8:443: i/o timeout`,
			`Get "https://api.github.com/user": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
			`Get "https://api.github.com/user": net/http: TLS handshake timeout`,
		},
		"git-network": {
			"fatal: the remote end hung up unexpectedly", "error: RPC failed; curl 56 GnuTLS recv error", "ssh: connect to host github.com port 22: Operation not permitted",
			"fatal: unable to access 'https://github.com/o/r.git/': gnutls_handshake() failed: The TLS connection was non-properly terminated.",
		},
		"no-json": {
			"unexpected end of JSON input", "invalid character '<' looking for beginning of value", "json: cannot unmarshal array into Go value",
			"json: cannot unmarshal string into Go struct field .data of type x",
		},
		"login": {
			"To get started with GitHub CLI, please run:  gh auth login", "You are not logged into any GitHub hosts. To log in, run: x",
			"error: your authentication token is missing required scopes [read:project]\nTo request it, run:  gh auth refresh -s read:project",
			"You are not logged into any GitHub hosts. To log in, run: gh auth login",
		},
		"timeout":        {"gh: timeout", "gh: timed out", "gh: request timed out.", "gh: Connection timeout"},
		"workflow-token": {"gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable. Example:\n  env:\n    GH_TOKEN: ${{ github.token }}"},
		"token": {
			"github.com\n  X Failed to log in to github.com using token (GH_TOKEN)\n  - The token in GH_TOKEN is invalid.", "error: your authentication token is missing required scopes [read:project]",
			"github.com\n  X Failed to log in to github.com using token (GH_TOKEN)\n  - Active account: true\n  - The token in GH_TOKEN is invalid.",
		},
		"git-auth": {
			"remote: Invalid username or token.\nfatal: Authentication failed for 'https://github.com/o/r.git/'", "git@github.com: Permission denied (publickey).",
			"fatal: could not read Username for 'https://github.com': terminal prompts disabled",
			"remote: Invalid username or token. Password authentication is not supported for Git operations.\nfatal: Authentication failed for 'https://github.com/o/r.git/'\nfailed to run git: exit status 128",
			"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\nfailed to run git: exit status 128",
			"Host key verification failed.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
		},
		"not-found": {
			"no pull requests found for branch \"x\"", "release not found", "could not find any workflows named nope", "failed to run git: remote: Repository not found.", "no checks reported on the 'x' branch",
			`no pull requests found for branch "x"`,
			"could not find any workflows named CI",
			"remote: Repository not found.\nfatal: repository 'https://github.com/o/nope.git/' not found\nfailed to run git: exit status 128",
			"ERROR: Repository not found.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
			"no artifact matches any of the names or patterns provided",
		},
		"prompt": {"must provide `--title` and `--body` when not running interactively", "specify only one of `--body`, `--body-file`, `--editor`, or `--web`"},
		"no-repository": {
			"failed to run git: fatal: not a git repository (or any of the parent directories): .git", `expected the "[HOST/]OWNER/REPO" format, got "x"`, "none of the git remotes configured for this repository point to a known GitHub host.",
			"none of the git remotes configured for this repository point to a known GitHub host. To tell gh about a new GitHub host, please use `gh auth login`",
			"failed to determine base repo: failed to run git: fatal: not a git repository (or any of the parent directories): .git",
			"failed to run git: fatal: detected dubious ownership in repository at '/work'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /work",
			"could not determine the current branch: git: not on any branch",
			"No default remote repository has been set. To learn more about the default repository, run: gh repo set-default --help\n\nplease run `gh repo set-default` to select a default remote repository.",
			"unable to expand placeholder in path: failed to run git: fatal: not a git repository (or any of the parent directories): .git",
		},
		"pull-request": {
			"a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://github.com/o/r/pull/1", "the 'o/r' repository has disabled issues",
			"X Pull request o/r#1 is not mergeable: the base branch policy prohibits the merge.\nTo have the pull request merged after all the requirements have been met, add the `--auto` flag.\nTo use administrator privileges to immediately merge the pull request, add the `--admin` flag.",
		},
		"file": {"open nope.json: no such file or directory", "open /etc/x: permission denied"},
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

// What no rule of gh matches, the plain signals may.
func TestLastResort(t *testing.T) {
	api := []string{"gh", "api", "user"}
	for _, c := range []struct {
		args   []string
		stderr string
		class  verdict.Class
		sent   verdict.Sent
	}{
		{api, "rate limited", verdict.RateLimit, verdict.SentNo},
		{api, "ECONNRESET", verdict.Network, verdict.SentNo},
		{api, "auth failed", verdict.Auth, verdict.SentNo},
		{nil, "rate limited", verdict.RateLimit, verdict.SentMaybe},
		// It does not tell whether something was changed.
		{[]string{"gh", "issue", "create", "-t", "x", "-b", "y"}, "rate limited", verdict.RateLimit, verdict.SentMaybe},
		{[]string{"gh", "api", "-X", "POST", "x"}, "ECONNRESET", verdict.Network, verdict.SentMaybe},
		// What GitHub itself says does.
		{[]string{"gh", "issue", "create", "-t", "x", "-b", "y"}, "You have exceeded a secondary rate limit", verdict.RateLimit, verdict.SentNo},
		// These words may be another's: git's, a hook's, an extension's.
		{[]string{"gh", "pr", "create", "-f"}, "rate limited", verdict.Unknown, verdict.SentMaybe},
		{[]string{"gh", "pr", "create", "-f"}, "npm test: Connection reset by peer\nerror: failed to push some refs to 'https://github.com/o/r.git'", verdict.InvalidRequest, verdict.SentMaybe},
		{[]string{"gh", "repo", "sync"}, "HTTP 429\nerror: failed to push some refs to 'git@github.com:o/r.git'", verdict.InvalidRequest, verdict.SentMaybe},
		{[]string{"gh", "extension", "install", "x"}, "rate limited", verdict.Unknown, verdict.SentNo},
		// And a title is not gh's own text.
		{[]string{"gh", "pr", "merge", "1"}, "X Pull request o/r#1 (Connection reset by peer) is not mergeable: the base branch policy prohibits the merge.", verdict.InvalidRequest, verdict.SentNo},
		{[]string{"gh", "pr", "close", "1"}, "X Pull request #1 (Retry on (HTTP 429)) can't be closed because it was already merged", verdict.Unknown, verdict.SentMaybe},
	} {
		v := New(c.args, []string{}, "").Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(c.stderr + "\n")}, noon)
		if v.Class != c.class || v.Sent != c.sent || v.Retryable != c.class.Retryable() {
			t.Errorf("%q, %q: %s by %s, sent %s", c.args, c.stderr, v.Class, v.Rule, v.Sent)
		}
	}
	// If the trace shows that GitHub has answered well, its words are about something else.
	const traced = "* Request at 2026-11-15 12:00:00.000000 +0000 UTC m=+0.1\n* Request to https://api.github.com/user\n> GET /user HTTP/1.1\n> Host: api.github.com\n\n< HTTP/1.1 200 OK\n< Content-Length: 2\n\n{}\n* Request took 10ms\n"
	v := New(api, []string{}, "").Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(traced + "rate limited\n")}, noon)
	if v.Class != verdict.Unknown {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
}

// The time to come back is read in words too, if no header has it.
func TestHint_InWords(t *testing.T) {
	for stderr, want := range map[string]time.Duration{
		"HTTP 429: Retry-After: 30":                                     30 * time.Second,
		"gh: try again in 30s (HTTP 429)":                               30 * time.Second,
		"try again in 30s (HTTP 429)":                                   30 * time.Second,
		"HTTP 429 (retry after 2 seconds)":                              2 * time.Second,
		"HTTP 403: rate limit exceeded, resets at 2026-11-15T13:00:00Z": time.Hour,
		"gh: You have exceeded a secondary rate limit. Please wait a few minutes before you try again. (HTTP 403)": 0,
		"gh: try again in 30s (HTTP 404)": 0,
	} {
		if v := judged(stderr + "\n"); v.Hint.Wait(noon) != want {
			t.Errorf("%q: %v by %s, want %v", stderr, v.Hint.Wait(noon), v.Rule, want)
		}
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
		"HTTP 403: API rate limit exceeded for 203.0.113.7. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.) (https://api.github.com/repos/o/r/issues)":                                           verdict.RateLimit,
		"gh: API rate limit exceeded for 203.0.113.7. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.) (HTTP 403)":                                                                                verdict.RateLimit,
		"HTTP 403: You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later. If you reach out to GitHub Support for help, please include the request ID X (https://api.github.com/graphql)": verdict.RateLimit,
		"GraphQL: You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later. (addComment)":                                                                                                   verdict.RateLimit,
		"gh: You have triggered an abuse detection mechanism and have been temporarily blocked from content creation. Please retry your request again later. (HTTP 403)":                                                                                                   verdict.RateLimit,
		"HTTP 429: too many requests (https://api.github.com/repos/o/r/issues)": verdict.RateLimit,
		"gh: This endpoint is temporarily being throttled. Please try again later. For more on scraping GitHub and how it may affect your rights, please review our Terms of Service (HTTP 429)": verdict.RateLimit,
		"GraphQL: API rate limit exceeded for installation ID 123456.":                                                                           verdict.RateLimit,
		"GraphQL: API rate limit exceeded for site ID installation.":                                                                             verdict.RateLimit,
		"failed to create issue: GraphQL: was submitted too quickly (createIssue)":                                                               verdict.RateLimit,
		"fatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 429":                                           verdict.RateLimit,
		"error fetching artifacts: HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/repos/o/r/actions/runs/1/artifacts)": verdict.RateLimit,
		"HTTP 504: 504 Gateway Timeout (https://api.github.com/graphql)":                                                                         verdict.ServerError,
		"HTTP 503: No server is currently available to service your request. Sorry about that. Please try resubmitting your request and contact us if the problem persists. (https://api.github.com/repos/o/r/issues)": verdict.ServerError,
		"gh: We couldn't respond to your request in time. Sorry about that. Please try resubmitting your request and contact us if the problem persists. (HTTP 504)":                                                   verdict.ServerError,
		"gh: Server Error: Sorry, this diff is taking too long to generate. (HTTP 500)":                                                                                                                                verdict.ServerError,
		"GraphQL: Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug. Please include `9F0A:3D5B` when reporting this issue. ()":                         verdict.ServerError,
		"gh: Something went wrong while executing your query on 2026-11-14T10:11:12Z. Please include `A1B2:C3D4` when reporting this issue.":                                                                           verdict.ServerError,
		"GraphQL: Timeout on validation of query": verdict.ServerError,
		"non-200 OK status code: 502 Bad Gateway body: \"<html>\\r\\n<head><title>502 Bad Gateway</title></head>\"":                                                                                                                           verdict.ServerError,
		"failed to get runs: HTTP 500: Server Error (https://api.github.com/repos/o/r/actions/runs)":                                                                                                                                          verdict.ServerError,
		"error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502\nfatal: expected flush after ref listing":                                                                                                                  verdict.ServerError,
		"fatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 503":                                                                                                                                        verdict.ServerError,
		"remote: Internal Server Error\nfatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 500":                                                                                                         verdict.ServerError,
		"HTTP 403: Resource not accessible by integration (https://api.github.com/repos/o/r/issues/1/comments)":                                                                                                                               verdict.Auth,
		"GraphQL: Resource not accessible by integration (addComment)":                                                                                                                                                                        verdict.Auth,
		"gh: Resource not accessible by personal access token (HTTP 403)":                                                                                                                                                                     verdict.Auth,
		"HTTP 401: Requires authentication (https://api.github.com/repos/o/r/issues)\nTry authenticating with:  gh auth login":                                                                                                                verdict.Auth,
		"HTTP 401: This token has expired (https://api.github.com/graphql)\nTry authenticating with:  gh auth login":                                                                                                                          verdict.Auth,
		"GraphQL: Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization. (repository)\nAuthorize in your web browser:  https://github.com/orgs/acme/sso?authorization_request=A":   verdict.Auth,
		"gh: Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization. (HTTP 403)\nAuthorize in your web browser: https://github.com/orgs/acme/sso?authorization_request=A": verdict.Auth,
		"could not check for binary extension: HTTP 403: Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization. (https://api.github.com/repos/github/gh-net/releases/latest)\nAuthorize in your web browser:  https://github.com/orgs/github/sso?authorization_request=R":                                                             verdict.Auth,
		"GraphQL: Although you appear to have the correct authorization credentials, the `acme` organization has enabled OAuth App access restrictions, meaning that data access to third-parties is limited. For more information on these restrictions, including how to enable this app, visit https://docs.github.com/articles/restricting-access-to-your-organization-s-data/ (repository)": verdict.Auth,
		"GraphQL: Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource. (repository)":                                                                                                                                                                           verdict.Auth,
		"GraphQL: `acme` forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a personal access token with fine-grained permissions. (repository)":                                                                                                                                                                                                       verdict.Auth,
		"gh: The 'acme' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater than 366 days. Please adjust your token's lifetime at the following URL: https://github.com/settings/personal-access-tokens/1 (HTTP 403)":                                                                                                                       verdict.Auth,
		"GraphQL: Your token has not been granted the required scopes to execute this query. The 'login' field requires one of the following scopes: ['read:org'], but your token has only been granted the: ['gist', 'repo'] scopes. Please modify your token's scopes at: https://github.com/settings/tokens.":                                                                                 verdict.Auth,
		"remote: Permission to o/r.git denied to github-actions[bot].\nfatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 403":                                                                                                                                                                                                                             verdict.Auth,
		"fatal: unable to access 'https://github.com/o/r.git/': The requested URL returned error: 403":                                                                                                                          verdict.Auth,
		"GraphQL: octocat does not have the correct permissions to execute `AddLabelsToLabelable` (addLabelsToLabelable)":                                                                                                       verdict.Auth,
		"HTTP 403: Must have admin rights to Repository. (https://api.github.com/repos/o/r/actions/secrets)\nThis API operation needs the \"admin:org\" scope. To request it, run:  gh auth refresh -h github.com -s admin:org": verdict.Auth,
		"GraphQL: Viewer not authorized to access this resource":                                                                                                                                                                verdict.Auth,
		"gh: Sorry. Your account was suspended. (HTTP 403)":                                                                                                                                                                     verdict.Auth,
		"gh: Two-factor authentication is required to access this organization (HTTP 403)":                                                                                                                                      verdict.Auth,
		"gh: Upgrade to GitHub Pro or make this repository public to enable this feature. (HTTP 403)":                                                                                                                           verdict.Billing,
		"HTTP 403: Upgrade to GitHub Team to enable this feature. (https://api.github.com/repos/o/r/rulesets)":                                                                                                                  verdict.Billing,
		"HTTP 402: Payment Required (https://api.github.com/user/codespaces)":                                                                                                                                                   verdict.Billing,
		"could not find pull request diff: HTTP 406: Sorry, the diff exceeded the maximum number of files (300). Consider using 'List pull requests files' API or locally cloning the repository instead. (https://api.github.com/repos/o/r/pulls/1)\nPullRequest.diff too_large": verdict.TooLarge,
		"HTTP 406: Sorry, the diff exceeded the maximum number of lines (20000) (https://api.github.com/repos/o/r/pulls/1)":                                                                                                                                                       verdict.TooLarge,
		"gh: This API returns blobs up to 1 MB in size. The requested blob is too large to fetch via the API, but you can use the Git Data API to request blobs up to 100 MB in size. (HTTP 403)":                                                                                 verdict.TooLarge,
		"gh: The history or contributor list is too large to list contributors for this repository via the API. (HTTP 403)":                                                                                                                                                       verdict.TooLarge,
		"GraphQL: Body is too long (maximum is 65536 characters) (addComment)":                                                                                                                                                                                                    verdict.TooLarge,
		"HTTP 422: Validation Failed (https://api.github.com/repos/o/r/issues/1/comments)\nbody is too long (maximum is 65536 characters)":                                                                                                                                        verdict.TooLarge,
		"gh: By the time this query traverses to the labels connection, it is requesting up to 1,000,000 possible nodes which exceeds the maximum limit of 500,000.":                                                                                                              verdict.TooLarge,
		"GraphQL: Resource limits for this query exceeded.":                                                                                               verdict.TooLarge,
		"HTTP 422: size must be less than or equal to 2147483648 (https://uploads.github.com/repos/o/r/releases/1/assets?name=x)":                         verdict.TooLarge,
		"GraphQL: Could not resolve to a Repository with the name 'o/nope'. (repository)":                                                                 verdict.NotFound,
		"gh: Not Found (HTTP 404)\ngh: This API operation needs the \"admin:org\" scope. To request it, run:  gh auth refresh -h github.com -s admin:org": verdict.NotFound,
		"failed to get run: HTTP 404: Not Found (https://api.github.com/repos/o/r/actions/runs/1?exclude_pull_requests=true)":                             verdict.NotFound,
		"GraphQL: Could not resolve to an issue or pull request with the number of 999. (repository.issue)":                                               verdict.NotFound,
		"gh: Branch not found (HTTP 404)":                                                                   verdict.NotFound,
		"gh: This is not the web page you are looking for (HTTP 404)":                                       verdict.NotFound,
		"HTTP 404: Workflow does not have 'workflow_dispatch' trigger (x)":                                  verdict.NotFound,
		"HTTP 422: Validation Failed (https://api.github.com/repos/o/r/issues)\nmilestone must be a number": verdict.InvalidRequest,
		"could not create workflow dispatch event: HTTP 422: Workflow does not have 'workflow_dispatch' trigger (https://api.github.com/repos/o/r/actions/workflows/1/dispatches)": verdict.InvalidRequest,
		"gh: No commit found for the ref nope (HTTP 422)":                                    verdict.InvalidRequest,
		"gh: Problems parsing JSON (HTTP 400)":                                               verdict.InvalidRequest,
		"gh: Reference already exists (HTTP 422)":                                            verdict.InvalidRequest,
		"gh: Only the first 1000 search results are available (HTTP 422)":                    verdict.InvalidRequest,
		"GraphQL: Pull request Pull request is in clean status (enablePullRequestAutoMerge)": verdict.InvalidRequest,
		"GraphQL: Head sha can't be blank, Base sha can't be blank, No commits between main and x, Head ref must be a branch (createPullRequest)": verdict.InvalidRequest,
		"pull request create failed: GraphQL: A pull request already exists for o:x. (createPullRequest)":                                         verdict.InvalidRequest,
		"GraphQL: Field 'nope' doesn't exist on type 'Query' (query.nope)":                                                                        verdict.InvalidRequest,
		`gh: Parse error on "}" (RCURLY) at [1, 9]`:                                                                                               verdict.InvalidRequest,
		"HTTP 409: Git Repository is empty. (https://api.github.com/repos/o/r/contents/)":                                                         verdict.InvalidRequest,
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
	for name, class := range byType.All() {
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
	// A refusal by status may have errors in its body, too.
	for status, want := range map[int]verdict.Class{403: verdict.Auth, 404: verdict.NotFound, 422: verdict.InvalidRequest, 200: verdict.InvalidRequest, 0: verdict.InvalidRequest} {
		refused := answer{status: status, errors: true, message: "what?"}
		if class, rule := refused.class(); class != want {
			t.Errorf("%d: %s by %s", status, class, rule)
		}
	}
	several := answer{status: 200, errors: true, types: []string{"NOT_FOUND", "RATE_LIMITED", "FORBIDDEN"}}
	if class, _ := several.class(); class != verdict.RateLimit {
		t.Errorf("of several: %s", class)
	}
}

// The details of a refusal are called errors in REST, too.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		status, body string
		want         verdict.Class
	}{
		{"403 Forbidden", `{"message":"This API returns blobs up to 1 MB in size. The requested blob is too large to fetch via the API, but you can use the Git Data API to request blobs up to 100 MB in size.","errors":[{"resource":"Blob","field":"data","code":"too_large"}]}`, verdict.TooLarge},
		{"404 Not Found", `{"message":"Not Found","errors":[{"resource":"X","code":"missing"}]}`, verdict.NotFound},
		{"422 Unprocessable Entity", `{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}`, verdict.InvalidRequest},
		{"422 Unprocessable Entity", `{"message":"Validation Failed","errors":[{"message":"was submitted too quickly"}]}`, verdict.RateLimit},
		{"403 Forbidden", `{"message":"Upgrade to GitHub Pro or make this repository public to enable this feature."}`, verdict.Billing},
		{"502 Bad Gateway", `{"data":null,"errors":[{"message":"Something went wrong"}]}`, verdict.ServerError},
		{"200 OK", `{"data":null,"errors":[{"type":"NOT_FOUND","message":"x"}]}`, verdict.NotFound},
	} {
		stdout := "HTTP/2.0 " + c.status + "\nContent-Type: application/json\r\n\r\n" + c.body
		v := New([]string{"gh", "api", "-i", "x"}, nil, "").Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf("gh: x\n")}, noon)
		if v.Class != c.want || v.Retryable != c.want.Retryable() {
			t.Errorf("%s %s: %s by %s", c.status, c.body, v.Class, v.Rule)
		}
	}
	// Without the headers gh says the status, and of the body the message alone.
	for body, want := range map[string]verdict.Class{
		`{"message":"Validation Failed","errors":[{"resource":"Issue","code":"custom","message":"was submitted too quickly"}]}`:                      verdict.RateLimit,
		`{"message":"Validation Failed","errors":[{"resource":"Issue","code":"custom","message":"body is too long (maximum is 65536 characters)"}]}`: verdict.TooLarge,
		`{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}`:                                     verdict.InvalidRequest,
		`{"message":"Something else","errors":[{"message":"was submitted too quickly"}]}`:                                                            verdict.InvalidRequest,
		`[{"title":"was submitted too quickly"}]`: verdict.InvalidRequest,
		``: verdict.InvalidRequest,
	} {
		o := verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(body), Stderr: verdict.ExcerptOf("gh: Validation Failed (HTTP 422)\n")}
		if v := New(nil, nil, "").Judge(o, noon); v.Class != want || v.Retryable != want.Retryable() {
			t.Errorf("%s: %s by %s", body, v.Class, v.Rule)
		}
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

// Where gh fails without a word, the errors of the GraphQL answer that it has printed say why.
func TestOutput_FailsSilently(t *testing.T) {
	const limited, wrong = `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, `{"errors":[{"message":"Field 'x' doesn't exist on type 'Query'"}]}`
	for _, c := range []struct {
		line, stdout, stderr string
		want                 verdict.Class
	}{
		{"api graphql -f query={a}", limited, "", verdict.RateLimit},
		{"api graphql -f query={a}", limited, "\n", verdict.RateLimit},
		{"api graphql -f query={a}", wrong, "", verdict.InvalidRequest},
		{"", limited, "", verdict.RateLimit},
		{"", wrong, "", verdict.Unknown},
		{"api repos/o/r/codeowners/errors", limited, "", verdict.Unknown},
		{"api graphql -f query={a} --jq .x", limited, "", verdict.Unknown},
		{"gist view x", limited, "", verdict.Unknown},
		{"api graphql -f query={a}", limited, "gh: Not Found (HTTP 404)", verdict.NotFound},
	} {
		args := append([]string{"gh"}, strings.Fields(c.line)...)
		if c.line == "" {
			args = nil
		}
		v := New(args, nil, "").Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(c.stdout), Stderr: verdict.ExcerptOf(c.stderr)}, noon)
		if v.Class != c.want || v.Retryable != c.want.Retryable() {
			t.Errorf("%s: %.60q: %s by %s", c.line, c.stdout, v.Class, v.Rule)
		}
	}
	// The hint beside a status, as seed 002 has it on stderr.
	for words, want := range map[string]verdict.Hint{"HTTP 429 resets at 2026-11-15T13:00:00Z": {At: noon.Add(time.Hour)}, "error 429 resets in 30s": {After: 30 * time.Second}} {
		if v := judged(words); v.Class != verdict.RateLimit || !v.Hint.At.Equal(want.At) || v.Hint.After != want.After {
			t.Errorf("%s: %+v", words, v)
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
		{"gh issue create -t x -b y -a z", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP 403: API rate limit exceeded (https://x)")}, verdict.RateLimit, verdict.SentMaybe},
		{"gh release create v1 -n x", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP 403: API rate limit exceeded (https://x)")}, verdict.RateLimit, verdict.SentNo},
		{"gh release create v1 -n x a.zip", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP 403: API rate limit exceeded (https://x)")}, verdict.RateLimit, verdict.SentMaybe},
		{"gh release upload v1 a.zip", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(`Get "https://api.github.com/repos/o/r/releases/tags/v1": dial tcp: lookup api.github.com: no such host`)}, verdict.Network, verdict.SentNo},
		{"gh release upload v1 a.zip", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(`Post "https://uploads.github.com/repos/o/r/releases/1/assets": dial tcp: lookup uploads.github.com: no such host`)}, verdict.Network, verdict.SentMaybe},
		{"gh release upload v1 a.zip --clobber", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("error connecting to api.github.com")}, verdict.Network, verdict.SentMaybe},
		{"gh issue close 1", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("error connecting to api.github.com")}, verdict.Network, verdict.SentNo},
		{"gh issue close 1 -c why", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("error connecting to api.github.com")}, verdict.Network, verdict.SentMaybe},
		{"gh issue create -t x -b y", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("Post \"x\": dial tcp 1.2.3.4:443: i/o timeout, trying again\nPost \"https://x\": EOF")}, verdict.Network, verdict.SentMaybe},
		{"gh issue create -t x -b y", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("GraphQL: was submitted too quickly (createIssue)")}, verdict.RateLimit, verdict.SentNo},
		{"gh issue create -t x -b y", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("GraphQL: Resource not accessible by integration (createIssue.issue.url)")}, verdict.Auth, verdict.SentMaybe},
		{"gh api graphql -f query=mutation{a}", verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(`{"data":null,"errors":[{"type":"RATE_LIMITED","message":"x"}]}`), Stderr: verdict.ExcerptOf("gh: x")}, verdict.RateLimit, verdict.SentNo},
		{"gh api graphql -f query=mutation{a}", verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(`{"data":{"a":{"id":1}},"errors":[{"type":"RATE_LIMITED","message":"x"}]}`), Stderr: verdict.ExcerptOf("gh: x")}, verdict.RateLimit, verdict.SentMaybe},
		{"gh some-extension", verdict.Outcome{ExitCode: 4}, verdict.Auth, verdict.SentMaybe},
		{"gh some-extension", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("unknown command \"some-extension\" for \"gh\"")}, verdict.InvalidRequest, verdict.SentNo},
		{"gh some-extension", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("unknown command \"other\" for \"gh\"")}, verdict.InvalidRequest, verdict.SentMaybe},
		{"", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(`Post "x": EOF`)}, verdict.Network, verdict.SentMaybe},
		{"", verdict.Outcome{ExitCode: 4}, verdict.Auth, verdict.SentNo},
		{"gh release create v1 --nope", verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("unknown flag: --nope")}, verdict.InvalidRequest, verdict.SentNo},
	} {
		if v := New(strings.Fields(c.line), nil, "").Judge(c.o, noon); v.Class != c.want || v.Sent != c.sent || v.Retryable != c.want.Retryable() {
			t.Errorf("%s, %+v: %s by %s, sent %s", c.line, c.o, v.Class, v.Rule, v.Sent)
		}
	}
}
