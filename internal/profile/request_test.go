package profile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// What a command line asks for is told to another CLI only as far as that is exactly the same there.
func TestRequest(t *testing.T) {
	for _, test := range []struct {
		args []string
		want agent.Request
	}{
		{[]string{"claude", "-p", "hi"}, agent.Request{Prompt: "hi"}},
		{[]string{"claude", "-p", "hi", "--model", "opus", "--effort=high", "--verbose", "--output-format", "json", "-d", "api"}, agent.Request{Prompt: "hi", Model: "opus"}},
		{[]string{"claude", "-p", "--dangerously-skip-permissions", "hi"}, agent.Request{Prompt: "hi", AllowAll: true}},
		{[]string{"claude", "-p", "hi", "--permission-mode", "bypassPermissions", "--no-session-persistence"}, agent.Request{Prompt: "hi", AllowAll: true, NoSession: true}},
		{[]string{"claude", "-p", "hi", "--permission-mode=plan"}, agent.Request{Prompt: "hi", Own: "--permission-mode"}},
		{[]string{"claude", "-p", "hi", "--permission-mode=plan", "--permission-mode", "bypassPermissions"}, agent.Request{Prompt: "hi", AllowAll: true, Own: "--permission-mode"}},
		{[]string{"claude", "-p", "hi", "--disallowed-tools", "Bash"}, agent.Request{Prompt: "hi", Own: "--disallowed-tools"}},
		{[]string{"claude", "-p", "hi", "--max-turns", "3"}, agent.Request{Prompt: "hi", Own: "--max-turns"}},
		{[]string{"claude", "-p", "hi", "--settings", "x.json"}, agent.Request{Prompt: "hi", Own: "--settings"}},
		{[]string{"claude", "-p", "hi", "--append-system-prompt", "Be careful."}, agent.Request{Prompt: "hi", Own: "--append-system-prompt"}},
		{[]string{"claude", "-p", "hi", "--new-in-3.0=x"}, agent.Request{Prompt: "hi", Own: "--new-in-3.0"}},
		{[]string{"claude", "-p", "/review 12"}, agent.Request{Prompt: "/review 12", Own: "/review"}},
		{[]string{"node", "claude", "-p", "hi", "--add-dir", ".."}, agent.Request{Prompt: "hi", Own: "--add-dir"}},

		{[]string{"codex", "exec", "hi"}, agent.Request{Prompt: "hi"}},
		{[]string{"codex", "exec", "-"}, agent.Request{}},
		{[]string{"codex", "-m", "gpt-5", "exec", "-C", "/there", "--skip-git-repo-check", "--json", "hi"}, agent.Request{Prompt: "hi", Dir: "/there", Model: "gpt-5"}},
		{[]string{"codex", "exec", "--yolo", "--ephemeral", "hi"}, agent.Request{Prompt: "hi", AllowAll: true, NoSession: true}},
		{[]string{"codex", "-s", "read-only", "exec", "hi"}, agent.Request{Prompt: "hi", Own: "-s"}},
		{[]string{"codex", "exec", "--sandbox=read-only", "hi"}, agent.Request{Prompt: "hi", Own: "--sandbox"}},
		{[]string{"codex", "exec", "-c", "sandbox_mode=read-only", "hi"}, agent.Request{Prompt: "hi", Own: "-c"}},
		{[]string{"codex", "exec", "-o", "last.txt", "hi"}, agent.Request{Prompt: "hi", Own: "-o"}},
		{[]string{"codex", "exec", "resume", "--last", "hi"}, agent.Request{Prompt: "hi", Own: "resume"}},
		{[]string{"codex", "exec", "review"}, agent.Request{Own: "review"}},

		{[]string{"gemini", "-p", "hi", "-m", "flash", "-o", "text"}, agent.Request{Prompt: "hi", Model: "flash"}},
		{[]string{"gemini", "-p", "hi", "--yolo"}, agent.Request{Prompt: "hi", Own: "--yolo"}},
		{[]string{"gemini", "-p", "hi", "-s"}, agent.Request{Prompt: "hi", Own: "-s"}},

		{[]string{"opencode", "run", "say", "hi there", "--dir", "sub", "-m", "a/b"}, agent.Request{Prompt: "say hi there", Dir: "sub", Model: "a/b"}},
		{[]string{"opencode", "run", "--auto", "hi"}, agent.Request{Prompt: "hi", AllowAll: true}},
		{[]string{"opencode", "run", "--agent", "plan", "hi"}, agent.Request{Prompt: "hi", Own: "--agent"}},
	} {
		name := test.args[0]
		if name == "node" {
			name = test.args[1]
		}
		bound, err := profile.Bind(name, test.args, []string{"HOME=/nowhere"}, "")
		must.OK(t, err)
		if got := bound.(agent.Agent).Info().Request(); got != test.want {
			t.Errorf("%q: %+v, want %+v", test.args, got, test.want)
		}
	}
}

