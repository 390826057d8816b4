//go:build linux

package agents_test

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// codexPatch is a step that changes files.
func codexPatch(body string) string {
	return "tool(bash: `apply_patch <<'EOF'\n*** Begin Patch\n" + body + "*** End Patch\nEOF\n`)"
}

// codexReasoning is an answer that the model has thought about.
var codexReasoning = codexAnswer(`event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"**Looking**\n\nI look at it."},{"type":"summary_text","text":"Done."}],"encrypted_content":"x"}}

` + codexMessage(`{"type":"output_text","text":"Thought.","annotations":[]}`))

// progressRun is a run of codex in text mode.
type progressRun struct {
	script string
	args   []string
	stdin  string
	first  []string // a run before it
	files  map[string]string
	code   int
	after  string // only in versions after that one
	// own says that belay has something to say too: that codex tries again, and why.
	own bool
}

var progressRuns = map[string]progressRun{
	"Answer": {script: "200(in=1234, out=567, cache-read=100)", args: codexWork("say hi")},
	"Tools": {script: `tool(bash: "echo made; exit 3", text="First, a tool."), tool(bash: "printf 'a\nb\n\nc'"), tool(bash: true), 200(in=1000, out=10)`,
		args: codexWork("say hi")},
	"Directories": {script: `tool(exec_command: {"cmd":"pwd","workdir":"/tmp"}), tool(exec_command: {"cmd":"echo \"it's\" $HOME","workdir":"."}), 200`,
		args: codexWork("say hi")},
	"Files": {script: codexPatch("*** Update File: old.txt\n@@\n l10\n-l11\n+L11\n") + ", " + codexPatch("*** Delete File: gone.txt\n") + ", " +
		codexPatch("*** Add File: sub/made.txt\n+one\n+two\n") + ", " + codexPatch("*** Update File: old.txt\n*** Move to: new.txt\n@@\n l30\n-l31\n+L31\n+L31a\n") + ", 200",
		args: codexWork("say hi"), files: map[string]string{"old.txt": numbered(40), "gone.txt": "bye\n"}, after: codexOld},
	"Reasoning":   {script: codexReasoning, args: codexWork("-c", "model_reasoning_summary=detailed", "-c", "model_reasoning_effort=high", "say hi")},
	"Hidden":      {script: codexReasoning, args: codexWork("-c", "hide_agent_reasoning=true", "say hi")},
	"Stdin":       {script: "200(text=\"one\\ntwo\\n\")", args: codexWork("-"), stdin: "say\n\n hi  \n"},
	"Beside":      {script: "200", args: codexWork("-m", "gpt-none", "sum this up"), stdin: "pears and plums"},
	"Long":        {script: `tool(bash: "seq 1 3000"), 200(text="` + strings.Repeat("word ", 2000) + `")`, args: codexWork("say hi")},
	"Sandbox":     {script: "200", args: codexAsk("-s", "workspace-write", "--add-dir", "/usr/share", "-c", "sandbox_workspace_write.network_access=true", "say hi")},
	"Resumed":     {script: "200(in=500, out=50), tool(bash: true), 200(in=700, out=70)", first: codexWork("first"), args: codexWork("resume", "--last", "second")},
	"Review":      {script: "200", args: codexAsk("review", "look at it"), after: codexOld},
	"Refused":     {script: "tool(bash: true, in=100, out=10), 400x*", args: codexWork("say hi"), code: 1},
	"Colours":     {script: codexPatch("*** Add File: made.txt\n+one\n") + ", tool(bash: false), 200", args: codexWork("--color", "always", "say hi"), after: codexOld},
	"ServerError": {script: "500, 200", args: codexWork("say hi")},
	"Throttled":   {script: "429(retry-after=1), drop-mid, 200", args: codexWork("say hi"), after: codexOld, own: true},
}

// In text mode codex tells people on stderr what it does. With belay, which runs it with its events inside, it is the same to the
// byte: the header, the prompt, what it runs and changes, what it thinks, the tokens.
func TestCodex_ProgressAsBare(t *testing.T) {
	everyDay := []string{"Tools", "Stdin"}
	codex.Each(t, true, func(t *testing.T, version string) {
		for name, run := range progressRuns {
			if run.after != "" && stage.UpTo(version, run.after) || !full && !slices.Contains(everyDay, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				bareOut, bareErr := run.play(t, version)
				out, errs := run.play(t, version, "belay", "run", "--")
				if out != bareOut {
					t.Errorf("stdout is\n%s\nand of codex alone\n%s", out, bareOut)
				}
				if run.own {
					errs = ownLines.ReplaceAllString(errs, "")
				}
				if errs != bareErr {
					t.Errorf("stderr is\n%s\nand of codex alone\n%s", errs, bareErr)
				}
			})
		}
	})
}

var ownLines = regexp.MustCompile(`(?m)^belay: .*\n`)

// play runs codex, behind a command if one is given, and returns what it prints, but for what differs from run to run.
func (run progressRun) play(t *testing.T, version string, behind ...string) (stdout, stderr string) {
	t.Helper()
	s := codex.New(t, version, run.script)
	for name, content := range run.files {
		s.File(name, content)
	}
	if run.first != nil {
		s.Run("codex", run.first...).Exits(0)
	}
	line := slices.Concat(behind, []string{"codex"}, run.args)
	var stdin io.Reader
	if run.stdin != "" {
		stdin = strings.NewReader(run.stdin)
	}
	r := s.Start(s.Command(line[0], line[1:]...), stdin).Wait()
	r.Exits(run.code)
	alike := func(text string) string {
		text = strings.ReplaceAll(codex.alike(s, text), s.Dir, "DIR")
		return regexp.MustCompile(`(?m)^((?:\x1b\[\d+m)? (?:succeeded|exited \d+)) in \d+ms:`).ReplaceAllString(text, "$1 in 0ms:")
	}
	return alike(r.Stdout), alike(r.Stderr)
}

// numbered is a text of so many lines.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString("l" + strconv.Itoa(i+1) + "\n")
	}
	return b.String()
}

// With --quiet there is nothing on stderr, but what codex itself writes there beside its events.
func TestCodex_ProgressQuiet(t *testing.T) {
	s := codex.New(t, "", "tool(bash: true), 200")
	r := s.Run("belay", slices.Concat([]string{"run", "--quiet", "--no-stdin", "--", "codex"}, codexWork("say hi"))...)
	r.Exits(0)
	r.Prints(answer)
	if strings.Contains(r.Stderr, "OpenAI Codex") || strings.Contains(r.Stderr, "exec") || strings.Contains(r.Stderr, "tokens used") {
		t.Errorf("stderr is\n%s", r.Stderr)
	}
}
