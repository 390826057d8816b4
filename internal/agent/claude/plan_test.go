package claude

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

const (
	someID  = "11111111-1111-4111-8111-111111111111"
	otherID = "22222222-2222-4222-8222-222222222222"
)

func ptr[T any](v T) *T { return &v }

// added is what every command line gets.
const added = "--verbose --include-partial-messages --output-format stream-json"

func TestPlan_Args(t *testing.T) {
	resume := agent.Turn{Session: someID}
	goOn := agent.Turn{Session: someID, Continue: true, Prompt: ptr("go on")}
	long := strings.Repeat("x", agent.MaxArgument+1)
	for _, c := range []struct {
		args, want string
		turn       agent.Turn
		stdin      string
	}{
		{args: "-p hi", want: added + " -p hi"},
		{args: "--print hi", want: added + " --print hi"},
		{args: "hi -p", want: added + " hi -p"},
		{args: "-p -- -hi", want: added + " -p -- -hi"},
		{args: "-p -- --output-format", want: added + " -p -- --output-format"},
		{args: "-p /review", want: added + " -p /review"},
		{args: "-p", want: added + " -p", turn: agent.Turn{Stdin: []byte("piped")}, stdin: "piped"},
		{args: "-p hi", want: added + " -p hi", turn: agent.Turn{Stdin: []byte("piped")}, stdin: "piped"},

		// forms of output
		{args: "-p --output-format text hi", want: added + " -p hi"},
		{args: "-p --output-format=json hi", want: added + " -p hi"},
		{args: "-p hi --output-format json", want: added + " -p hi"},
		{args: "-p --output-format stream-json --verbose hi", want: "--include-partial-messages --output-format stream-json -p --verbose hi"},
		{args: "-p --output-format stream-json --verbose --include-partial-messages hi", want: "--output-format stream-json -p --verbose --include-partial-messages hi"},
		{args: "-p --verbose hi", want: "--include-partial-messages --output-format stream-json -p --verbose hi"},
		{args: "-p --output-format json --output-format text hi", want: added + " -p hi"},

		// left alone: unknown, an array of events, wrong in itself
		{args: "-p --no-such-flag hi", want: "-p --no-such-flag hi"},
		{args: "-p --output-format json --verbose hi", want: "-p --output-format json --verbose hi"},
		{args: "-p --output-format stream-json hi", want: "-p --output-format stream-json hi"},
		{args: "-p --output-format yaml hi", want: "-p --output-format yaml hi"},
		{args: "-p hi", want: "-p hi", turn: agent.Turn{Plain: true}},
		{args: "-p hi --model", want: "-p hi --model"},

		// options that take what follows
		{args: "-p hi --allowedTools Bash Read", want: added + " -p hi --allowedTools Bash Read"},
		{args: "--allowedTools Bash -p hi", want: added + " --allowedTools Bash -p hi"},
		{args: "-p --add-dir a b -- hi", want: added + " -p --add-dir a b -- hi"},
		{args: "-p --mcp-config a.json --strict-mcp-config hi", want: added + " -p --mcp-config a.json --strict-mcp-config hi"},
		{args: "-p --model opus hi", want: added + " -p --model opus hi"},
		{args: "-p --model=opus hi", want: added + " -p --model=opus hi"},
		{args: "-p --resume " + otherID + " hi", want: added + " -p --resume " + otherID + " hi"},

		// sessions
		{args: "-p hi", turn: resume, want: "--resume " + someID + " " + added + " -p hi"},
		{args: "-p -r " + otherID + " hi", turn: resume, want: "--resume " + someID + " " + added + " -p hi"},
		{args: "-p --resume=" + otherID + " --fork-session hi", turn: resume, want: "--resume " + someID + " " + added + " -p hi"},
		{args: "-c -p hi", turn: resume, want: "--resume " + someID + " " + added + " -p hi"},
		{args: "-p --session-id " + otherID + " hi", turn: resume, want: "--resume " + someID + " " + added + " -p hi"},
		{args: "-p --session-id " + otherID + " hi", want: added + " -p --session-id " + otherID + " hi"},
		{args: "-p --resume", turn: resume, want: "--resume " + someID + " " + added + " -p"},
		{args: "-p --no-such-flag hi", turn: resume, want: "--resume=" + someID + " -p --no-such-flag hi"},

		// another attempt in the same session: the prompt is not said again, nor is the input
		{args: "-p hi", turn: goOn, want: "--resume " + someID + " " + added + " -p", stdin: "go on"},
		{args: "-p -- -hi", turn: goOn, want: "--resume " + someID + " " + added + " -p --", stdin: "go on"},
		{args: "-p hi --allowedTools Bash", turn: goOn, want: "--resume " + someID + " " + added + " -p --allowedTools Bash", stdin: "go on"},
		{args: "-p --session-id " + someID, turn: goOn, want: "--resume " + someID + " " + added + " -p", stdin: "go on"},
		{args: "-c -p hi", turn: goOn, want: "--resume " + someID + " " + added + " -p", stdin: "go on"},

		// a prompt beside the command line is text
		{args: "-p", turn: agent.Turn{Prompt: ptr("hi")}, want: added + " -p", stdin: "hi"},
		{args: "-p", turn: agent.Turn{Prompt: ptr("-hi")}, want: added + " -p", stdin: "-hi"},
		{args: "-p", turn: agent.Turn{Prompt: ptr("/hi")}, want: added + " -p", stdin: "\n/hi"},
		{args: "-p first", turn: agent.Turn{Prompt: ptr("/hi")}, want: added + " -p first", stdin: "/hi"},
		{args: "-p", turn: agent.Turn{Prompt: ptr("hi "), Stdin: []byte("there")}, want: added + " -p", stdin: "hi there"},
		{args: "-p --no-such-flag", turn: agent.Turn{Prompt: ptr("/hi")}, want: "-p --no-such-flag", stdin: "\n/hi"},

		// long ones travel by stdin
		{args: "-p " + long, want: added + " -p", stdin: long},
		{args: "-p -- " + long, want: added + " -p --", stdin: long},
		{args: "-p " + long, turn: agent.Turn{Stdin: []byte("piped")}, want: added + " -p", stdin: long + "\npiped"},
		{args: "-p " + long, turn: agent.Turn{Prompt: ptr("more")}, want: added + " -p", stdin: long + "\nmore"},
		{args: "-p " + long, turn: goOn, want: "--resume " + someID + " " + added + " -p", stdin: "go on"},

		// what a whole run may use is less after an attempt
		{args: "-p --max-turns 5 hi", turn: agent.Turn{Session: someID, Turns: 2}, want: "--resume " + someID + " --verbose --include-partial-messages --max-turns 3 --output-format stream-json -p hi"},
		{args: "-p --max-budget-usd=1 hi", turn: agent.Turn{Session: someID, Spent: 0.25}, want: "--resume " + someID + " --verbose --include-partial-messages --max-budget-usd 0.75 --output-format stream-json -p hi"},
		{args: "-p --max-turns abc hi", turn: agent.Turn{Turns: 2}, want: added + " -p hi"},
	} {
		args := append([]string{"claude"}, strings.Fields(c.args)...)
		plan, err := New(args, []string{}).Plan(c.turn)
		if err != nil {
			t.Errorf("%.60s: %v", c.args, err)
			continue
		}
		if got := strings.Join(plan.Args[1:], " "); got != c.want || plan.Args[0] != "claude" {
			t.Errorf("claude %.80s\n\tbecomes %.200s\n\tand not %.200s", c.args, got, c.want)
		}
		if string(plan.Stdin) != c.stdin {
			t.Errorf("claude %.80s: stdin is %.80q, want %.80q", c.args, plan.Stdin, c.stdin)
		}
		for _, a := range plan.Added {
			if !slices.Contains(plan.Args, a) {
				t.Errorf("claude %.80s: %q was not added", c.args, a)
			}
		}
	}
}

