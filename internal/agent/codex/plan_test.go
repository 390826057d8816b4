package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

func text(s string) *string { return &s }

func TestPlan_Args(t *testing.T) {
	other := "01a1dda8-7fa8-7971-b798-4da275c413bc"
	cont := agent.Turn{Session: thread, Continue: true, Prompt: text("go on")}
	resume := agent.Turn{Session: thread}
	tests := []struct {
		line, want string
		turn       agent.Turn
	}{
		{line: "codex exec hi", want: "codex exec --json hi"},
		{line: "codex e hi", want: "codex e --json hi"},
		{line: "codex exec hi --json", want: "codex exec hi --json"},
		{line: "codex exec --experimental-json hi", want: "codex exec --experimental-json hi"},
		{line: "codex -m exec exec hi", want: "codex -m exec exec --json hi"},
		{line: "codex exec -i a.png b.png -- hi", want: "codex exec --json -i a.png b.png -- hi"},
		{line: "codex exec -i a.png hi", want: "codex exec --json -i a.png hi"}, // hi is an image
		{line: "codex exec -- --json", want: "codex exec --json -- --json"},
		{line: "codex exec -- -dash", want: "codex exec --json -- -dash"},
		{line: "codex exec -", want: "codex exec --json -"},
		{line: "codex exec", want: "codex exec --json"},
		{line: "codex exec hi there", want: "codex exec --json hi there"}, // codex refuses it
		{line: "codex exec --a-new-flag hi", want: "codex exec --a-new-flag hi"},
		{line: "codex login", want: "codex login"},
		{line: "codex exec resume --last hi", want: "codex exec --json resume --last hi"},
		{line: "codex exec resume a-name hi", want: "codex exec --json resume a-name hi"},
		{line: "codex exec resume " + other + " hi", want: "codex exec --json resume " + other + " hi"},
		{line: "codex exec resume --json " + other, want: "codex exec resume --json " + other},

		{line: "codex exec review --uncommitted", want: "codex exec --json review --uncommitted"},
		{line: "codex -m x exec -C d review --base main --title t", want: "codex -m x exec --json -C d review --base main --title t"},
		{line: "codex exec review --json --commit abc", want: "codex exec review --json --commit abc"},
		{line: "codex exec review look", want: "codex exec --json review look"},
		{line: "codex exec review -", want: "codex exec --json review -"},
		{line: "codex exec review", turn: agent.Turn{Prompt: text("p")}, want: "codex exec --json review -"},
		{line: "codex exec review look", turn: agent.Turn{Prompt: text("p")}, want: "codex exec --json review -"},
		{line: "codex exec review --uncommitted", turn: agent.Turn{Plain: true}, want: "codex exec review --uncommitted"},

		{line: "codex exec hi", turn: agent.Turn{Plain: true}, want: "codex exec hi"},
		{line: "codex exec hi", turn: agent.Turn{Prompt: text("-p")}, want: "codex exec --json hi"},
		{line: "codex exec", turn: agent.Turn{Prompt: text("/p")}, want: "codex exec --json"},
		{line: "codex exec -i a.png", turn: agent.Turn{Prompt: text("p")}, want: "codex exec --json -i a.png"},
		{line: "codex exec resume " + other + " hi", turn: agent.Turn{Prompt: text("p")}, want: "codex exec --json resume " + other + " -"},

		{line: "codex exec hi", turn: resume, want: "codex exec --json resume " + thread + " -"},
		{line: "codex exec -- hi", turn: resume, want: "codex exec --json resume " + thread + " -"},
		{line: "codex exec -", turn: resume, want: "codex exec --json resume " + thread + " -"},
		{line: "codex exec -C d -s read-only --color never -o f hi --output-schema s", turn: resume,
			want: "codex exec --json -C d -s read-only --color never -o f --output-schema s resume " + thread + " -"},
		{line: "codex -a never -m x exec --skip-git-repo-check hi", turn: resume,
			want: "codex -a never -m x exec --json --skip-git-repo-check resume " + thread + " -"},
		{line: "codex exec -i a.png b.png -m x hi", turn: resume, want: "codex exec --json -m x resume -i a.png -i b.png " + thread + " -"},
		{line: "codex exec -i a.png -m x hi", turn: cont, want: "codex exec --json -m x resume " + thread + " -"},
		{line: "codex exec --json hi", turn: cont, want: "codex exec --json resume " + thread + " -"},
		{line: "codex exec -m x resume --last --all -i a.png -c k=v hi", turn: resume,
			want: "codex exec --json -m x resume -i a.png -c k=v " + thread + " -"},
		{line: "codex exec resume " + other + " hi", turn: resume, want: "codex exec --json resume " + thread + " -"},
		{line: "codex exec resume " + other + " hi", turn: cont, want: "codex exec --json resume " + thread + " -"},
		{line: "codex exec resume " + other + " hi", turn: agent.Turn{Continue: true, Prompt: text("go on")}, want: "codex exec --json resume " + other + " -"},
		{line: "codex exec hi", turn: agent.Turn{Session: thread, Plain: true}, want: "codex exec resume " + thread + " -"},
	}
	for _, tt := range tests {
		args := words(tt.line)
		plan, err := New(args, nil, "").Plan(tt.turn)
		if got := strings.Join(plan.Args, " "); err != nil || got != tt.want {
			t.Errorf("%s, %+v:\n got %s, %v\nwant %s", tt.line, tt.turn, got, err, tt.want)
		}
		if strings.Join(args, " ") != tt.line {
			t.Errorf("%s: the caller's arguments are %q now", tt.line, args)
		}
		added := slices.Contains(plan.Args, optJSON) && !slices.Contains(words(tt.line), optJSON)
		if (len(plan.Added) == 1) != (added || strings.Contains(tt.line, "-- --json")) {
			t.Errorf("%s: added %q", tt.line, plan.Added)
		}
	}
}

