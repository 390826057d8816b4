package belay_test

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// speaking are the packages that have to do with the user's streams. The others write only files of their own.
var speaking = []string{"cmd/belay", "cmd/belayd", "internal/belayd", "internal/cli", "internal/companion", "internal/config", "internal/engine", "internal/hook",
	"internal/mcp", "internal/mcp/host", "internal/mcp/remote", "internal/state", "internal/stdio"}

// writers are the functions there that write to something else than a buffer of their own, by what they write. Everything that a
// person reads is printed by internal/term, which takes out what could control a terminal.
var writers = map[string][]string{
	"what the command has printed, as it is": {
		"internal/cli.attachment.copy", "internal/cli.view.observe", "internal/companion.syncWriter.Write", "internal/engine.eventLog.render", "internal/engine.eventLog.show",
		"internal/engine.eventLog.write", "internal/engine.sharedWriter.Write", "internal/engine.sink.pass", "internal/engine.sink.show", "internal/engine.sink.write", "internal/engine.stderrReader.Write", "internal/engine.stderrReader.close",
		"internal/hook.held.deliver", "internal/hook.held.pass", "internal/hook.passOn.Write", "internal/mcp.Proxy.divert", "internal/mcp.clientOut.write",
		"internal/mcp/remote.copyJSON", "internal/mcp/remote.events.addData", "internal/mcp/remote.events.dispatch",
		"internal/mcp.tail.Write", "internal/mcp.tryWrite",
	},
	"what the command is to read": {"internal/cli.startDetached", "internal/cli.taskRunner.openFleet", "internal/engine.feed.copy", "internal/hook.input.copy", "internal/mcp.serverIn.run", "internal/stdio.Streams.InputFile"},
	"a file that holds output": {
		"internal/cli.fleetTexts.add", "internal/engine.Output.Write", "internal/engine.Output.spill", "internal/engine.Output.withoutEnd", "internal/hook.held.hold", "internal/hook.held.toFile",
	},
	"a file for programs":        {"internal/cli.appendTo", "internal/cli.detachment.begun", "internal/cli.encode", "internal/cli.newCompletion", "internal/companion.copyFile", "internal/companion.tempFile", "internal/engine.ignoreAll"},
	"memory":                     {"internal/cli.fleetLine.read", "internal/cli.fleetText.check", "internal/cli.readExcerpt", "internal/companion.limited.Write", "internal/companion.postAlert", "internal/mcp.page.digest", "internal/mcp/remote.discard"},
	"what term has printed":      {"internal/stdio.Output.Write", "internal/stdio.lockedWriter.Write"},
	"a result, made printable":   {"internal/cli.fleetLine.outcome", "internal/cli.fleetText.write", "internal/cli.writeResult", "internal/engine.Result.WriteJSON", "internal/engine.Result.WriteText", "internal/engine.writeString"},
	"nothing: it names a writer": {"internal/cli.newRoot", "internal/companion.newFlags"},
}

// Only internal/term prints to people. The test finds every other function of the executables that writes to a file or to a
// writer that it was given; one that is not listed in writers fails.
func TestPrinting_OnlyTermPrints(t *testing.T) {
	known := map[string]bool{}
	for _, names := range writers {
		for _, name := range names {
			known[name] = true
		}
	}
	found := map[string]bool{}
	for _, use := range findWriters(t, "./cmd/belay", "./cmd/belayd") {
		if found[use.in] = true; !known[use.in] {
			t.Errorf("%s: %s writes by %s; what a person reads is printed by internal/term", use.at, use.in, use.by)
		}
	}
	for name := range known {
		if !found[name] {
			t.Errorf("%s writes nothing any more; take it off the list", name)
		}
	}
}

// writing is a call that writes.
type writing struct {
	at token.Position
	in string // the function: internal/cli.run, internal/engine.sink.Write
	by string
}

// findWriters type-checks the packages of ours that these executables are made of and finds the calls in them that write.
func findWriters(t *testing.T, executables ...string) (found []writing) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, executables...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports := map[string]string{}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if _, ok := ours(p.ImportPath); ok {
			packages = append(packages, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		name, _ := ours(p.ImportPath)
		if !slices.Contains(speaking, name) {
			continue
		}
		var files []*ast.File
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, parsed)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
		if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, info); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, decl := range file.Decls {
				in := name + "." + declName(decl)
				ast.Inspect(decl, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if by := writes(info, call); by != "" {
							found = append(found, writing{fset.Position(call.Pos()), in, by})
						}
					}
					return true
				})
			}
		}
	}
	return found
}

// declName is the name of a function or method; that of a variable is "var".
func declName(decl ast.Decl) string {
	f, ok := decl.(*ast.FuncDecl)
	if !ok {
		return "var"
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	recv := types.ExprString(f.Recv.List[0].Type)
	recv, _, _ = strings.Cut(strings.TrimPrefix(recv, "*"), "[")
	return recv + "." + f.Name.Name
}

// writes says by what a call writes to a file or to a writer that may be anything; empty if it does not.
func writes(info *types.Info, call *ast.CallExpr) string {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if s := info.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			name := sel.Sel.Name
			if strings.HasPrefix(name, "Write") && open(s.Recv()) {
				return types.TypeString(s.Recv(), nil) + "." + name
			}
			if strings.HasPrefix(name, "Print") && s.Recv().String() == "*github.com/spf13/cobra.Command" {
				return "cobra's " + name
			}
		}
	}
	callee := calleeOf(info, call)
	if callee == nil || callee.Pkg() == nil {
		if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
			return id.Name
		}
		return ""
	}
	if _, own := ours(callee.Pkg().Path()); own {
		return "" // which is looked at itself
	}
	by := callee.Pkg().Path() + "." + callee.Name()
	if callee.Pkg().Path() == "log" || strings.HasPrefix(by, "fmt.Print") {
		return by
	}
	params := callee.Signature().Params()
	for i, arg := range call.Args {
		at := min(i, params.Len()-1)
		if at >= 0 && isWriter(params.At(at).Type()) && open(info.TypeOf(arg)) {
			return by
		}
	}
	return ""
}

// calleeOf is the function that a call calls; nil if that is not known or has no name.
func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := call.Fun
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		callee, _ := info.Uses[f].(*types.Func)
		return callee
	case *ast.SelectorExpr:
		callee, _ := info.Uses[f.Sel].(*types.Func)
		return callee
	}
	return nil
}

// isWriter reports whether a type is an interface with a method Write.
func isWriter(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for m := range i.Methods() {
		if m.Name() == "Write" {
			return true
		}
	}
	return false
}

// open reports whether what is written to a value of this type may reach a terminal.
func open(t types.Type) bool {
	return t != nil && (isWriter(t) || t.String() == "*os.File")
}