func TestPlan_TooLarge(t *testing.T) {
	big := strings.Repeat("x", MaxInput)
	for name, turn := range map[string]agent.Turn{
		"prompt": {Prompt: ptr(big + "x")},
		"stdin":  {Stdin: []byte(big + "x")},
		"both":   {Prompt: ptr("xx"), Stdin: []byte(big[1:])},
	} {
		if _, err := New([]string{"claude", "-p"}, nil).Plan(turn); err == nil || !strings.Contains(err.Error(), "33554432") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New([]string{"claude", "-p"}, nil).Plan(agent.Turn{Prompt: &big}); err != nil {
		t.Errorf("just what fits: %v", err)
	}
}

// A cap that is used up ends it: claude takes no 0.
func TestPlan_UsedUp(t *testing.T) {
	for args, turn := range map[string]agent.Turn{
		"-p --max-turns 2 hi":        {Turns: 2},
		"-p --max-budget-usd 0.5 hi": {Spent: 0.6},
	} {
		_, err := New(append([]string{"claude"}, strings.Fields(args)...), nil).Plan(turn)
		if used := (*agent.UsedUp)(nil); !errors.As(err, &used) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestPlan_MaxRetries(t *testing.T) {
	for _, c := range []struct {
		n    *int
		env  []string
		want string
	}{
		{nil, nil, ""},
		{ptr(0), nil, "CLAUDE_CODE_MAX_RETRIES=0"},
		{ptr(3), nil, "CLAUDE_CODE_MAX_RETRIES=3"},
		{ptr(100), nil, "CLAUDE_CODE_MAX_RETRIES=15"},
		{ptr(3), []string{"CLAUDE_CODE_MAX_RETRIES=1"}, ""}, // the user's own
	} {
		for _, args := range [][]string{{"claude", "-p", "hi"}, {"claude", "-p", "hi", "--no-such-flag"}} {
			plan, err := New(args, append([]string{}, c.env...)).Plan(agent.Turn{MaxRetries: c.n})
			if got := strings.Join(plan.Env, " "); err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		}
	}
}

// The caller's own slices stay as they are.
func TestPlan_ChangesNothing(t *testing.T) {
	args := []string{"claude", "-p", "--session-id", someID, "hi", "--max-turns", "4"}
	stdin := []byte("piped")
	before := slices.Clone(args)
	p := New(args, []string{})
	for _, turn := range []agent.Turn{{Stdin: stdin}, {Stdin: stdin, Prompt: ptr("more")}, {Session: someID, Continue: true, Prompt: ptr("go on"), Turns: 1}} {
		if _, err := p.Plan(turn); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(args, before) || string(stdin) != "piped" {
		t.Errorf("%q, %q", args, stdin)
	}
}

func TestHeadless(t *testing.T) {
	for args, want := range map[string]bool{
		"-p hi": true, "--print hi": true, "hi -p": true, "--no-such -p": true, "-pc hi": true, "-cp hi": true,
		"": false, "hi": false, "mcp list": false, "-c": false, "-- -p": false, "--no-such -- -p": false, "--no-such": false, "--model -p": false, "update": false,
	} {
		if got := New(append([]string{"claude"}, strings.Fields(args)...), []string{}).Headless(); got != want {
			t.Errorf("claude %s: %v", args, got)
		}
	}
}

func TestInfo(t *testing.T) {
	traits := func(args string, env ...string) agent.Info {
		return New(append([]string{"claude"}, strings.Fields(args)...), append([]string{"HOME=/h"}, env...)).Info()
	}
	for args, form := range map[string]agent.Form{"-p": agent.Text, "-p --output-format json": agent.JSON, "-p --output-format=stream-json --verbose": agent.Stream,
		"-p --output-format text": agent.Text} {
		if got := traits(args); got.Form != form || got.Stall == 0 || got.ToolStall <= got.Stall || len(got.Ladder) < 2 || got.MaxInput != MaxInput {
			t.Errorf("%s: %+v", args, got)
		}
	}
	if got := traits("-p --no-such"); got.Unknown != "--no-such" || got.Stall != 0 {
		t.Errorf("no life can be seen: %+v", got)
	}
	for args, want := range map[string]string{"-p -r " + someID: someID, "-p --resume=" + someID: someID, "-p -r " + someID + " --fork-session": "", "-p -c": "", "-p --resume": "", "-p": ""} {
		if got := traits(args); got.Resumes != want || got.GoesOn != (args != "-p") || got.Fixed != "" {
			t.Errorf("%s: resumes %q, goes on %v, fixed %q", args, got.Resumes, got.GoesOn, got.Fixed)
		}
	}
	if got := traits("-p --session-id " + someID); got.Fixed != someID || got.GoesOn {
		t.Errorf("%+v", got)
	}
	if !traits("-p hi").HasPrompt || traits("-p").HasPrompt || !traits("-p -- -hi").HasPrompt || traits("-p --allowedTools Bash").HasPrompt {
		t.Error("whether there is a prompt")
	}
	if !traits("-p --input-format stream-json --output-format stream-json --verbose").Once || traits("-p --input-format text").Once {
		t.Error("whether stdin is a conversation")
	}
}

// Command lines that share a limit share a gate, and no credential is in its name.
func TestInfo_Gate(t *testing.T) {
	gate := func(env ...string) string {
		return New([]string{"claude", "-p"}, append([]string{"HOME=/h"}, env...)).Info().Gate
	}
	const secret = "sk-ant-secret"
	a := gate("ANTHROPIC_API_KEY=" + secret)
	if !strings.HasPrefix(a, "claude:api.anthropic.com:") || strings.Contains(a, "secret") || a != gate("ANTHROPIC_API_KEY="+secret, "HOME=/other") {
		t.Error(a)
	}
	for name, other := range map[string]string{
		"another key":   gate("ANTHROPIC_API_KEY=other"),
		"another host":  gate("ANTHROPIC_API_KEY="+secret, "ANTHROPIC_BASE_URL=http://127.0.0.1:1"),
		"a cloud":       gate("ANTHROPIC_API_KEY="+secret, "CLAUDE_CODE_USE_BEDROCK=1"),
		"logged in":     gate(),
		"another home":  gate("HOME=/other"),
		"a token":       gate("CLAUDE_CODE_OAUTH_TOKEN=" + secret + "x"),
		"configuration": gate("CLAUDE_CONFIG_DIR=/c"),
	} {
		if other == a {
			t.Errorf("%s has the same gate %s", name, a)
		}
	}
	if gate("CLAUDE_CODE_USE_BEDROCK=0", "ANTHROPIC_API_KEY="+secret) != a {
		t.Error("a cloud that is turned off")
	}
	if got := gate("ANTHROPIC_BASE_URL=https://user:password@proxy.example:8443/v1"); !strings.HasPrefix(got, "claude:proxy.example:8443:") {
		t.Error(got)
	}
}