func TestPlan_Stdin(t *testing.T) {
	long := strings.Repeat("x", agent.MaxArgument+1)
	p := text("-p\n")
	piped := []byte("piped")
	tests := map[string]struct {
		args []string
		turn agent.Turn
		last string // of the arguments
		want string // on stdin
	}{
		"nothing":                       {words("codex exec hi"), agent.Turn{}, "hi", ""},
		"a long argument":               {[]string{"codex", "exec", long}, agent.Turn{}, "-", long},
		"a long argument after --":      {[]string{"codex", "exec", "--", long}, agent.Turn{}, "-", long},
		"a long argument, piped":        {[]string{"codex", "exec", long}, agent.Turn{Stdin: piped}, "-", long + "\n\n<stdin>\npiped\n</stdin>"},
		"a long argument, blanks piped": {[]string{"codex", "exec", long}, agent.Turn{Stdin: []byte(" \n")}, "-", long},
		"a long argument to resume":     {[]string{"codex", "exec", "resume", thread, long}, agent.Turn{Stdin: piped}, "-", long},
		"argument, piped":               {words("codex exec hi"), agent.Turn{Stdin: piped}, "hi", "piped"},
		"argument, prompt":              {words("codex exec hi"), agent.Turn{Prompt: p}, "hi", "-p\n"},
		"argument, prompt, piped":       {words("codex exec hi"), agent.Turn{Prompt: p, Stdin: piped}, "hi", "-p\n\n\npiped"},
		"prompt":                        {words("codex exec"), agent.Turn{Prompt: p}, "--json", "-p\n"},
		"prompt, piped":                 {words("codex exec"), agent.Turn{Prompt: p, Stdin: piped}, "--json", "-p\n\n\n<stdin>\npiped\n</stdin>"},
		"- and prompt":                  {words("codex exec -"), agent.Turn{Prompt: p}, "-", "-p\n"},
		"piped":                         {words("codex exec"), agent.Turn{Stdin: piped}, "--json", "piped"},
		"resume ignores what is piped":  {words("codex exec resume --last hi"), agent.Turn{Stdin: piped}, "hi", ""},
		"resume reads what is piped":    {words("codex exec resume --last"), agent.Turn{Stdin: piped}, "--last", "piped"},
		"resume with more":              {words("codex exec resume --last hi"), agent.Turn{Prompt: text("p")}, "-", "hi\n\n<stdin>\np\n</stdin>"},
		"session":                       {words("codex exec hi"), agent.Turn{Session: thread}, "-", "hi"},
		"session, piped":                {words("codex exec hi"), agent.Turn{Session: thread, Stdin: piped}, "-", "hi\n\n<stdin>\npiped\n</stdin>"},
		"session, all":                  {words("codex exec hi"), agent.Turn{Session: thread, Prompt: text("p"), Stdin: piped}, "-", "hi\n\n<stdin>\np\n\npiped\n</stdin>"},
		"session, piped only":           {words("codex exec -"), agent.Turn{Session: thread, Stdin: piped}, "-", "piped"},
		"continue":                      {words("codex exec hi"), agent.Turn{Session: thread, Continue: true, Prompt: p, Stdin: piped}, "-", "-p\n"},
		"review":                        {words("codex exec review --uncommitted"), agent.Turn{Stdin: piped}, "--uncommitted", ""},
		"review, instructions":          {words("codex exec review look"), agent.Turn{Stdin: piped}, "look", ""},
		"review, piped":                 {words("codex exec review -"), agent.Turn{Stdin: piped}, "-", "piped"},
		"review, prompt":                {words("codex exec review"), agent.Turn{Prompt: p}, "-", "-p\n"},
		"review, a long argument":       {[]string{"codex", "exec", "review", long}, agent.Turn{}, "-", long},
		"review, both":                  {words("codex exec review look"), agent.Turn{Prompt: text("p")}, "-", "look\n\n<stdin>\np\n</stdin>"},
		"unknown flag":                  {words("codex exec --new hi"), agent.Turn{Prompt: p}, "hi", "-p\n"},
		"unknown flag, piped":           {words("codex exec --new hi"), agent.Turn{Stdin: piped}, "hi", "piped"},
	}
	for name, tt := range tests {
		plan, err := New(tt.args, nil, "").Plan(tt.turn)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if last := plan.Args[len(plan.Args)-1]; last != tt.last || string(plan.Stdin) != tt.want {
			t.Errorf("%s: %q, on stdin %.60q", name, last, plan.Stdin)
		}
		if (tt.want == "") != (plan.Stdin == nil) {
			t.Errorf("%s: stdin is %#v", name, plan.Stdin)
		}
	}
}

