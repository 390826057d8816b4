package clientfile_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/test/must"
)

// Cursor writes the input of a hook behind its line. A wrapped line does with it what the line alone does, for every shell that
// Cursor may use; one that would not is left alone.
func TestInstall_KeepsWhatCursorDoes(t *testing.T) {
	dir := t.TempDir()
	belay := filepath.Join(dir, "it's (a) belay -- x", "belay")
	os.Mkdir(filepath.Dir(belay), 0o700)
	must.OK(t, built.WriteFile(belay, []byte("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")))
	l := at(t, "cursor", clientfile.Hooks, clientfile.User)
	wraps := func(line string) (string, clientfile.State) {
		t.Helper()
		literal, _ := json.Marshal(line)
		text := `{"version":1,"hooks":{"stop":[{"command":` + string(literal) + `}]}}`
		var got struct {
			Hooks map[string][]struct{ Command string }
		}
		must.OK(t, json.Unmarshal([]byte(install(t, l, text, belay)), &got))
		return got.Hooks["stop"][0].Command, parse(t, l, text).Entries[0].State
	}
	const input = " <<'CURSOR_HOOK_EOF'\n{\"it's\": \"$V\"}\nCURSOR_HOOK_EOF"
	for _, line := range []string{`cat`, `cat -`, `sh -c "cat; exit 3"`, `env "X=$V" sh -c 'echo "$X"'`, `grep -c '$V' -`, `printf '%s\n' "$V" '$V' ~ *`, `cat /dev/stdin 2>/dev/null`, `no-such-command`, `/bin/cat '/dev/stdin'`} {
		wrapped, state := wraps(line)
		if line == `sh -c "cat; exit 3"` {
			if state != clientfile.Unfit {
				t.Errorf("%s: %v; what is in quotes is not looked at", line, state)
			}
			continue
		}
		if state != clientfile.Direct || wrapped == line {
			t.Errorf("%s: %v, %s", line, state, wrapped)
			continue
		}
		for _, shell := range []string{"sh", "bash", "zsh"} {
			path, err := exec.LookPath(shell)
			if err != nil || line == "no-such-command" {
				continue
			}
			bare, bareCode := shellOut(path, line+input)
			if got, code := shellOut(path, wrapped+input); got != bare || code != bareCode {
				t.Errorf("%s: %s\nalone: %q, %d\nbehind belay: %q, %d\n%s", shell, line, bare, bareCode, got, code, wrapped)
			}
		}
	}
	for _, line := range []string{`a | b`, `a; b`, `a && b`, `a &`, "a\nb", `(a)`, `{ a; }`, `a < b`, `X=1 a`, `cd x`, `! a`, `if a`, `exec a`, `. ./x`, `a # b`, `a $(b)`, ``} {
		if wrapped, state := wraps(line); state != clientfile.Unfit || wrapped != line {
			t.Errorf("%q: %v, %s", line, state, wrapped)
		}
	}
}

// Times are in seconds, 60 of them where a hook has none; what Cursor blocks on, belay blocks on.
func TestInstall_CursorTimes(t *testing.T) {
	l := at(t, "cursor", clientfile.Hooks, clientfile.Project)
	before := `{"version":1,"hooks":{"stop":[{"command":"x"},{"command":"y","timeout":5,"failClosed":true}],"preToolUse":[{"command":"z","failClosed":false,"matcher":"Shell"}]}}`
	want := `{"version":1,"hooks":{"stop":[{"command":"belay hook --name x --timeout 59s -- x"},{"command":"belay hook --name y --timeout 4s --fail-closed -- y","timeout":5,"failClosed":true}],"preToolUse":[{"command":"belay hook --name z --timeout 59s -- z","failClosed":false,"matcher":"Shell"}]}}`
	if got := install(t, l, before, "belay"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
