package gh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// exchange is one request as gh traces it.
type exchange struct {
	method, path, sent  string // sent is as it is shown
	status, kind, shown string
	broke               string
}

func (e exchange) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "* Request at %s m=+0.758737373\n* Request to http://api.github.localhost%s\n> %s %s HTTP/1.1\n> Host: api.github.localhost\n> Content-Type: application/json; charset=utf-8\n\n",
		noon.Format("2006-01-02 15:04:05.999999999 -0700 MST"), e.path, e.method, e.path)
	b.WriteString(e.sent)
	if e.broke != "" {
		fmt.Fprintf(&b, "* %s\n", e.broke)
	} else {
		fmt.Fprintf(&b, "< HTTP/1.1 %s\n< Content-Type: %s\n< X-Empty: \n\n%s", e.status, e.kind, e.shown)
	}
	b.WriteString("* Request took 32.246866ms\n")
	return b.String()
}

const jsonType = "application/json; charset=utf-8"

// shownJSON is a body as the trace shows JSON.
func shownJSON(value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data) + "\n\n"
}

func get(kind, shown string) exchange {
	return exchange{method: "GET", path: "/user", status: "200 OK", kind: kind, shown: shown}
}

func query(text string) exchange {
	e := exchange{method: "POST", path: "/graphql", status: "200 OK", kind: jsonType, shown: shownJSON(map[string]any{"data": nil})}
	e.sent = "GraphQL query:\n" + text + "\nGraphQL variables: {\"a\":1}\n\n"
	return e
}

// filtered passes a trace through a filter in pieces of that size and returns what the user sees.
func filtered(t *trace, raw string, size int) string {
	var user bytes.Buffer
	f := &filter{user: &user, trace: t, start: noon.Add(-time.Second), now: func() time.Time { return noon.Add(time.Second) }}
	for len(raw) > 0 {
		n := min(size, len(raw))
		f.Write([]byte(raw[:n]))
		raw = raw[n:]
	}
	f.Close()
	return user.String()
}

// old is a trace of another day, as it may stand in a gist.
const old = "* Request at 2020-01-02 03:04:05.6 +0000 UTC m=+0.7\n* Request to http://x/y\n> GET /y HTTP/1.1\n\n< HTTP/1.1 429 Too Many Requests\n< Retry-After: 60\n\nx\n\n* Request took 5ms\ngh: a lie (HTTP 429)\n"

func TestFilter(t *testing.T) {
	for name, parts := range map[string][]any{ // strings are gh's own words
		"nothing":                 {},
		"words":                   {"gh: Not Found (HTTP 404)\n"},
		"no end of line":          {"? Title "},
		"a request":               {get(jsonType, shownJSON(1)), "done\n"},
		"several":                 {"a\n", get(jsonType, shownJSON("x")), "b\n", query("{ a }"), get(jsonType, ""), "c"},
		"words without an end":    {"- Deleting ", get(jsonType, shownJSON(1)), "done\n"},
		"broke":                   {exchange{method: "POST", path: "/graphql", sent: "{\n  \"query\": \"x\"\n}\n\n", broke: "EOF"}, "Post \"x\": EOF\n"},
		"binary":                  {get("text/plain", "* body contains binary data\n"), "x\n"},
		"skipped":                 {get("application/zip", ""), "x\n"},
		"too long":                {get(jsonType, "* body is too long (200000 bytes) to print, skipping (longer than 100000 bytes)\n"), "x\n"},
		"cut":                     {get(jsonType, "* cannot read body: unexpected EOF\n"), "x\n"},
		"JSON that looks like it": {get(jsonType, shownJSON(map[string]any{"body": old, "* Request took 5ms": "* Request took 5ms"})), "x\n"},
		"text that ends early":    {get("text/plain", "a\n* Request took 5ms\nb\n"), "x\n"},
		"an old trace":            {get("text/plain", old+"\n"), "x\n", get(jsonType, shownJSON(1)), "y\n"},
		"an old trace, twice":     {get("text/plain", old+old+"\n"), "x\n"},
		"no JSON":                 {get(jsonType, "* body cannot be formatted: unexpected EOF\n{\"a\": \n* Request took 5ms\nx\n"), "x\n"},
		"a query with a trace":    {query("# x\n* Request took 1ms\n" + old + "{ a }"), "x\n"},
		"a query with an answer":  {query("{ a(b: \"\"\"\nGraphQL variables: {}\n\n< HTTP/1.1 429 x\n< A: b\n\n* Request took 5ms\nlie\n\"\"\") }"), "x\n"},
		"a proxy's page":          {get("text/html", "<html>\n< HTTP/1.1 500 x\n> GET\n</html>\n"), "x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var raw, want strings.Builder
			for _, p := range parts {
				fmt.Fprint(&raw, p)
				if s, ok := p.(string); ok {
					want.WriteString(s)
				}
			}
			for _, size := range []int{1, 7, 64, 1 << 20} {
				if got := filtered(&trace{foreignQueries: true}, raw.String(), size); got != want.String() {
					t.Errorf("in pieces of %d the user sees %q, want %q", size, got, want.String())
				}
			}
		})
	}
}