func TestPlan_Refuses(t *testing.T) {
	tests := map[string]struct {
		line string
		turn agent.Turn
		want string
	}{
		"a name":                {"codex exec hi", agent.Turn{Session: "my-session"}, "no session of codex"},
		"nothing to continue":   {"codex exec hi", agent.Turn{Continue: true, Prompt: text("go on")}, "no session"},
		"a flag nobody knows":   {"codex exec --new hi", agent.Turn{Session: thread}, "--new"},
		"a review to resume":    {"codex exec review --uncommitted", agent.Turn{Session: thread}, "review"},
		"a review to continue":  {"codex exec review --uncommitted", agent.Turn{Session: thread, Continue: true, Prompt: text("go on")}, "review"},
		"over the limit":        {"codex exec", agent.Turn{Prompt: text(strings.Repeat("é", maxChars+1))}, "1,048,576 characters and this one has 1,048,577"},
		"over the limit, piped": {"codex exec hi", agent.Turn{Stdin: bytes.Repeat([]byte("x"), maxChars-10)}, "1,048,587"},
		"over it when resumed":  {"codex exec hi", agent.Turn{Session: thread, Stdin: bytes.Repeat([]byte("x"), maxChars)}, "characters"},
	}
	for name, tt := range tests {
		if _, err := New(words(tt.line), nil, "").Plan(tt.turn); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What codex takes is not refused.
func TestPlan_UpToTheLimit(t *testing.T) {
	for name, prompt := range map[string]string{
		"ASCII":  strings.Repeat("x", maxChars),
		"é":      strings.Repeat("é", maxChars),
		"a BOM":  "\ufeff" + strings.Repeat("x", maxChars),
		"UTF-16": "\xff\xfe" + strings.Repeat("x\x00", maxChars),
	} {
		if _, err := New(words("codex exec"), nil, "").Plan(agent.Turn{Stdin: []byte(prompt)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The worktree that an attempt has made is gone back to: codex refuses to make one for a session that it resumes, and
// would go on in the directory it is started in.
func TestPlan_Worktree(t *testing.T) {
	home := t.TempDir()
	record := filepath.Join(home, "sessions", "2026", "11", "15", "rollout-2026-11-15T05-22-49-"+thread+".jsonl")
	must.OK(t, os.MkdirAll(filepath.Dir(record), 0o700))
	meta := `{"timestamp":"2026-11-15T05:22:49.215Z","type":"session_meta","payload":{"id":"` + thread + `","cwd":"/work \"trees\"/f7c7/repo","cli_version":"0.166.0"}}` + "\n"
	must.OK(t, os.WriteFile(record, []byte(meta), 0o600))
	p := New(words("codex exec --worktree -C repo hi"), []string{"CODEX_HOME=" + home}, "")
	plan, err := p.Plan(agent.Turn{Session: thread, Continue: true, Prompt: text("go on")})
	want := []string{"codex", "exec", "--json", "-C", `/work "trees"/f7c7/repo`, "resume", thread, "-"}
	if err != nil || !slices.Equal(plan.Args, want) {
		t.Errorf("%q, %v", plan.Args, err)
	}
}
