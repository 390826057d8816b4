package settings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/hook/settings"
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

func parse(t *testing.T, client settings.Client, text string) *settings.File {
	t.Helper()
	f, err := settings.Parse(client, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

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
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"PreToolUse", "SessionEnd"} {
		for _, g := range root.Hooks[event] {
			for _, h := range g.Hooks {
				list = append(list, strings.Join(append([]string{h.Command}, h.Args...), " "))
			}
		}
	}
	return list
}

func TestInstall_WrapsEveryCommandAndNothingElse(t *testing.T) {
	after := parse(t, settings.Claude, file).Install("belay")
	want := []string{
		`belay hook --name guard.py --timeout 9s --fail-closed -- "$0" -c 'python3 "$CLAUDE_PROJECT_DIR"/guard.py --it'\''s '\''so'\'''`,
		``,
		`belay hook --name a.js --timeout 599s -- node a.js b`,
		`belay hook --name true --timeout 599s -- true`,
		`Get-Date`,
		`belay hook -- ./by-hand`,
		`belay hook --name echo --timeout 0.75s -- "$0" -c 'echo bye | tee -a log && :'`,
	}
	got := commands(t, after)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("hook %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
	wrapped := parse(t, settings.Claude, string(after))
	if again := wrapped.Install("belay"); !bytes.Equal(again, after) {
		t.Errorf("a second install changes it:\n%s", again)
	}
	if back := wrapped.Uninstall(); string(back) != file {
		t.Errorf("uninstall gives\n%s", back)
	}
}

func TestInstall_TimesAreTheClientsLessASecond(t *testing.T) {
	for _, c := range []struct {
		client         settings.Client
		event, timeout string
		want           string
	}{
		{settings.Claude, "PreToolUse", "", "599s"}, {settings.Claude, "PreToolUse", "5", "4s"}, {settings.Claude, "Stop", "2", "1s"},
		{settings.Claude, "Stop", "1", "0.5s"}, {settings.Claude, "Stop", "0.5", "0.25s"}, {settings.Claude, "SessionEnd", "", "0.75s"},
		{settings.Codex, "PreToolUse", "", "599s"}, {settings.Codex, "SessionEnd", "", "0.5s"}, {settings.Codex, "SessionEnd", "60", "2s"},
	} {
		text := `{"hooks":{"` + c.event + `":[{"hooks":[{"type":"command","command":"x"` + strings.Repeat(`,"timeout":`+c.timeout, min(1, len(c.timeout))) + `}]}]}}`
		if after := string(parse(t, c.client, text).Install("belay")); !strings.Contains(after, "--timeout "+c.want+" ") {
			t.Errorf("%s, %s, timeout %q: %s; want %s", c.client.Name, c.event, c.timeout, after, c.want)
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
	if err := os.WriteFile(belay, []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
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
			f := parse(t, settings.Claude, `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":`+string(literal)+`}]}]}}`)
			wrapped := commands(t, f.Install(belay))[0]
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

func TestParse_NamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"hooks\": {,}\n}":      `line 2, column 13: a key in double quotes should stand here, not ','`,
		"{\"a\": 1,}":                 `line 1, column 9: a key in double quotes should stand here, not '}'`,
		"{\"ä\": \"x\n\"}":            `line 1, column 9: a string must not contain '\n' as it is`,
		"{\"a\": 01}":                 `line 1, column 7: "01" is no JSON`,
		"{\"a\": tru}":                `line 1, column 7: "tru" is no JSON`,
		"{\"a\": \"\\x\"}":            `line 1, column 8: there is no such escape`,
		"{\"a\": \"x":                 `line 1, column 7: a string without an end`,
		"{\"a\" 1}":                   `line 1, column 6: a colon should stand here, not '1'`,
		"{} x":                        `line 1, column 4: 'x' after the end`,
		"[]":                          `line 1, column 1: the settings should be an object`,
		"{\"hooks\": []}":             `line 1, column 11: hooks should be an object, a list for each event`,
		"{\"hooks\":\n{\"Stop\": 1}}": `line 2, column 10: hooks.Stop should be a list`,
		"{\"a\":":                     `line 1, column 6: a value should stand here, not the end of the file`,
		"{\n/* x":                     `line 2, column 1: a comment without an end`,
	} {
		_, err := settings.Parse(settings.Claude, []byte(text))
		at, ok := errors.AsType[*settings.SyntaxError](err)
		if !ok || at.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	deep := strings.Repeat("[", 100_000)
	if _, err := settings.Parse(settings.Claude, []byte(deep)); err == nil {
		t.Error("nested for ever")
	}
}

func TestParse_KeepsComments(t *testing.T) {
	text := "{ // mine\n/* and\nthis */ \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]} // last" + "\n}"
	f := parse(t, settings.Claude, text)
	if f.Comment != "line 1, column 3" {
		t.Errorf("comment at %q", f.Comment)
	}
	after := f.Install("belay")
	if !bytes.Contains(after, []byte("// mine\n/* and\nthis */")) || !bytes.Contains(after, []byte("// last")) {
		t.Errorf("%s", after)
	}
	if back := parse(t, settings.Claude, string(after)).Uninstall(); string(back) != text {
		t.Errorf("%s", back)
	}
}

// Whatever a file holds: what is installed can be undone to the byte, and a second time changes nothing.
func FuzzInstall(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte("\uFEFF{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"\\ud83d\\ude00 '\\u0027' \\\\\"}]}]}}"))
	f.Add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"belay hook --name x -- \"$0\" -c 'a'\\''b'"}]}]}}`))
	f.Add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"belay","args":["hook","--name","x","--",1]}]}]}}`))
	f.Add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","args":[1, {}]}]}]},"hooks":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, client := range settings.Clients {
			before, err := settings.Parse(client, text)
			plain := bytes.TrimPrefix(text, []byte("\uFEFF"))
			if err != nil {
				if json.Valid(plain) && bytes.HasPrefix(bytes.TrimSpace(plain), []byte("{")) {
					if _, ok := errors.AsType[*settings.SyntaxError](err); !ok {
						t.Fatal(err)
					}
				}
				return
			}
			if before.Comment == "" && len(bytes.TrimSpace(text)) > 0 && !json.Valid(plain) {
				t.Fatalf("taken for JSON: %q", text)
			}
			after := before.Install("/opt/it's/belay")
			wrapped, err := settings.Parse(client, after)
			if err != nil {
				t.Fatalf("spoilt: %v\n%s", err, after)
			}
			for i, h := range wrapped.Hooks {
				if !h.Wrapped && h.Why == "" {
					t.Fatalf("hook %d is not wrapped: %s", i, after)
				}
			}
			if again := wrapped.Install("/opt/it's/belay"); !bytes.Equal(again, after) {
				t.Fatalf("a second install changes it:\n%s\n%s", after, again)
			}
			if got, want := wrapped.Uninstall(), before.Uninstall(); !bytes.Equal(got, want) {
				t.Fatalf("not undone:\n%q\n%q", got, want)
			}
		}
	})
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "real.json"), filepath.Join(dir, "settings.json")
	if err := os.WriteFile(target, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.json", path); err != nil {
		t.Skip(err)
	}
	if err := settings.Replace("", path, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(target); string(text) != "two" {
		t.Errorf("%s", text)
	}
	if info, _ := os.Lstat(path); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, _ := os.Stat(target); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if text, _ := os.ReadFile(target + settings.BackupSuffix); string(text) != "one" {
		t.Errorf("the copy holds %q", text)
	}
	if err := settings.Replace("", path, []byte("one"), []byte("three")); err == nil {
		t.Error("what somebody else has written was overwritten")
	}
	os.WriteFile(target+settings.BackupSuffix, []byte("one"), 0o600)
	if err := settings.Replace("", path, []byte("two"), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

func TestInTOML(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hooks.json")
	if _, n, err := settings.InTOML(path); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n[hooks.state.a]\nenabled = true\n"), 0o600)
	if _, n, err := settings.InTOML(path); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	os.WriteFile(filepath.Join(dir, "config.toml"), []byte("a = \n"), 0o600)
	if _, _, err := settings.InTOML(path); err == nil || !strings.Contains(err.Error(), "line 1, column 5") {
		t.Errorf("%v", err)
	}
}
