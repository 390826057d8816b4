package rehearse

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// github is the stand-in for GitHub, REST and GraphQL, which gh talks to. For the host github.localhost gh speaks plain
// HTTP, and Go sends that through a proxy that the environment names: us.
type github struct{}

func (github) name() string { return "github" }

func (github) claims(r *http.Request) bool {
	host, _, _ := strings.Cut(r.Host, ":")
	return host == githubHost || strings.HasSuffix(host, "."+githubHost)
}

// read says what a request asks: for GraphQL the operation, else the path. All of it is part of the work but the question
// how much of the limit is left, which costs nothing at GitHub either.
func (github) read(r *http.Request, body []byte) call {
	c := call{main: r.URL.Path != "/rate_limit", model: strings.TrimPrefix(r.URL.Path, "/"), body: body}
	if isGraphQL(r) {
		op := parseOperation(body)
		c.model = strings.TrimSpace(op.kind + " " + op.name)
	}
	return c
}

func isGraphQL(r *http.Request) bool { return r.URL.Path == "/graphql" || r.URL.Path == "/api/graphql" }

func (github) good(c *call, s *Step, n int) reply {
	var rep reply
	switch {
	case s.Type != "" || s.Message != "": // GraphQL says its errors in good answers
		rep = githubReply(http.StatusOK, graphqlError(s.Type, cmp.Or(s.Message, graphqlMessages[s.Type], "Something went wrong")))
	case isGraphQL(c.r):
		rep = githubReply(http.StatusOK, c.api.github.graphql(c.body))
	default:
		rep = c.api.github.rest(c.r, c.body)
	}
	githubHeaders(rep.header, n)
	return rep
}

var graphqlMessages = map[string]string{
	"RATE_LIMITED": "API rate limit already exceeded for user ID 1.",
	"NOT_FOUND":    "Could not resolve to a Repository with the name 'o/r'.",
	"FORBIDDEN":    "Resource not accessible by integration",
}

// githubErrors are the messages that go with a status.
var githubErrors = map[int]string{
	400: "Problems parsing JSON", 401: "Bad credentials", 403: "Resource not accessible by integration", 404: "Not Found", 409: "Conflict",
	410: "Issues are disabled for this repo", 422: "Validation Failed", 429: secondaryLimit, 500: "Server Error", 502: "Server Error",
	503: "Service Unavailable", 504: "We couldn't respond to your request in time. Sorry about that.",
}

const (
	primaryLimit   = "API rate limit exceeded for user ID 1. If you reach out to GitHub Support for help, please include the request ID."
	secondaryLimit = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)

func (github) fail(c *call, s *Step, n int) reply {
	status, message := s.Status, cmp.Or(s.Message, githubErrors[s.Status], http.StatusText(s.Status))
	switch {
	case s.UsageLimit, s.Limit == primary:
		status, message = http.StatusForbidden, cmp.Or(s.Message, primaryLimit)
	case s.Limit == secondary:
		status, message = http.StatusForbidden, cmp.Or(s.Message, secondaryLimit)
	case s.Overloaded:
		status, message = http.StatusServiceUnavailable, "overloaded"
	}
	rep := restError(status, message)
	githubHeaders(rep.header, n)
	if s.UsageLimit || s.Limit == primary {
		rep.header.Set("X-RateLimit-Remaining", "0")
		rep.header.Set("X-RateLimit-Used", "5000")
		rep.header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(s.Resets+time.Second-1).Unix(), 10))
	}
	return rep
}

func (github) failInside(*call, *Step, int) []byte { return nil }

func (github) side(c *call) reply {
	left := object{"limit": 5000, "used": 1, "remaining": 4999, "reset": time.Now().Add(time.Hour).Unix()}
	rep := githubReply(http.StatusOK, object{"resources": object{"core": left, "graphql": left, "search": left}, "rate": left})
	githubHeaders(rep.header, 0)
	return rep
}

func githubHeaders(h http.Header, n int) {
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("0000:REHEARSAL:%04d", n))
	h.Set("X-OAuth-Scopes", "gist, project, read:org, repo, workflow")
	for name, value := range map[string]string{"Limit": "5000", "Remaining": "4999", "Used": "1", "Resource": "core",
		"Reset": strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)} {
		h.Set("X-RateLimit-"+name, value)
	}
}

func (github) prepare(a *API) error { return os.MkdirAll(githubConfig(a), 0o700) }

func githubConfig(a *API) string { return filepath.Join(a.home(), ".config/gh") }

func (github) environ(a *API) []string {
	return []string{
		"GH_HOST=" + githubHost, "GH_TOKEN=" + Key, "GH_CONFIG_DIR=" + githubConfig(a),
		"GITHUB_TOKEN=", "GH_ENTERPRISE_TOKEN=", "GITHUB_ENTERPRISE_TOKEN=", "GH_REPO=",
		"GH_TELEMETRY=0", "GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1",
		"HTTP_PROXY=" + a.URL(), "REQUEST_METHOD=", // Go ignores HTTP_PROXY where REQUEST_METHOD is set
	}
}
