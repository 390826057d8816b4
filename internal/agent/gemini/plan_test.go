package gemini

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

const id = "9d1c5b1e-0f2b-4b0e-8b55-2f2f6d9f7a11"

func words(line string) []string { return strings.Fields(line) }

func pointer(s string) *string { return &s }

func TestPlan(t *testing.T) {
	long := strings.Repeat("long ", 3000)
	for name, tt := range map[string]struct {
		args  []string
		turn  agent.Turn
		want  []string
		stdin string
		plain bool
	}{
		"text":                 {args: words("-p hi"), want: words("-o stream-json -p hi")},
		"text by name":         {args: words("-p hi -o text -y"), want: words("-o stream-json -p hi -y")},
		"json stays":           {args: words("-p hi -o json"), want: words("--session-id NEW -p hi -o json"), plain: true},
		"events stay":          {args: words("--prompt=hi --output-format stream-json"), want: words("--prompt=hi --output-format stream-json")},
		"a form of its own":    {args: words("-p hi -o xml"), want: words("-p hi -o xml"), plain: true},
		"piped input":          {args: words("-p hi"), turn: agent.Turn{Stdin: []byte("pears")}, want: words("-o stream-json -p hi"), stdin: "pears"},
		"a long prompt":        {args: []string{"-m", "x", "-p", long}, turn: agent.Turn{Stdin: []byte("pears")}, want: words("-o stream-json -m x"), stdin: "pears\n\n" + long},
		"a long positional":    {args: []string{"-y", long}, want: words("-o stream-json -y"), stdin: long},
		"a prompt of ours":     {args: words("-p hi"), turn: agent.Turn{Prompt: pointer("--help")}, want: words("-o stream-json -p hi"), stdin: "--help"},
		"instead of theirs":    {args: words("-p -m x"), turn: agent.Turn{Prompt: pointer("--help")}, want: words("-o stream-json -m x"), stdin: "--help"},
		"theirs is missing":    {args: words("-m x -p"), want: words("-o stream-json -m x -p")},
		"that is no command":   {args: words("-p hi"), turn: agent.Turn{Prompt: pointer("/quit"), Stdin: []byte("pears")}, want: words("-o stream-json -p hi"), stdin: "\n/quit\n\npears"},
		"resumed":              {args: words("-p hi -m x"), turn: agent.Turn{Session: id}, want: words("-r " + id + " -o stream-json -p hi -m x")},
		"resumed in its place": {args: words("--resume latest -p hi"), turn: agent.Turn{Session: id}, want: words("-r " + id + " -o stream-json -p hi")},
		"gone on with":         {args: words("-p hi --session-id x -o json"), turn: agent.Turn{Session: id, Continue: true, Prompt: pointer("Go on."), Stdin: []byte("pears")}, want: words("-r " + id + " -o json"), stdin: "Go on.", plain: true},
		"misunderstood":        {args: words("-p hi"), turn: agent.Turn{Plain: true}, want: words("-p hi"), plain: true},
		"an unknown option":    {args: words("-p hi --no-such"), turn: agent.Turn{Prompt: pointer("more")}, want: words("-p hi --no-such"), stdin: "more", plain: true},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := New(append([]string{"gemini"}, tt.args...), nil, "").Plan(tt.turn)
			must.OK(t, err)
			if i := slices.Index(plan.Args, "--session-id"); i > 0 && agent.IsUUID(plan.Args[i+1]) {
				plan.Args[i+1] = "NEW"
			}
			if want := append([]string{"gemini"}, tt.want...); !slices.Equal(plan.Args, want) {
				t.Errorf("%.300q, want %.300q", plan.Args, want)
			}
			if string(plan.Stdin) != tt.stdin || plan.Plain != tt.plain {
				t.Errorf("stdin %.100q, plain %v", plan.Stdin, plan.Plain)
			}
		})
	}
}