// Another model takes the place of the one that a command line names, wherever that stands, and all else stays.
func TestWithModel(t *testing.T) {
	for _, test := range []struct{ args, want []string }{
		{[]string{"claude", "-p", "hi"}, []string{"claude", "--model", "m", "-p", "hi"}},
		{[]string{"/bin/claude", "-p", "--model=opus", "hi", "--disallowedTools", "Bash"}, []string{"/bin/claude", "--model", "m", "-p", "hi", "--disallowedTools", "Bash"}},
		{[]string{"node", "claude", "-p", "hi", "--model", "opus"}, []string{"node", "claude", "--model", "m", "-p", "hi"}},
		{[]string{"codex", "-m", "a", "exec", "--model", "b", "-s", "read-only", "hi"}, []string{"codex", "exec", "--model", "m", "-s", "read-only", "hi"}},
		{[]string{"gemini", "-m", "a", "-p", "hi"}, []string{"gemini", "-m", "m", "-p", "hi"}},
		{[]string{"opencode", "--pure", "run", "hi", "-m", "a/b"}, []string{"opencode", "--pure", "run", "--model", "m", "hi"}},
	} {
		name := test.args[0]
		switch name {
		case "node", "/bin/claude":
			name = "claude"
		}
		bound, err := profile.Bind(name, test.args, []string{"HOME=/nowhere"}, "")
		must.OK(t, err)
		if got := bound.(agent.Agent).Info().WithModel("m"); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.args, got, test.want)
		}
	}
}

// A prompt of more than 10,000 bytes is not in the command line.
func TestPlan_Threshold(t *testing.T) {
	for _, cli := range profile.All() {
		if !cli.IsAgent() {
			continue
		}
		for size, inline := range map[int]bool{10_000: true, 10_001: false, 10_240: false} {
			prompt := strings.Repeat("x", size)
			args := append(strings.Fields(cli.Headless()), prompt)
			bound, err := profile.Bind(cli.Name, args, []string{"HOME=/nowhere"}, "")
			must.OK(t, err)
			plan, err := bound.(agent.Agent).Plan(agent.Turn{})
			must.OK(t, err)
			if slices.Contains(plan.Args, prompt) != inline || (string(plan.Stdin) == prompt) == inline {
				t.Errorf("%s, %d bytes: %d on stdin, and %d arguments", cli.Headless(), size, len(plan.Stdin), len(plan.Args))
			}
		}
	}
}

// A CLI that prints text, and ends with 0, has not answered a caller whose own arguments ask for JSON or events. To one who asked for text it may have.
func TestJudge_WrongForm(t *testing.T) {
	const page = "<html><body>Bad gateway</body></html>\n"
	for _, test := range []struct {
		args, stdout string
		want         verdict.Class
	}{
		{"claude -p hi", page, verdict.OK},
		{"claude -p hi --output-format text", page, verdict.OK},
		{"claude -p hi --output-format json", page, verdict.BadOutput},
		{"claude -p hi --output-format=stream-json --verbose", "Service unavailable\n" + page, verdict.BadOutput},
		{"claude -p hi --output-format json", `{"answer":42}` + "\n", verdict.OK},
		{"claude -p hi --output-format json", "a warning\n{\n  \"answer\": 42\n}\n", verdict.OK},
		{"codex exec hi", page, verdict.OK},
		{"codex exec --json hi", page, verdict.BadOutput},
		{"gemini -p hi", page, verdict.OK},
		{"gemini -p hi -o json", page, verdict.BadOutput},
		{"gemini -p hi -o stream-json", page, verdict.BadOutput},
		{"opencode run hi", page, verdict.OK},
		{"opencode run --format json hi", page, verdict.BadOutput},
	} {
		args := strings.Fields(test.args)
		bound, err := profile.Bind(args[0], args, []string{"HOME=/nowhere"}, "")
		must.OK(t, err)
		o := verdict.Outcome{Argv: args, Stdout: verdict.ExcerptOf(test.stdout)}
		if got := bound.Judge(o, time.Now()); got.Class != test.want || got.Retryable != (test.want == verdict.BadOutput) {
			t.Errorf("%s printing %q: %+v, want %s", test.args, test.stdout, got, test.want)
		}
		// As it runs, with the options that Belay adds.
		a := bound.(agent.Agent)
		plan, err := a.Plan(agent.Turn{})
		must.OK(t, err)
		f := a.Follow(plan)
		if got := agent.Replay(f, verdict.Outcome{Argv: args, Stdout: o.Stdout}, time.Now()); test.want == verdict.BadOutput && got.Class != test.want {
			t.Errorf("%s printing %q as it runs: %+v", test.args, test.stdout, got)
		}
	}
	// A result that is cut off behind events is no interruption.
	claude, err := profile.Bind("claude", []string{"claude", "-p", "hi"}, []string{"HOME=/nowhere"}, "")
	must.OK(t, err)
	begins := `{"type":"system","subtype":"init","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66","model":"m"}` + "\n"
	for stdout, want := range map[string]verdict.Class{begins + `{"type":"result","subtype":"success","is_error":fal`: verdict.BadOutput, begins: verdict.Interrupted} {
		if got := claude.Judge(verdict.Outcome{Stdout: verdict.ExcerptOf(stdout)}, time.Now()); got.Class != want {
			t.Errorf("%q: %+v, want %s", stdout, got, want)
		}
	}
}
