package rehearse

import (
	"errors"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/test/must"
)

var unsaid = Usage{-1, -1, -1, -1}

func TestParse(t *testing.T) {
	text := func(s string) *string { return &s }
	for script, want := range map[string][]Step{
		"200":                         {{Source: "200", Times: 1, Status: 200, Usage: unsaid}},
		"429(retry-after=2)x2, 200":   {{Source: "429(retry-after=2)", Times: 2, Status: 429, RetryAfter: RetryAfter{Seconds: "2"}, Usage: unsaid}, {Source: "200", Times: 1, Status: 200, Usage: unsaid}},
		"529x3,200":                   {{Source: "529", Times: 3, Status: 529, Usage: unsaid}, {Source: "200", Times: 1, Status: 200, Usage: unsaid}},
		"500 x 2":                     nil, // a space after x is a mistake
		"500 x2 ; hang":               {{Source: "500", Times: 2, Status: 500, Usage: unsaid}, {Source: "hang", Times: 1, Before: Hang, Usage: unsaid}},
		"401x*":                       {{Source: "401", Status: 401, Usage: unsaid}},
		"# a comment\n\n200 # more\n": {{Source: "200", Times: 1, Status: 200, Usage: unsaid}},
		"reset\nhang\n":               {{Source: "reset", Times: 1, Before: Reset, Usage: unsaid}, {Source: "hang", Times: 1, Before: Hang, Usage: unsaid}},
		`200(text="a, (b) \"c\"\n", in=10, out=5, cache-read=1, cache-write=2)`: {{Source: `200(text="a, (b) \"c\"\n", in=10, out=5, cache-read=1, cache-write=2)`,
			Times: 1, Status: 200, Text: "a, (b) \"c\"\n", Usage: Usage{10, 5, 1, 2}}},
		"200(text=plain words)": {{Source: "200(text=plain words)", Times: 1, Status: 200, Text: "plain words", Usage: unsaid}},
		"429(retry-after=date+3s, x-should-retry=false)": {{Source: "429(retry-after=date+3s, x-should-retry=false)", Times: 1, Status: 429,
			RetryAfter: RetryAfter{Date: true, In: 3 * time.Second}, Header: http.Header{"X-Should-Retry": {"false"}}, Usage: unsaid}},
		"502(body=`<html>\n\"bad\"</html>`, content-type=text/html)": {{Source: "502(body=`<html> \"bad\"</html>`, content-type=text/html)", Times: 1, Status: 502,
			Body: text("<html>\n\"bad\"</html>"), Header: http.Header{"Content-Type": {"text/html"}}, Usage: unsaid}},
		"400(type=invalid_request_error, code=x, message=\"too long\")": {{Source: `400(type=invalid_request_error, code=x, message="too long")`, Times: 1, Status: 400,
			Type: "invalid_request_error", Code: "x", Message: "too long", Usage: unsaid}},
		"hang(after=1s)":                           {{Source: "hang(after=1s)", Times: 1, Before: Hang, After: time.Second, Usage: unsaid}},
		"slow(2s)":                                 {{Source: "slow(2s)", Times: 1, Over: 2 * time.Second, Usage: unsaid}},
		"slow(0.5, text=x)":                        {{Source: "slow(0.5, text=x)", Times: 1, Over: time.Second / 2, Text: "x", Usage: unsaid}},
		"refuse":                                   {{Source: "refuse", Before: Refuse, Usage: unsaid}},
		"refuse(3s), 200":                          {{Source: "refuse(3s)", Times: 1, Before: Refuse, For: 3 * time.Second, Usage: unsaid}, {Source: "200", Times: 1, Status: 200, Usage: unsaid}},
		"drop-mid(at=block)":                       {{Source: "drop-mid(at=block)", Times: 1, Cut: CutDrop, At: AfterBlock, Usage: unsaid}},
		"hang-mid(ping=1s)":                        {{Source: "hang-mid(ping=1s)", Times: 1, Cut: CutHang, Ping: time.Second, Usage: unsaid}},
		"200(then=drop)":                           {{Source: "200(then=drop)", Times: 1, Status: 200, Cut: CutDrop, Usage: unsaid}},
		"error-mid(code=server_error)":             {{Source: "error-mid(code=server_error)", Times: 1, Cut: CutError, Code: "server_error", Usage: unsaid}},
		"tool(bash: sleep 300)":                    {{Source: "tool(bash: sleep 300)", Times: 1, Tool: "bash", ToolInput: "sleep 300", Usage: unsaid}},
		"tool(bash: (a; b), $(c))":                 {{Source: "tool(bash: (a; b), $(c))", Times: 1, Tool: "bash", ToolInput: "(a; b), $(c)", Usage: unsaid}},
		`tool(bash: "echo )", in=3)`:               {{Source: `tool(bash: "echo )", in=3)`, Times: 1, Tool: "bash", ToolInput: "echo )", Usage: Usage{3, -1, -1, -1}}},
		`tool(bash: "$X"/y -z)`:                    {{Source: `tool(bash: "$X"/y -z)`, Times: 1, Tool: "bash", ToolInput: `"$X"/y -z`, Usage: unsaid}},
		`tool(Read: {"file_path": "/x"})x2`:        {{Source: `tool(Read: {"file_path": "/x"})`, Times: 2, Tool: "Read", ToolInput: `{"file_path": "/x"}`, Usage: unsaid}},
		"tool(bash: `ls`, calls=3)":                {{Source: "tool(bash: `ls`, calls=3)", Times: 1, Tool: "bash", ToolInput: "ls", Calls: 3, Usage: unsaid}},
		"overloadedx5, hang-midx*":                 {{Source: "overloaded", Times: 5, Overloaded: true, Usage: unsaid}, {Source: "hang-mid", Cut: CutHang, Usage: unsaid}},
		"tool(bash: true, in=200000, out=20000)x2": {{Source: "tool(bash: true, in=200000, out=20000)", Times: 2, Tool: "bash", ToolInput: "true", Usage: Usage{200000, 20000, -1, -1}}},
		`tool(Read: {"file_path": "/x", "at": 1}, calls=2)`: {{Source: `tool(Read: {"file_path": "/x", "at": 1}, calls=2)`, Times: 1, Tool: "Read", ToolInput: `{"file_path": "/x", "at": 1}`,
			Calls: 2, Usage: unsaid}},
		`tool(bash: echo "a, in=1" 'b", in=2' \", in=3)`: {{Source: `tool(bash: echo "a, in=1" 'b", in=2' \", in=3)`, Times: 1, Tool: "bash", ToolInput: `echo "a, in=1" 'b", in=2' \"`, Usage: Usage{3, -1, -1, -1}}},
		"tool(bash: sort -k 1,2 --x=type=a,in=b; (a, in=2); c, FOO=3)": {{Source: "tool(bash: sort -k 1,2 --x=type=a,in=b; (a, in=2); c, FOO=3)", Times: 1, Tool: "bash",
			ToolInput: "sort -k 1,2 --x=type=a,in=b; (a, in=2); c, FOO=3", Usage: unsaid}},
		`429(retry-after-ms=20, Retry-Afer=2, "retry-afer"=3, "server"=x)`: {{Source: `429(retry-after-ms=20, Retry-Afer=2, "retry-afer"=3, "server"=x)`, Times: 1, Status: 429,
			Header: http.Header{"Retry-After-Ms": {"20"}, "Retry-Afer": {"2", "3"}, "Server": {"x"}}, Usage: unsaid}},
		"usage-limit(resets=3h)":            {{Source: "usage-limit(resets=3h)", Times: 1, UsageLimit: true, Resets: 3 * time.Hour, Window: "5h", Usage: unsaid}},
		"usage-limit(resets=3d, window=7d)": {{Source: "usage-limit(resets=3d, window=7d)", Times: 1, UsageLimit: true, Resets: 72 * time.Hour, Window: "7d", Usage: unsaid}},
		"200(used=5h:42%, 7d:17%/1h ,in=3)": {{Source: "200(used=5h:42%, 7d:17%/1h ,in=3)", Times: 1, Status: 200, Usage: Usage{3, -1, -1, -1},
			Windows: []Window{{"5h", 5 * time.Hour, 0.42, false, 5 * time.Hour, time.Time{}}, {"7d", 168 * time.Hour, 0.17, false, time.Hour, time.Time{}}}}},
		"200(fill=5h:2%/10s)x*": {{Source: "200(fill=5h:2%/10s)", Status: 200, Usage: unsaid, Windows: []Window{{"5h", 5 * time.Hour, 0.02, true, 10 * time.Second, time.Time{}}}}},
		"200(used=5h:42)":       nil, "200(used=5:42%)": nil, "200(used=5s:42%)": nil, "200(fill=5h:2%/)": nil, "200(fill=5h:-2%)": nil, "200(used=5h:NaN%)": nil, "200(used=five_hour:2%)": nil,
		"hang(fill=5h:2%)": nil, "mix(5%, used=5h:2%)": nil, "200(fil=5h:2%)": nil,
		"limit(20/6s, retry-after=date)": {{Source: "limit(20/6s, retry-after=date)", Rate: &Rate{20, 6 * time.Second, "date"}, Usage: unsaid}},
	} {
		got, err := Parse(script)
		switch {
		case want == nil && err == nil:
			t.Errorf("%q was taken", script)
		case want == nil:
		case err != nil:
			t.Errorf("%q: %v", script, err)
		case !reflect.DeepEqual(got.Steps, want):
			t.Errorf("%q\n got %+v\nwant %+v", script, got.Steps, want)
		}
	}
}

