package opencode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/opencode"
)

const session = "ses_e23634cffffe7BTx91ERbyKpKO"

func profile(line string) *opencode.Profile {
	return opencode.New(strings.Split("opencode "+line, " "), nil, "")
}

func text(s string) *string { return &s }

func TestHeadless(t *testing.T) {
	for line, want := range map[string]bool{
		"run hi": true, "--print-logs run hi": true, "--log-level DEBUG run hi": true, "run": true, "run --command review": true, "run --unheard-of hi": true,
		"": false, "--version": false, "run --help": false, "run -h": false, "run -i hi": false, "run --mini": false, "auth login": false, "serve": false,
		"mcp list": false, "-- run hi": false, "--continue": false,
	} {
		if got := opencode.New(append([]string{"opencode"}, strings.Fields(line)...), nil, "").Headless(); got != want {
			t.Errorf("opencode %s: headless %v", line, got)
		}
	}
}

func TestPlan(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for name, tt := range map[string]struct {
		line  string
		turn  agent.Turn
		args  string // after run
		stdin string
		plain bool
	}{
		"Prompt":         {"run say hi", agent.Turn{}, "--format json --print-logs say hi", "", false},
		"JSON":           {"run --format json hi", agent.Turn{}, "--print-logs --format json hi", "", false},
		"Default":        {"run hi --format default", agent.Turn{}, "--format json --print-logs hi", "", false},
		"OwnLogs":        {"run --print-logs hi", agent.Turn{}, "--format json --print-logs hi", "", false},
		"Piped":          {"run hi", agent.Turn{Stdin: []byte("input\n")}, "--format json --print-logs hi", "input\n", false},
		"OnlyPiped":      {"run", agent.Turn{Stdin: []byte("input\n")}, "--format json --print-logs", "input\n", false},
		"Beside":         {"run", agent.Turn{Prompt: text("-fix"), Stdin: []byte("input")}, "--format json --print-logs", "-fix\ninput", false},
		"BesideItsOwn":   {"run hi", agent.Turn{Prompt: text("/x")}, "--format json --print-logs hi", "/x", false},
		"Long":           {"run " + long, agent.Turn{Stdin: []byte("input")}, "--format json --print-logs", long + "\ninput", false},
		"Files":          {"run hi -f a b -m x/y", agent.Turn{}, "--format json --print-logs hi -f a b -m x/y", "", false},
		"Dashes":         {"run -m x/y -- -hi", agent.Turn{}, "--format json --print-logs -m x/y -- -hi", "", false},
		"Resume":         {"run hi", agent.Turn{Session: session}, "--format json --print-logs --session " + session + " hi", "", false},
		"ResumeAnother":  {"run -c -s ses_1 hi", agent.Turn{Session: session}, "--format json --print-logs --session " + session + " hi", "", false},
		"Continue":       {"run hi -f a --command review --fork", agent.Turn{Session: session, Continue: true, Prompt: text("go on"), Stdin: []byte("old")}, "--format json --print-logs --session " + session, "go on", false},
		"ContinueTheirs": {"run -s " + session + " hi", agent.Turn{Continue: true, Prompt: text("go on")}, "--format json --print-logs -s " + session, "go on", false},
		"Plain":          {"run hi", agent.Turn{Plain: true}, "hi", "", true},
		"PlainJSON":      {"run --format json hi", agent.Turn{Plain: true}, "--format json hi", "", false},
		"Unknown":        {"run --unheard-of hi", agent.Turn{Prompt: text("more")}, "--unheard-of hi", "more", true},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := profile(tt.line).Plan(tt.turn)
			want := append([]string{"opencode", "run"}, strings.Fields(tt.args)...)
			if err != nil || !slices.Equal(plan.Args, want) || string(plan.Stdin) != tt.stdin || plan.Plain != tt.plain {
				t.Errorf("%v\n%.300q\n%.300q plain %v", err, plan.Args, plan.Stdin, plan.Plain)
			}
		})
	}
}

// opencode quotes words that have a blank in them. So do we where a prompt goes by stdin.
func TestPlan_LongWordsAreQuoted(t *testing.T) {
	long := strings.Repeat(`a "b" `, 3000)
	plan, err := opencode.New([]string{"opencode", "run", "first", long}, nil, "").Plan(agent.Turn{})
	if want := `first "` + strings.ReplaceAll(long, `"`, `\"`) + `"`; err != nil || string(plan.Stdin) != want {
		t.Errorf("%v, %.100q", err, plan.Stdin)
	}
}

func TestPlan_CannotWork(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		turn agent.Turn
		want string
	}{
		"NotASession": {"run hi", agent.Turn{Session: "01a1dc8b-2e9a-7b42-ba45-231e3027132a"}, "is not a session of opencode"},
		"NoSession":   {"run hi", agent.Turn{Continue: true, Prompt: text("go on")}, "no session"},
		"Unknown":     {"run --unheard-of hi", agent.Turn{Session: session, Continue: true, Prompt: text("go on")}, "--unheard-of"},
		"TooLong":     {"run hi", agent.Turn{Stdin: make([]byte, 33<<20)}, "33"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := profile(tt.line).Plan(tt.turn); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// opencode takes the directory from PWD, which a caller that changes directories for it does not set.
func TestPlan_TellsTheDirectory(t *testing.T) {
	plan, err := opencode.New([]string{"opencode", "run", "hi"}, nil, "/src/there").Plan(agent.Turn{})
	if err != nil || !slices.Equal(plan.Env, []string{"PWD=/src/there"}) {
		t.Errorf("%v, %q", err, plan.Env)
	}
	if plan, _ = profile("run hi").Plan(agent.Turn{}); plan.Env != nil {
		t.Errorf("%q", plan.Env)
	}
}

func TestInfo(t *testing.T) {
	for line, want := range map[string]agent.Info{
		"run hi":                            {Form: agent.Text, Prompt: "hi"},
		"run --format json hi":              {Form: agent.Stream, Prompt: "hi"},
		"run -s " + session + " hi":         {Resumes: session, GoesOn: true, Prompt: "hi"},
		"run --fork -s " + session + " hi":  {GoesOn: true, Prompt: "hi"},
		"run -c hi":                         {GoesOn: true, Prompt: "hi"},
		"run --unheard-of hi --format json": {Unknown: "--unheard-of"},
	} {
		got := profile(line).Info()
		if got.Form != want.Form || got.Resumes != want.Resumes || got.GoesOn != want.GoesOn || got.Prompt != want.Prompt || got.Unknown != want.Unknown || (got.Stall == 0) != (want.Unknown != "") {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

func TestIsSession(t *testing.T) {
	for id, want := range map[string]bool{session: true, "ses_": false, "ses_../../x234567890123456": false, "01a1dc8b-2e9a-7b42-ba45-231e3027132a": false, "": false} {
		if opencode.Descriptor.IsSession(id) != want {
			t.Errorf("%q", id)
		}
	}
}
