package profile_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A folder and a row are all that a further CLI needs: with those of testdata/toy laid over the tree (go build -overlay), and
// no other file changed, the executables and the tests know it.
func TestToy_IsKnownByAFolderAndARow(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the executables")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	w := &toyWorld{T: t, root: root, dir: t.TempDir()}
	w.overlay()
	w.runGo("build", "-o", w.dir+string(filepath.Separator), "./cmd/belay", "./cmd/belayd")

	t.Run("Profile", func(t *testing.T) {
		help := w.with(t).belay(0, "run", "--help")
		help = strings.Join(strings.Fields(help), " ")
		has(t, help, "claude, codex, gemini, opencode, gh, toy or generic")
		has(t, help, "claude -p, codex exec, gemini -p, opencode run, gh and toy ask are recognized by their names")
		has(t, w.with(t).belay(2, "run", "--profile", "tooy", "--", "x"), "gh, toy and generic")
		shown := w.with(t).belay(0, "config", "show", "--profile", "toy")
		has(t, shown, "preset toy")
		has(t, shown, "TOY_MAX_DELAY")
	})
	t.Run("Completion", func(t *testing.T) {
		for _, line := range []string{"run --profile", "run --preset", "explain --profile", "log --profile"} {
			args := append([]string{"__complete"}, strings.Fields(line)...)
			has(t, w.with(t).belay(0, append(args, "to")...), "toy\n")
		}
	})
	t.Run("Doctor", func(t *testing.T) {
		list := w.with(t).belay(0, "doctor", "--json")
		has(t, list, `{"check":"toy","status":"ok","text":"`)
		has(t, list, `version 1.2.0, tested`)
		has(t, list, `{"check":"toy","status":"note","text":"no key was found","fix":"toy login"}`)
	})
	t.Run("Explain", func(t *testing.T) {
		has(t, strings.Join(strings.Fields(w.with(t).belay(0, "explain", "--help")), " "), "claude, codex, gemini, opencode, gh, toy or generic")
		has(t, w.with(t).belay(0, "explain", "--exit-code", "75", "--", "toy", "ask", "hi"), "rule:      toy.busy")
	})
	t.Run("Run", func(t *testing.T) {
		w := w.with(t)
		if got := w.belay(0, "run", "--quiet", "--", "toy", "ask", "hi"); got != "ask hi\n" { // after an attempt that failed
			t.Errorf("%q", got)
		}
		if got := w.belay(0, "run", "--quiet", "--resume", "last", "--", "toy", "ask", "more"); got != "ask more --session ses_1\n" {
			t.Errorf("%q", got)
		}
		has(t, w.belay(2, "run", "--resume", "../x", "--", "toy", "ask", "hi"), "It looks like ses_1")
	})
	t.Run("Tests", func(t *testing.T) {
		w := w.with(t)
		out := w.runGo("test", "-count=1", "-vet=off", "-v", "-run", "^(TestRegistry_.*|TestAgents|TestArchitecture_.*|TestNames_.*)$", ".", "./internal/profile", "./internal/e2e/stage")
		has(t, out, "--- PASS: TestAgents/toy")
	})
}

func has(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in:\n%s", part, text)
	}
}

// toyWorld is a tree with the toy in it, and a home and a PATH for what is built of it.
type toyWorld struct {
	*testing.T
	root, dir string
	goflags   string
}

func (w *toyWorld) with(t *testing.T) *toyWorld {
	other := *w
	other.T = t
	return &other
}

// overlay lays the toy's folder, and a registry with one more row, over the tree.
func (w *toyWorld) overlay() {
	w.Helper()
	const registry = "internal/profile/registry.go"
	data, err := os.ReadFile(filepath.Join(w.root, registry))
	if err != nil {
		w.Fatal(err)
	}
	text := strings.NewReplacer("import (\n", "import (\n\t\"github.com/belay-run/belay/internal/agent/toy\"\n",
		"Descriptor,\n}", "Descriptor,\n\t&toy.Descriptor,\n}").Replace(string(data))
	if strings.Count(text, "toy") != 2 {
		w.Fatalf("there is no place for a row in\n%s", data)
	}
	w.file("registry.go", text)
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(w.root, registry):                    filepath.Join(w.dir, "registry.go"),
		filepath.Join(w.root, "internal/agent/toy/toy.go"): filepath.Join(w.root, "internal/profile/testdata/toy/toy.go"),
	}})
	if err != nil {
		w.Fatal(err)
	}
	w.goflags = "GOFLAGS=-overlay=" + w.file("overlay.json", string(replace))
	// It is busy when it is first started, and then says what it was started with.
	w.file("toy", `#!/bin/sh
case $1 in --version) echo toy 1.2.0; exit;; esac
[ -e "$HOME/started" ] || { : >"$HOME/started"; exit 75; }
echo session ses_1
echo "$*"
`)
}

// file makes a file that may be a script, and returns its path.
func (w *toyWorld) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.Fatal(err)
	}
	return path
}

// runGo runs the go command over the tree, and returns what it prints.
func (w *toyWorld) runGo(args ...string) string {
	w.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = w.root, append(os.Environ(), w.goflags)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// belay runs what was built, and returns what it prints.
func (w *toyWorld) belay(code int, args ...string) string {
	w.Helper()
	cmd := exec.Command(filepath.Join(w.dir, "belay"), args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"HOME=" + w.dir, "PATH=" + w.dir + string(filepath.ListSeparator) + os.Getenv("PATH"), "TOY_MAX_DELAY=3s",
		"BELAY_STATE_DIR=" + filepath.Join(w.dir, "state")}
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.Errorf("belay %s ended with %d, want %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}
