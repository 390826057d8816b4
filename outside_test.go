package belay_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// importable are the packages that Go in the documents may name, as they are named there.
var importable = map[string]string{
	"belay": module, "batch": module + "/batch", "boundary": module + "/boundary", "breaker": module + "/breaker", "gate": module + "/gate",
	"gh": module + "/gh", "gosdk": module + "/boundary/gosdk", "rehearsetest": module + "/rehearsetest", "retry": module + "/retry", "verdict": module + "/verdict",
	"context": "context", "errors": "errors", "exec": "os/exec", "fmt": "fmt", "json": "encoding/json", "log": "log", "os": "os", "time": "time",
}

// given is what the documents take for granted.
const given = `package doc

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belay-run/belay"
)

type Decision struct{}

var (
	ctx     context.Context
	call    any
	failure error
	id, url string
	server  *mcp.Server
	state   *belay.State
	t       *testing.T
)

func fetch(context.Context) (answer string, err error) { return answer, err }
`

// outside makes a module of its own that requires this one, and builds what the files of it are.
func outside(t *testing.T, files map[string]string) (bin string) {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(".")
	must.OK(t, err)
	files["go.mod"] = strings.Replace(text(t, "go.mod"), "module "+module, "module example.com/outside", 1) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, root)
	files["go.sum"] = text(t, "go.sum")
	for name, content := range files {
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(content), 0o600))
	}
	for _, args := range [][]string{{"./doc"}, {"-o", "bin/", "./outside"}} { // with -o, packages without a main are not compiled
		cmd := exec.Command("go", append([]string{"build", "-mod=mod", "-buildvcs=false", "-ldflags=-s -w"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off") // as the executables are built, so that nothing is compiled twice
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return filepath.Join(dir, "bin")
}

var goBlock = regexp.MustCompile("(?s)\n```go\n(.*?)\n```\n")

// All Go in the documents compiles in a module that is not this one, so that users can import what it names. What docs/add-a-cli.md and docs/add-a-command.md
// show belongs into this repository: TestToy_IsKnownByAFolderAndARow follows the one, TestGuide_CommandsCompile compiles the other.
//
// The same module has a program whose hook, tool and repeated call fail. Its failures are on record as those of belay's own
// commands are, the fifth of each raises one alert, and without a State nothing is.
func TestOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("all of Belay is compiled once more")
	}
	t.Parallel()
	files := map[string]string{"outside/main.go": text(t, "testdata/outside/main.go"), "doc/given.go": given}
	blocks := 0
	for _, path := range documents(t) {
		if path == filepath.Join("docs", "add-a-cli.md") || path == filepath.Join("docs", "add-a-command.md") {
			continue
		}
		for _, m := range goBlock.FindAllStringSubmatchIndex(text(t, path), -1) {
			blocks++
			line := strings.Count(text(t, path)[:m[2]], "\n") + 1
			files[fmt.Sprintf("doc/doc%d.go", blocks)] = compilable(t, fmt.Sprintf("%s:%d", path, line), text(t, path)[m[2]:m[3]])
		}
	}
	if blocks < 10 {
		t.Errorf("%d blocks of Go in the documents", blocks)
	}
	bin := outside(t, files)
	if t.Failed() {
		return
	}
	must.OK(t, built.Into(bin, built.Belay, built.Companion))
	home := t.TempDir()
	state := filepath.Join(home, "state")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "BELAY_STATE_DIR=" + state, "TZ=UTC"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}

	const said = "[allowed]\n[{text Error in search: no index}]\nretries used up after 4 attempts and 0s of waiting: connection reset by peer\n"
	if got := run("outside", "-"); strings.ReplaceAll(got, " and 0s of waiting", "") != strings.ReplaceAll(said, " and 0s of waiting", "") {
		t.Errorf("without a State it says\n%s", got)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("without a State it leaves %v, %v", left, err)
	}

	run("outside", state)
	type event struct {
		Category string         `json:"category"`
		Type     string         `json:"event_type"`
		Metadata map[string]any `json:"metadata"`
	}
	var events []event
	for line := range strings.Lines(run("belay", "events", "--json")) {
		var e event
		must.OK(t, json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	if len(events) != 3 {
		t.Fatalf("events: %v", events)
	}
	for i, want := range []struct{ kind, metadata string }{
		{"hook/error", "error=panic: no guard error_type=crash event_action=Bash event_type=PreToolUse hook_name=guard integration=hook:guard session_key=s1"},
		{"mcp/tool_error", "error=no index error_type=unknown input_bytes=16 integration=mcp:files server=files tool_name=search"},
		{"integration/failure", "command=outside error_type=network integration=weather profile=weather retry_count=3"},
	} {
		got := events[i]
		var fields []string
		for key, value := range got.Metadata {
			if pair := fmt.Sprintf("%s=%v", key, value); strings.Contains(want.metadata+" ", pair+" ") {
				fields = append(fields, pair)
			}
		}
		slices.Sort(fields)
		if got.Category+"/"+got.Type != want.kind || strings.Join(fields, " ") != want.metadata {
			t.Errorf("%s/%s %v\nwant %s %s", got.Category, got.Type, got.Metadata, want.kind, want.metadata)
		}
	}
	if stack := fmt.Sprint(events[0].Metadata["stack"]); !strings.Contains(stack, "main.round") {
		t.Errorf("the stack of the panic is\n%s", stack)
	}
	if log := run("belay", "log"); !strings.Contains(log, "3 failures of hooks, MCP servers or Go programs") {
		t.Errorf("belay log says\n%s", log)
	}

	if got := run("outside", state, state, state); strings.Contains(got, "Alert") {
		t.Errorf("after four failures it says\n%s", got)
	}
	if got := run("outside", state, state); strings.Count(got, "AlertRaised {Integration:") != 3 {
		t.Errorf("after five and six failures it says\n%s", got)
	}
	alerts := run("belay", "alerts", "--json")
	for _, integration := range []string{"hook:guard", "mcp:files", "weather"} {
		if strings.Count(alerts, `"integration":"`+integration+`"`) != 1 {
			t.Errorf("alerts of %s:\n%s", integration, alerts)
		}
	}
	if data := text(t, filepath.Join(state, "log.jsonl")); strings.Contains(data, "all my secrets") {
		t.Error("the input of a tool is at rest")
	}
}

// compilable makes a file of what a document shows: it is in a function, … stands for anything, and what it only defines is used.
func compilable(t *testing.T, place, block string) string {
	t.Helper()
	body := strings.ReplaceAll(block, "…", `panic("…")`)
	file, err := parser.ParseFile(token.NewFileSet(), place, "package doc\nfunc _() {\n"+body+"\n}\n", 0)
	if err != nil {
		t.Errorf("%s: %v", place, err)
		return "package doc\n"
	}
	imports, used := map[string]bool{}, ""
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && importable[x.Name] != "" {
				imports[x.Name] = true
			}
		}
		return true
	})
	define := func(names ...*ast.Ident) {
		for _, name := range names {
			used += "\t_ = " + name.Name + "\n"
		}
	}
	for _, s := range file.Decls[0].(*ast.FuncDecl).Body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				for _, x := range s.Lhs {
					define(x.(*ast.Ident))
				}
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					define(v.Names...)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("package doc\n\n")
	for name := range imports {
		fmt.Fprintf(&b, "import %q\n", importable[name])
	}
	fmt.Fprintf(&b, "\nfunc _() {\n//line %s:1\n%s\n%s}\n", place, body, used)
	return b.String()
}