func TestParse_PerSession(t *testing.T) {
	got, err := Parse("# each on its own\nper-session: 429, 200")
	if err != nil || !got.PerSession || len(got.Steps) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParse_Mix(t *testing.T) {
	for script, want := range map[string]string{
		"mix(5%)": "429(retry-after=1) 500 overloaded reset drop-mid overloaded-mid",
		`mix(12.5%, seed=7, of="500, 429(message=\"a b\")")`: `500 429(message="a b")`,
	} {
		got, err := Parse(script)
		if err != nil {
			t.Errorf("%q: %v", script, err)
			continue
		}
		var faults []string
		for _, f := range got.Steps[0].Mix.Faults {
			faults = append(faults, f.Source)
		}
		if strings.Join(faults, " ") != want {
			t.Errorf("%q: %q", script, faults)
		}
	}
}

// A mistake is named, and pointed at.
func TestParse_Mistakes(t *testing.T) {
	for _, c := range []struct{ script, reason, caret string }{
		{"", "empty", "^"},
		{"  # nothing\n", "empty", "^"},
		{"429x2, 2000", `no step "2000"`, "       ^"},
		{"429 200", "expected a comma or a new line", "    ^"},
		{"42", `no step "42"`, "^"},
		{"999", "200 to 599", "^"},
		{"100", "200 to 599", "^"},
		{"drop", "did you mean drop-mid?", "^"},
		{"200x0", "repetition", "   ^"},
		{"200x", "repetition", "   ^"},
		{"200xx", "repetition", "   ^"},
		{"200x9999999", "repetition", "   ^"},
		{"200(text=\"open)", "quotes not closed", "         ^"},
		{`200(text="\q")`, "backslash", `          ^`},
		{"200(in=5", "parenthesis not closed", "   ^"},
		{"200(in=many)", "not a number of tokens", "       ^"},
		{"200(in=-1)", "not a number of tokens", "       ^"},
		{"tool(bash: `ls`, calls=0)", "not a number of calls", "                       ^"},
		{"200(calls=2)", `no option "calls"`, "    ^"},
		{"429(retry-afer=2)", `no option "retry-afer"; did you mean retry-after? A header of that name is written in quotes: "retry-afer"=`, "    ^"},
		{"200(cache-raed=2)", "did you mean cache-read?", "    ^"},
		{"200(modl=x)", `no option "modl"; did you mean model?`, "    ^"},
		{"tool(bash: true, call=2)", "did you mean calls?", "                 ^"},
		{"tool(bash: , in=2)", "no input", "           ^"},
		{`429("retry afer"=2)`, "not the name of a header", "    ^"},
		{`429("ü"=2)`, "not the name of a header", "    ^"},
		{`429(""=2)`, "name=value", "    ^"},
		{`hang("x-y"=2)`, "sends no headers", "     ^"},
		{"overloadedx5x2", "expected a comma", "            ^"},
		{"overlaoded", "did you mean overloaded?", "^"},
		{"200(in=)", "expected a value", "       ^"},
		{"200(nonsense=1)", `no option "nonsense"`, "    ^"},
		{"200(5)", "name=value", "    ^"},
		{"hang(text=x)", `no option "text"`, "     ^"},
		{"hang(x-y=1)", `no option "x-y"`, "     ^"},
		{"slow(soon)", "not a time", "     ^"},
		{"tool", "tool(bash: ls)", "^"},
		{"tool()", "tool(bash: ls)", "^"},
		{"tool(bash ls)", "tool(bash: ls)", "     ^"},
		{"tool(bash:)", "no input", "          ^"},
		{"tool(bash: ls", "parenthesis not closed", "    ^"},
		{"usage-limit(resets=soon)", "not a time", "                   ^"},
		{"usage-limit(window=1h)", "5h or 7d", "                   ^"},
		{"limit", "limit(20/6s)", "^"},
		{"limit(20)", "20/6s", "      ^"},
		{"limit(0/6s)", "20/6s", "      ^"},
		{"limit(20/6s, retry-after=2)", "seconds, date or none", "                         ^"},
		{"limit(20/6s)x2", "cannot be repeated", "            ^"},
		{"limit(20/6s), 200", "nothing can follow", "              ^"},
		{"mix(5%), 200", "nothing can follow", "         ^"},
		{"mix(5)", "5%", "    ^"},
		{"mix(101%)", "5%", "    ^"},
		{"mix(5%, seed=x)", "whole number", "             ^"},
		{`mix(5%, of="500, hnag")`, `no step "hnag"`, `                 ^`},
		{`mix(5%, of="limit(1/1s)")`, "part of a mix", `           ^`},
		{"refuse x2", "cannot be repeated", "       ^"},
		{"200x*, 500", "nothing can follow", "       ^"},
		{"429(then=drop)", "only a good answer", "^"},
		{"200(then=leave)", "drop, end", "         ^"},
		{"200\n\t500(in=x)\n200", "line 2, column 9", "\t       ^"},
		{"per-session: 200, refuse", "all sessions, because", "                  ^"},
		{"per-session:", "empty", "^"},
		{"200, per-session: 500", "no step", "     ^"},
		{"200, tööl", "did you mean tool?", "     ^"},
	} {
		_, err := Parse(c.script)
		wrong, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Errorf("%q: %v", c.script, err)
			continue
		}
		if !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: %v; want %q", c.script, err, c.reason)
		}
		if _, caret, _ := strings.Cut(wrong.Caret(), "\n"); caret != c.caret {
			t.Errorf("%q\n%s\nwant\n%s", c.script, wrong.Caret(), c.caret)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q is not one line", c.script, err)
		}
	}
}