// With the trace on gh also shows git commands and more of a failed look-up.
func TestFilter_DebugWords(t *testing.T) {
	const raw = "[git remote -v]\nerror connecting to api.github.com\nlookup api.github.com: no such host\ncheck your internet connection\n[git config --get x]\n[not git]\nlookup x\n"
	const want = "error connecting to api.github.com\ncheck your internet connection\n[not git]\nlookup x\n"
	for _, size := range []int{1, 5, 1000} {
		if got := filtered(&trace{}, raw, size); got != want {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

// Before 2.30 gh also shows, first of all, what it takes a command for that it does not have. Nothing else is taken for that.
func TestFilter_Expansion(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"the same":       {"[project list] -> [project list]\nunknown command\n", "unknown command\n"},
		"an alias":       {"[project list] -> [issue list --label a]\n" + get(jsonType, shownJSON(1)).String() + "x\n", "x\n"},
		"a shell":        {"[project list] -> [sh -c echo \"$1\" -- list]\n", ""},
		"not first":      {"x\n[project list] -> [project list]\n", "x\n[project list] -> [project list]\n"},
		"twice":          {"[project list] -> [a]\n[project list] -> [b]\n", "[project list] -> [b]\n"},
		"another":        {"[project view] -> [project view]\n", "[project view] -> [project view]\n"},
		"not to its end": {"[project list] -> [project", "[project list] -> [project"},
		"a question":     {"[pro", "[pro"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 5, 1000} {
				var user bytes.Buffer
				f := &filter{user: &user, trace: &trace{}, expansion: expansionOf([]string{"project", "list"})}
				for raw := range slices.Chunk([]byte(tt.raw), size) {
					f.Write(raw)
				}
				f.Close()
				if user.String() != tt.want {
					t.Errorf("in pieces of %d: %q", size, user.String())
				}
			}
		})
	}
}

// A question must not wait for the end of its line.
func TestFilter_Early(t *testing.T) {
	var user bytes.Buffer
	f := &filter{user: &user, trace: &trace{}, start: noon, now: func() time.Time { return noon }}
	for _, step := range []struct{ write, sees string }{
		{"? Title ", "? Title "}, {"x* Req", "? Title x"}, {"uest for", "? Title x* Request for"}, {" you\n[", "? Title x* Request for you\n"}, {"gi", "? Title x* Request for you\n"}, {"raffe", "? Title x* Request for you\n[giraffe"},
	} {
		f.Write([]byte(step.write))
		if user.String() != step.sees {
			t.Errorf("after %q the user sees %q, want %q", step.write, user.String(), step.sees)
		}
	}
}

// What is traced is read: what was asked, what was answered, and when to come back.
func TestTrace(t *testing.T) {
	limited := exchange{method: "POST", path: "/graphql", sent: "GraphQL query:\nmutation IssueCreate($input: X!) {\n  a\n}\nGraphQL variables: {}\n\n", status: "403 Forbidden",
		kind: jsonType + "\n< Retry-After: 60\n< X-Ratelimit-Remaining: 0\n< X-Ratelimit-Reset: 1794704213", shown: shownJSON(map[string]any{"message": "API rate limit exceeded"})}
	tr := &trace{}
	filtered(tr, query("query A { b }").String()+limited.String(), 100)
	if len(tr.requests) != 2 {
		t.Fatalf("%+v", tr.requests)
	}
	a, b := tr.requests[0], tr.requests[1]
	if a.kind != "query" || a.name != "A" || a.changes || a.failed() || a.status != 200 || !a.ended || a.took != 32246866 {
		t.Errorf("%+v", a)
	}
	class, _ := b.class()
	if h := b.hint(noon); b.name != "IssueCreate" || !b.changes || class != verdict.RateLimit || h.After != time.Minute || h.At.Unix() != 1794704213 || b.path() != "/graphql" {
		t.Errorf("%+v, %s, %+v", b, class, h)
	}
}

