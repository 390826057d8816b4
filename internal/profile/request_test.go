package profile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
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
		if err != nil {
			t.Fatal(err)
		}
		if got := bound.(agent.Transferable).Request(); got != test.want {
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
		if err != nil {
			t.Fatal(err)
		}
		if got := bound.(agent.Transferable).WithModel("m"); !slices.Equal(got, test.want) {
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
			if err != nil {
				t.Fatal(err)
			}
			plan, err := bound.(agent.Agent).Plan(agent.Turn{})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(plan.Args, prompt) != inline || (string(plan.Stdin) == prompt) == inline {
				t.Errorf("%s, %d bytes: %d on stdin, and %d arguments", cli.Headless(), size, len(plan.Stdin), len(plan.Args))
			}
		}
	}
}
