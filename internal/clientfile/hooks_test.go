package clientfile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

const file = `{
  "model": "opus",   "numbers": [1, -2.5e3],
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "python3 \"$CLAUDE_PROJECT_DIR\"/guard.py --it's \u0027so\u0027", "timeout": 10, "onFailure": "block"},
        {"type": "prompt", "prompt": "is it safe?"},
        {"type": "command", "command": "n\u006fde", "args": [ "a.js", "b" ]},
        {"type": "command", "command": "true", "args": [ ]},
        {"type": "command", "command": "Get-Date", "shell": "powershell"},
        {"type": "command", "command": "belay hook -- ./by-hand"}
      ]}
    ],
    "SessionEnd": [{"hooks": [{"command": "echo bye | tee -a log && :", "type": "command", "new": {"key": null}}]}]
  },
	"last": true
}`

// commands are those that a client would read.
func commands(t *testing.T, text []byte) (list []string) {
	t.Helper()
	var root struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	must.OK(t, json.Unmarshal(text, &root))
	for _, event := range []string{"PreToolUse", "SessionEnd"} {
		for _, g := range root.Hooks[event] {
			for _, h := range g.Hooks {
				list = append(list, strings.Join(append([]string{h.Command}, h.Args...), " "))
			}
		}
	}
	return list
}