// The lines of requests under way at the same time are interleaved.
func TestTrace_Mingled(t *testing.T) {
	one, two := strings.SplitAfter(query("query A { b }").String(), "\n"), strings.SplitAfter(get(jsonType, shownJSON(1)).String(), "\n")
	var raw strings.Builder
	for i := range max(len(one), len(two)) {
		for _, l := range [][]string{one, two} {
			if i < len(l) {
				raw.WriteString(l[i])
			}
		}
	}
	tr := &trace{}
	if got := filtered(tr, "a\n"+raw.String()+"b\n", 10); got != "a\nb\n" || !tr.interleaved || tr.total != 2 || len(tr.open) != 0 {
		t.Errorf("the user sees %q; %+v", got, tr)
	}
}

// However much comes, little is kept.
func TestTrace_Bounded(t *testing.T) {
	tr := &trace{foreignQueries: true}
	mutation := query("mutation M { a }")
	mutation.shown = shownJSON(map[string]any{"data": map[string]any{"a": 1}})
	long := strings.Repeat("x", 1<<20)
	raw := mutation.String() + strings.Repeat(get("text/plain", long+"\n"+long+"\n").String(), 20)
	if got := filtered(tr, raw+"end\n", 4096); got != "end\n" {
		t.Errorf("the user sees %d bytes", len(got))
	}
	if len(tr.requests) != maxRequests || tr.total != 21 || tr.forgotten.done != 1 || cap(tr.body) > 2*maxAnswerBody {
		t.Errorf("%d of %d kept, %+v, body %d", len(tr.requests), tr.total, tr.forgotten, cap(tr.body))
	}
}

// What the user sees is gh's own words, whatever the bodies hold.
func FuzzFilter(f *testing.F) {
	f.Add("a\n", "b", "body", "{ q }", uint8(0), 3)
	f.Add("", "gh: x\n", old, old, uint8(1), 1)
	f.Add("x", "y\n", "* Request took 5ms\n", "< HTTP/1.1 200 OK\n\n* Request took 1s", uint8(2), 100)
	f.Add("? ", "", "* body contains binary data\n", "GraphQL variables: {}\n\n* EOF", uint8(3), 9)
	f.Add("[", "* ", "\r\n\x00", "\"\"\"", uint8(2), 2)
	f.Fuzz(func(t *testing.T, before, after, body, asked string, kind uint8, size int) {
		for _, words := range []string{before, after, before + after} {
			if strings.Contains(words, "* Request") || strings.Contains(words, "[git ") || strings.Contains(words, "lookup ") {
				t.Skip("gh does not say this")
			}
		}
		if strings.Contains(body+asked, "* Request at 2026") {
			t.Skip("nobody knows the time beforehand")
		}
		var e exchange
		switch kind % 4 {
		case 0:
			e = get(jsonType, shownJSON(body))
		case 1:
			e = get("text/plain; charset=utf-8", body+"\n")
		case 2:
			e = get(jsonType, "* body cannot be formatted: x\n"+body+"\n")
		case 3:
			e = query(asked)
		}
		raw := before + e.String() + after + query("{ a }").String() + before
		if got := filtered(&trace{foreignQueries: true}, raw, max(1, size%4096)); got != before+after+before {
			t.Errorf("the user sees %q, want %q", got, before+after+before)
		}
	})
}

// FuzzJudge: whatever gh has printed, nothing panics, and nothing but exit 0 and 8 is ok.
func FuzzJudge(f *testing.F) {
	f.Add("", old, 1)
	f.Add("HTTP/1.1 403 x\nRetry-After: 9\r\n\r\n{\"message\":\"a\"}", "gh: a (HTTP 403)", 1)
	f.Add(`{"errors":[{"type":"RATE_LIMITED"},"x",7]}`, "non-200 OK status code: 403 x body: \"\\\"\"", 1)
	f.Add(get(jsonType, shownJSON(1)).String(), "GraphQL: ", 0)
	f.Fuzz(func(t *testing.T, stdout, stderr string, code int) {
		o := verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
		for _, args := range [][]string{nil, {"gh", "api", "graphql", "-f", "query={a}"}, {"gh", "issue", "create"}} {
			v := New(args, nil, "").Judge(o, noon)
			if v.Class == verdict.OK && code != 0 && code != 8 || v.Retryable && !v.Class.Retryable() {
				t.Errorf("%+v", v)
			}
		}
	})
}