func TestPlan_TooLarge(t *testing.T) {
	p := New(words("gemini -p hi"), nil, "")
	if _, err := p.Plan(agent.Turn{Stdin: make([]byte, MaxInput)}); err != nil {
		t.Error(err)
	}
	for _, turn := range []agent.Turn{{Stdin: make([]byte, MaxInput+1)}, {Prompt: pointer("x"), Stdin: make([]byte, MaxInput-2)}} {
		if _, err := p.Plan(turn); err == nil || !strings.Contains(err.Error(), "8388608") {
			t.Errorf("%v", err)
		}
	}
	if _, err := New(words("gemini -p hi --no-such"), nil, "").Plan(agent.Turn{Session: id}); err == nil {
		t.Error("a line that is not understood cannot be resumed")
	}
}

func TestHeadless(t *testing.T) {
	for line, want := range map[string]bool{
		"gemini -p hi": true, "gemini --prompt=hi -y": true, "gemini --no-such -p hi": true, "gemini -p --help": true,
		"gemini": false, "gemini hi": false, "gemini -i hi": false, "gemini mcp list": false, "gemini --version": false, "gemini -p hi --help": false,
		"gemini --list-sessions": false, "gemini --acp": false, "gemini -- -p": false, "gemini --no-such": false, "gemini extensions install -p": false,
	} {
		if got := New(words(line), nil, "").Headless(); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	for line, want := range map[string]bool{"gemini hi": true, "gemini": true, "gemini mcp list": false, "gemini --version": false, "gemini -i hi": false} {
		if got := New(words(line), []string{"CI=true"}, "").Headless(); got != want {
			t.Errorf("where CI is set, %s: %v", line, got)
		}
	}
}

func TestInfo(t *testing.T) {
	info := func(line string, env ...string) agent.Info { return New(words(line), env, "/work").Info() }
	for line, form := range map[string]agent.Form{"gemini -p hi": agent.Text, "gemini -p hi -o json": agent.JSON, "gemini -p hi --output-format=stream-json": agent.Stream} {
		if i := info(line); i.Form != form || i.Stall == 0 || i.Prompt != "hi" || !i.HasPrompt {
			t.Errorf("%s: %+v", line, i)
		}
	}
	if i := info("gemini -p hi -r " + id); i.Resumes != id || !i.GoesOn {
		t.Errorf("%+v", i)
	}
	if i := info("gemini -p hi -r latest"); i.Resumes != "" || !i.GoesOn {
		t.Errorf("%+v", i)
	}
	if i := info("gemini -p hi --session-id " + id); i.Fixed != id || i.GoesOn {
		t.Errorf("%+v", i)
	}
	if i := info("gemini --no-such -p hi"); i.Stall != 0 || i.Unknown != "--no-such" || !i.HasPrompt {
		t.Errorf("%+v", i)
	}
}

// The gate is that of the account at the service that the call goes to, and holds no credential.
func TestGate(t *testing.T) {
	gate := func(env ...string) string {
		return New(words("gemini -p hi"), append(env, "HOME=/home/me"), "/work").Info().Gate
	}
	key := gate("GEMINI_API_KEY=secret")
	if !strings.HasPrefix(key, "gemini:generativelanguage.googleapis.com:") || strings.Contains(key, "secret") || key == gate("GEMINI_API_KEY=other") {
		t.Error(key)
	}
	for prefix, env := range map[string][]string{
		"gemini:127.0.0.1:4711:":              {"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4711"},
		"gemini:cloudcode-pa.googleapis.com:": {},
		"gemini:aiplatform.googleapis.com:":   {"GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_CLOUD_PROJECT=p"},
	} {
		if got := gate(env...); !strings.HasPrefix(got, prefix) {
			t.Errorf("%q: %s", env, got)
		}
	}
	if gate() == gate("GEMINI_CLI_HOME=/other") {
		t.Error("two logins share a gate")
	}
}