func TestInstall_WrapsEveryHookAndNothingElse(t *testing.T) {
	after := install(t, at(t, "claude", clientfile.Hooks, clientfile.User), file, "belay")
	want := []string{
		`belay hook --name guard.py --timeout 9s --fail-closed -- "$0" -c 'python3 "$CLAUDE_PROJECT_DIR"/guard.py --it'\''s '\''so'\'''`,
		``,
		`belay hook --name a.js --timeout 599s -- node a.js b`,
		`belay hook --name true --timeout 599s -- true`,
		`Get-Date`,
		`belay hook -- ./by-hand`,
		`belay hook --name echo --timeout 0.75s -- "$0" -c 'echo bye | tee -a log && :'`,
	}
	got := commands(t, []byte(after))
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("hook %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

func TestInstall_TimesAreTheClientsLessASecond(t *testing.T) {
	for _, c := range []struct {
		client, event, timeout string
		want                   string
	}{
		{"claude", "PreToolUse", "", "599s"}, {"claude", "PreToolUse", "5", "4s"}, {"claude", "Stop", "2", "1s"},
		{"claude", "Stop", "1", "0.5s"}, {"claude", "Stop", "0.5", "0.25s"}, {"claude", "SessionEnd", "", "0.75s"},
		{"codex", "PreToolUse", "", "599s"}, {"codex", "SessionEnd", "", "0.5s"}, {"codex", "SessionEnd", "60", "2s"},
		{"gemini", "BeforeTool", "", "59s"}, {"gemini", "BeforeTool", "5000", "4s"}, {"gemini", "AfterAgent", "1000", "0.5s"},
	} {
		text := `{"hooks":{"` + c.event + `":[{"hooks":[{"type":"command","command":"x"` + strings.Repeat(`,"timeout":`+c.timeout, min(1, len(c.timeout))) + `}]}]}}`
		if after := install(t, at(t, c.client, clientfile.Hooks, clientfile.User), text, "belay"); !strings.Contains(after, "--timeout "+c.want+" ") {
			t.Errorf("%s, %s, timeout %q: %s; want %s", c.client, c.event, c.timeout, after, c.want)
		}
	}
}

// A wrapped line does what the line alone does, for every shell that clients use.
func TestInstall_KeepsWhatTheShellDoes(t *testing.T) {
	dir := t.TempDir()
	// belay, as far as the shell can see.
	fake := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	belay := filepath.Join(dir, "it's a belay", "belay")
	os.Mkdir(filepath.Dir(belay), 0o700)
	must.OK(t, built.WriteFile(belay, []byte(fake)))
	claude := at(t, "claude", clientfile.Hooks, clientfile.User)
	for _, shell := range []string{"sh", "bash", "zsh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for _, line := range []string{
			`echo hi`, `echo "it's"; echo 'a"b' | tr a-z A-Z`, `X=1 sh -c 'echo $X'`, `echo "$V" '$V' \$V "$(echo sub)"`, "echo `echo tick`",
			`for i in 1 2 3; do echo $i; done && exit 3`, `printf '%s\n' "a  b" c\ d`, "echo one\necho two", `cat <<'EOF'
it's here
EOF`, `echo ''`, `''echo x`, `echo \'`, `echo a\\b 'c\\d'`, `[ -n "$0" ] && echo yes`, `cat`, `! true`, `(exit 7)`, `echo "${V:-none}" ~ | wc -l`, `exec echo done`,
			`f() { echo "$1"; }; f '  x  '`, `echo ünï`, `echo $#; echo x # '`,
		} {
			literal, _ := json.Marshal(line)
			after := install(t, claude, `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":`+string(literal)+`}]}]}}`, belay)
			wrapped := commands(t, []byte(after))[0]
			bare, bareCode := shellOut(path, line)
			got, code := shellOut(path, wrapped)
			if got != bare || code != bareCode {
				t.Errorf("%s: %s\nalone: %q, %d\nbehind belay: %q, %d\n%s", shell, line, bare, bareCode, got, code, wrapped)
			}
		}
	}
}

func shellOut(shell, line string) (string, int) {
	cmd := exec.Command(shell, "-c", line)
	cmd.Env = append(os.Environ(), "V=a value")
	cmd.Stdin = strings.NewReader("the input\n")
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func TestParse_NamesThePlaceInJSON(t *testing.T) {
	claude := at(t, "claude", clientfile.Hooks, clientfile.User)
	for text, want := range map[string]string{
		"{\n  \"hooks\": {,}\n}":      `line 2, column 13: expected a key in double quotes, found ','`,
		"{\"a\": 1,}":                 `line 1, column 9: expected a key in double quotes, found '}'`,
		"{\"ä\": \"x\n\"}":            `line 1, column 9: a string must not contain an unescaped '\n'`,
		"{\"a\": 01}":                 `line 1, column 7: "01" is not valid JSON`,
		"{\"a\": tru}":                `line 1, column 7: "tru" is not valid JSON`,
		"{\"a\": \"\\x\"}":            `line 1, column 8: invalid escape`,
		"{\"a\": \"x":                 `line 1, column 7: unterminated string`,
		"{\"a\" 1}":                   `line 1, column 6: expected a colon, found '1'`,
		"{} x":                        `line 1, column 4: unexpected 'x' after the end`,
		"[]":                          `line 1, column 1: the settings must be an object`,
		"{\"hooks\": []}":             `line 1, column 11: hooks must be an object`,
		"{\"hooks\":\n{\"Stop\": 1}}": `line 2, column 10: hooks.Stop must be a list`,
		"{\"a\":":                     `line 1, column 6: expected a value, found the end of the file`,
		"{\n/* x":                     `line 2, column 1: unterminated comment`,
	} {
		_, err := clientfile.Parse(claude, []byte(text))
		wrong, ok := errors.AsType[*clientfile.SyntaxError](err)
		if !ok || wrong.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	deep := strings.Repeat("[", 100_000)
	if _, err := clientfile.Parse(claude, []byte(deep)); err == nil {
		t.Error("nested for ever")
	}
}

// Hooks in codex's config.toml are listed and left alone; what codex keeps beside them is not taken for hooks.
func TestHooks_InTOML(t *testing.T) {
	at(t, "codex", clientfile.Hooks, clientfile.User)
	places, err := profile.Client("codex").Locations(clientfile.Hooks, clientfile.User)
	if err != nil || len(places) != 2 || !places[1].LeftAlone {
		t.Fatalf("%v, %+v", err, places)
	}
	text := "[[hooks.Stop]]\nmatcher = \"x\"\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = 'one'\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"two\"\n" +
		"[hooks.state.a]\nenabled = true\n[[hooks.PreToolUse]]\nhooks = [{type = \"command\", command = \"three\"}]\n"
	f, err := clientfile.Parse(places[1], []byte(text))
	must.OK(t, err)
	got := ""
	for _, e := range f.Entries {
		got += fmt.Sprintf("%d %s %s %s\n", e.Line, e.Event, e.Matcher, e.Command)
		if e.State != clientfile.Unfit || !strings.Contains(e.Why, "config.toml") {
			t.Errorf("%+v", e)
		}
	}
	if want := "5 Stop x one\n8 Stop x two\n12 PreToolUse  three\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if edit, err := f.Install("belay"); err != nil || string(edit.After) != text {
		t.Errorf("%v\n%s", err, edit.After)
	}
}
