package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// stages are the stages of an invocation in their order, with the files that they are written in. Each hands a value on to
// the next: the right to start, the process that has ended, what it has printed, what that was worth, what follows from it,
// and what is put on record. No file of an earlier stage names a type of a later one.
var stages = []struct {
	name  string
	files []string
}{
	{"admission", []string{"admission.go", "refusal.go", "pace.go", "scope.go", "spending.go", "login.go"}},
	{"attempt", []string{"attempt.go", "control.go", "input.go"}},
	{"transcript", []string{"transcript.go", "streams.go", "sink.go", "earlystop.go", "progress.go", "running.go", "pump.go", "eventlog.go", "eventact.go"}},
	{"verdict", []string{"judgement.go"}},
	{"decision", []string{"decision.go"}},
	{"acceptance", []string{"check.go"}},
	{"record", []string{"record.go"}},
}

func TestArchitecture_StagesInOrder(t *testing.T) {
	files := map[string]*ast.File{}
	types := map[string]int{} // the stage that declares it
	for i, stage := range stages {
		for _, name := range stage.files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			must.OK(t, err)
			files[name] = file
			for _, decl := range file.Decls {
				if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
					for _, spec := range d.Specs {
						types[spec.(*ast.TypeSpec).Name.Name] = i
					}
				}
			}
		}
	}
	if len(types) < 12 {
		t.Errorf("only %d types were found", len(types))
	}
	for i, stage := range stages {
		for _, name := range stage.files {
			for used := range typesUsed(files[name]) {
				if at, ok := types[used]; ok && at > i {
					t.Errorf("%s (%s) names %s, a type of the later stage %s", name, stage.name, used, stages[at].name)
				}
			}
		}
	}
}

// typesUsed are the identifiers of a file that can name a type of its own package: not fields, methods, labels and local
// variables that happen to have the same name, of which only those in expressions are left.
func typesUsed(file *ast.File) map[string]bool {
	used := map[string]bool{}
	note := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // of another package, or a field
				return false
			case *ast.Ident:
				used[n.Name] = true
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			note(n.Type)
		case *ast.CompositeLit:
			if n.Type != nil {
				note(n.Type)
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				note(n.Type)
			}
		case *ast.ValueSpec:
			if n.Type != nil {
				note(n.Type)
			}
		case *ast.TypeSpec:
			note(n.Type)
		case *ast.CallExpr: // new(T), make(T), T(x), f[T](x)
			for _, arg := range append([]ast.Expr{n.Fun}, n.Args...) {
				switch e := arg.(type) {
				case *ast.Ident:
					used[e.Name] = true
				case *ast.IndexExpr:
					note(e.Index)
				}
			}
		}
		return true
	})
	return used
}

// flag is one of the command's.
var flag = regexp.MustCompile(`(^|[^-\w])--[a-z]`)

// What the engine says is also said to those who use the Go package, which has no flags. The command adds its own words, see Runner.Words.
func TestArchitecture_NoFlagsInStrings(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		must.OK(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && flag.MatchString(lit.Value) {
				t.Errorf("%s: %s", path, lit.Value)
			}
			return true
		})
	}
}
