//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// gh is a script about GitHub's command. Some of its commands change something, and some of those can be looked for when
// they have failed.
func (g *generator) gh() {
	g.s.Kind = "gh"
	command := pick(g.chance, [][]string{
		{"gh", "api", "user"}, {"gh", "api", "-i", "user"}, {"gh", "api", "-X", "POST", "repos/o/r/issues", "-f", "title=Title"}, {"gh", "api", "graphql", "-f", "query={viewer{login}}"},
		{"gh", "issue", "list", "-R", "o/r"}, {"gh", "issue", "create", "-R", "o/r", "-t", "Title", "-b", "Body"}, {"gh", "issue", "comment", "3", "-R", "o/r", "-b", "Body"},
		{"gh", "pr", "view", "1", "-R", "o/r"}, {"gh", "pr", "merge", "3", "-R", "o/r"}, {"gh", "pr", "create", "-R", "o/r", "-t", "Title", "-b", "Body", "--head", "topic"},
		{"gh", "repo", "clone", "o/r"}, {"gh", "release", "upload", "v1", "file"}, {"gh", "--version"}, {"gh", "some-extension"},
	}...)
	g.s.Acts["gh"] = g.acts(g.ghAct)
	g.lookups(command)
	g.run(func() []string { return slices.Clone(command) })
	for i := range g.s.Steps {
		if args := g.s.Steps[i].Args; args[0] == "run" {
			var f []string
			g.optional(&f, 15, "--retry-unsafe")
			g.optional(&f, 30, "--verify-effect") // which waits for ten seconds before it looks
			g.s.Steps[i].Args = append(append([]string{"run"}, f...), args[1:]...)
			g.optional(&g.s.Steps[i].Env, 8, "GH_DEBUG=api")
			g.optional(&g.s.Steps[i].Env, 30, "GH_TOKEN=a-token")
		}
	}
}

// lookups are the answers to what --verify-effect asks.
func (g *generator) lookups(command []string) {
	fail := act{{Err: "HTTP 502: Bad Gateway\n"}, {Exit: number(1)}}
	made := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
	one := fmt.Sprintf(`{"title":"Title","body":"Body","url":"https://github.com/o/r/issues/7","createdAt":%q,"author":{"login":"octo"},"headRefName":"topic","viewerDidAuthor":true}`, made)
	list := act{{Out: pick(g.chance, "[]", "["+one+"]", "[", "[]") + "\n"}}
	if g.in(15) {
		list = fail
	}
	add := func(a act, args ...string) {
		if len(command) < len(args)+1 || !slices.Equal(command[1:len(args)+1], args) { // else it is the command itself
			g.s.Answers = append(g.s.Answers, answer{args, a})
		}
	}
	add(list, "issue", "list", "--state")
	add(list, "pr", "list", "--state")
	add(act{{Out: `{"comments":` + pick(g.chance, "[]", "["+one+"]") + "}\n"}}, "issue", "view")
	add(act{{Out: "HTTP/2.0 200 OK\nDate: Mon, 02 Jan 2006 15:04:05 GMT\n\n"}}, "api", "--include")
	add(act{{Out: "octo\n"}}, "api", "graphql", "-f", "query={viewer{login}}", "--jq")
}

// ghAct is what one start of gh does. With GH_DEBUG=api it also shows its requests.
func (g *generator) ghAct() act {
	if g.in(35) {
		return g.replay("gh")
	}
	get := func(status, body string, header ...string) *request {
		return &request{Method: pick(g.chance, "GET", "GET", "POST"), URL: "https://api.github.com/user", Status: status, Body: body, Header: header}
	}
	fail := func(words, status string, header ...string) act {
		return act{{Trace: get(status, `{"message": "`+words+`"}`, header...)}, {Out: `{"message":"` + words + `"}`, Err: "gh: " + words + " (HTTP " + status[:3] + ")\n"}, {Exit: number(1)}}
	}
	switch g.IntN(14) {
	case 0, 1, 2, 3:
		return act{{Trace: get("200 OK", `{"login": "octo"}`, "X-Ratelimit-Remaining: 4000")}, {Out: "{\"login\":\"octo\"}\n"}, {Exit: number(0)}}
	case 4:
		return fail("API rate limit exceeded for user ID 1.", "403 Forbidden", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: "+pick(g.chance, "{{past}}", "{{soon}}"))
	case 5:
		return fail("You have exceeded a secondary rate limit.", "403 Forbidden", pick(g.chance, "Retry-After: 0", "Retry-After: 60"))
	case 6:
		return fail("Server Error", pick(g.chance, "500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable"))
	case 7:
		return fail("Bad credentials", "401 Unauthorized")
	case 8:
		return fail("Not Found", "404 Not Found")
	case 9:
		broken := get("", "")
		broken.Broke = pick(g.chance, "EOF", "dial tcp 127.0.0.1:443: connect: connection refused", "read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer")
		return act{{Trace: broken, Err: "error connecting to api.github.com: " + broken.Broke + "\ncheck your internet connection or https://githubstatus.com\n"}, {Exit: number(1)}}
	case 10:
		return act{{Trace: get("200 OK", `{"errors": [{"type": "RATE_LIMITED", "message": "API rate limit already exceeded for user ID 1."}]}`), Err: "GraphQL: API rate limit already exceeded for user ID 1.\n"}, {Exit: number(1)}}
	case 11:
		return fail("Validation Failed", "422 Unprocessable Entity")
	case 12:
		return act{{Signal: pick(g.chance, "INT", "TERM", "KILL")}}
	}
	if g.in(50) {
		return g.hang(op{Trace: get("200 OK", "{}")})
	}
	return act{{Err: "unknown flag: --what\n\nUsage:  gh issue\n"}, {Exit: number(pick(g.chance, 1, 2, 4))}}
}
