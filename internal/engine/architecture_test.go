package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// rooms are the packages that the stages are written in, in their order, after what each of them may know. None of them imports one that comes after it,
// nor the engine.
var rooms = []string{"output", "events", "input", "call", "spending", "session", "admission", "transcript"}

func TestArchitecture_RoomsInOrder(t *testing.T) {
	dirs, err := filepath.Glob("*/*.go")
	must.OK(t, err)
	const engine = "github.com/belay-run/belay/internal/engine"
	for _, path := range dirs {
		room := filepath.Dir(path)
		if room == "enginetest" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		at := slices.Index(rooms, room)
		if at < 0 {
			t.Errorf("%s has no place in the order of the stages", path)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		must.OK(t, err)
		for _, i := range file.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), engine); ours && !slices.Contains(rooms[:at], strings.TrimPrefix(to, "/")) {
				t.Errorf("%s imports %s, which comes after %s", path, i.Path.Value, room)
			}
		}
	}
}

// stages are those that follow, in the files of the engine. Each hands a value on to the next: the process that has ended, what that was worth, what follows from
// it, and what is put on record. No file of an earlier stage names a type of a later one.
var stages = []struct {
	name  string
	files []string
}{
	{"attempt", []string{"attempt.go", "control.go"}},
	{"verdict", []string{"judgement.go"}},
	{"decision", []string{"decision.go"}},
	{"acceptance", []string{"check.go", "accept.go"}},
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
	if len(types) < 8 {
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
	inside, err2 := filepath.Glob("*/*.go")
	if paths = append(paths, inside...); err != nil || err2 != nil || len(paths) < 100 {
		t.Fatalf("%d files: %v, %v", len(paths), err, err2)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "enginetest") {
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
