package profile_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// guide is the document that says how a CLI is added. It adds a toy.
const guide = "docs/add-a-cli.md"

// A folder and a row are all that a further CLI needs: with those of the document laid over the tree (go build -overlay), and
// no other file changed, the executables know it and the quick tests pass. What the document says belay prints, it prints.
func TestToy_IsKnownByAFolderAndARow(t *testing.T) {
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL=1: it builds the executables and tests once more")
	}
	root, err := filepath.Abs("../..")
	must.OK(t, err)
	w := &toyWorld{T: t, root: root, dir: t.TempDir()}
	w.overlay()
	w.runGo("build", "-o", w.dir+string(filepath.Separator), "./cmd/belay", "./cmd/belayd")

	t.Run("Profile", func(t *testing.T) {
		help := w.with(t).belay(0, "run", "--help")
		help = strings.Join(strings.Fields(help), " ")
		has(t, help, "claude, codex, gemini, opencode, gh, toyai or generic")
		has(t, help, "claude -p, codex exec, gemini -p, opencode run, gh and toyai ask are recognized by their names")
		has(t, w.with(t).belay(2, "run", "--profile", "toyay", "--", "x"), "gh, toyai and generic")
		shown := w.with(t).belay(0, "config", "show", "--profile", "toyai")
		has(t, shown, "preset toyai")
		has(t, shown, "TOYAI_MAX_DELAY")
	})
	t.Run("Completion", func(t *testing.T) {
		for _, line := range []string{"run --profile", "run --preset", "explain --profile", "log --profile"} {
			args := append([]string{"__complete"}, strings.Fields(line)...)
			has(t, w.with(t).belay(0, append(args, "to")...), "toyai\n")
		}
	})
	t.Run("Doctor", func(t *testing.T) {
		list := w.with(t).belay(0, "doctor", "--json")
		has(t, list, `{"check":"toyai","status":"ok","text":"`)
		has(t, list, `version 1.2.0, tested`)
		has(t, list, `{"check":"toyai","status":"note","text":"no key was found","fix":"toyai login"}`)
	})
	t.Run("Explain", func(t *testing.T) {
		has(t, strings.Join(strings.Fields(w.with(t).belay(0, "explain", "--help")), " "), "claude, codex, gemini, opencode, gh, toyai or generic")
		has(t, w.with(t).belay(0, "explain", "--exit-code", "2", "--", "toyai", "ask", "hi"), "rule:      usage")
	})
	t.Run("Resume", func(t *testing.T) {
		has(t, w.with(t).belay(2, "run", "--resume", "../x", "--", "toyai", "ask", "hi"), "It looks like ses_1")
	})
	t.Run("Guide", func(t *testing.T) {
		w := w.with(t)
		tried := 0
		for _, b := range w.blocks {
			if b.language == "console" {
				tried += w.console(b.text)
			}
		}
		if tried < 4 {
			t.Errorf("%d commands were tried", tried)
		}
	})
	t.Run("Tests", func(t *testing.T) { w.with(t).runGo("test", "-short", "-vet=off", "./...") }) // as make quick does
}

func has(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in:\n%s", part, text)
	}
}

// block is a block of code in a document.
type block struct {
	language string
	file     string // that the words before it name last, in backquotes
	text     string
}

// blocksOf are the blocks of code in a document.
func blocksOf(document string) (list []block) {
	var b *block
	words := ""
	for line := range strings.Lines(document) {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && b == nil:
			b = &block{language: language}
			if parts := strings.Split(words, "`"); len(parts) > 2 {
				b.file = parts[len(parts)-2]
			}
		case fence:
			list, b, words = append(list, *b), nil, ""
		case b != nil:
			b.text += line
		default:
			words += line
		}
	}
	return list
}

// toyWorld is a tree with the toy in it, and a home and a PATH for what is built of it.
type toyWorld struct {
	*testing.T
	root, dir string
	blocks    []block
	goflags   string
}

func (w *toyWorld) with(t *testing.T) *toyWorld {
	other := *w
	other.T = t
	return &other
}

// overlay lays the files of the document, and a registry with one more row, over the tree; its script is put on the PATH.
func (w *toyWorld) overlay() {
	w.Helper()
	document, err := os.ReadFile(filepath.Join(w.root, guide))
	if err != nil {
		w.Fatal(err)
	}
	w.blocks = blocksOf(string(document))
	const registry = "internal/profile/registry.go"
	replaced := map[string]string{}
	for _, b := range w.blocks {
		switch {
		case b.language == "sh":
			w.file("toyai", b.text)
		case b.file == registry:
			replaced[registry] = w.file("registry.go", w.withRow(registry, b.text))
		case b.language == "go":
			replaced[b.file] = w.file(filepath.Base(b.file), b.text)
		}
	}
	if len(replaced) != 4 {
		w.Fatalf("the files of %s are %v", guide, replaced)
	}
	whole := map[string]string{}
	for name, path := range replaced {
		whole[filepath.Join(w.root, name)] = path
	}
	replace, err := json.Marshal(map[string]any{"Replace": whole})
	if err != nil {
		w.Fatal(err)
	}
	w.goflags = "GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + w.file("overlay.json", string(replace))
}

// withRow is the registry with a row at its end, and the import that it needs.
func (w *toyWorld) withRow(registry, row string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.root, registry))
	if err != nil {
		w.Fatal(err)
	}
	text := strings.NewReplacer("import (\n", "import (\n\t\"github.com/belay-run/belay/internal/agent/toyai\"\n",
		"Descriptor,\n}", "Descriptor,\n"+row+"}").Replace(string(data))
	if strings.Count(text, "toyai") != 2 {
		w.Fatalf("there is no place for a row in\n%s", data)
	}
	return text
}

// file makes a file that may be a script, and returns its path.
func (w *toyWorld) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := built.WriteFile(path, []byte(text)); err != nil {
		w.Fatal(err)
	}
	return path
}

// runGo runs the go command over the tree, and returns what it prints.
func (w *toyWorld) runGo(args ...string) string {
	w.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = w.root, append(os.Environ(), w.goflags, "BELAY_TEST_FULL=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// jitter is how long belay waits, which varies.
var jitter = regexp.MustCompile(`in 1(\.\d)?s`)

// console runs the commands of a block, compares what they print with what stands below each, and returns how many there are.
func (w *toyWorld) console(text string) (n int) {
	w.Helper()
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		command, want, _ := strings.Cut(strings.TrimSuffix(part, "\n"), "\n")
		out, _ := w.command("sh", "-c", command).CombinedOutput()
		got := strings.TrimSuffix(string(out), "\n")
		if jitter.ReplaceAllString(got, "in 1s") != jitter.ReplaceAllString(want, "in 1s") {
			w.Errorf("%s says that %s prints\n%s\nand it prints\n%s", guide, command, want, got)
		}
		n++
	}
	return n
}

// belay runs what was built, and returns what it prints.
func (w *toyWorld) belay(code int, args ...string) string {
	w.Helper()
	cmd := w.command(filepath.Join(w.dir, "belay"), args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.Errorf("belay %s ended with %d, want %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

func (w *toyWorld) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"HOME=" + w.dir, "PATH=" + w.dir + string(filepath.ListSeparator) + os.Getenv("PATH"), "TOYAI_MAX_DELAY=3s",
		"BELAY_STATE_DIR=" + filepath.Join(w.dir, "state")}
	return cmd
}