// The documentation names every step and option that the parser takes.
func TestDocs_NameEveryStepAndOption(t *testing.T) {
	doc, err := os.ReadFile("../../docs/rehearsal.md")
	must.OK(t, err)
	for word := range namedSteps {
		if !strings.Contains(string(doc), "`"+word) {
			t.Errorf("docs/rehearsal.md has no step %s", word)
		}
		for option := range ownOptions[word] {
			if !strings.Contains(string(doc), option+"=") {
				t.Errorf("docs/rehearsal.md has no option %s of %s", option, word)
			}
		}
	}
	for option := range answerOptions {
		if !strings.Contains(string(doc), "`"+option+"=") {
			t.Errorf("docs/rehearsal.md has no option %s", option)
		}
	}
	if !strings.Contains(string(doc), "`"+defaultMix+"`") {
		t.Error("docs/rehearsal.md has another default mix")
	}
}

// The parser returns for any text; it accepts again what it has accepted, and points at the place of a mistake.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"429(retry-after=2)x2, 200", "tool(bash: (a; b), $(c))", `mix(5%, seed=1, of="500")`, "200(text=`a`, in=1)\n# x\nhang",
		"limit(20/6s, retry-after=none)", "refuse(3s), 200x*", `200(text="\n")`, "usage-limit(resets=3h)", "\xff", "200(then=drop, at=block)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := Parse(text)
		if err != nil {
			wrong, ok := errors.AsType[*SyntaxError](err)
			if !ok {
				t.Fatalf("%q: %v", text, err)
			}
			if wrong.Offset < 0 || wrong.Offset > len(text) {
				t.Fatalf("%q: offset %d", text, wrong.Offset)
			}
			wrong.Caret()
			return
		}
		for _, s := range script.Steps {
			if s.Source == "" || s.Times < 0 || s.Times > maxTimes || s.After < 0 || s.Over < 0 {
				t.Fatalf("%q: %+v", text, s)
			}
		}
		if again, err := Parse(text); err != nil || !reflect.DeepEqual(script, again) {
			t.Fatalf("%q: not the same again", text)
		}
		// A step is also a script, as far as blanks within quotes do not matter.
		if utf8.ValidString(text) && len(script.Steps) == 1 && !strings.ContainsAny(text, "\"`#") {
			if _, err := Parse(script.Steps[0].Source); err != nil {
				t.Fatalf("%q: %q: %v", text, script.Steps[0].Source, err)
			}
		}
	})
}
