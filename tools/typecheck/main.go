// Typecheck checks the types of all packages and of their tests as they are on other systems.
//
//	typecheck [-C dir] GOOS[/GOARCH][,TAG]…
//
// It finds the mistakes in types that a compiler finds, without its minutes of CPU for each system: most of those go into code of the
// standard library that is never run. make test-full builds belay and belayd for these systems, and vets everything for them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("C", ".", "directory of the module")
	flag.Parse()
	failed := false
	for _, system := range flag.Args() {
		found, err := check(*dir, system)
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck %s: %v\n", system, err)
			os.Exit(1)
		}
		for _, mistake := range found {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, mistake)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the mistakes of the module's own packages on one system.
func check(dir, system string) ([]string, error) {
	system, tag, _ := strings.Cut(system, ",")
	goos, goarch, _ := strings.Cut(system, "/")
	if goarch == "" {
		goarch = "amd64"
	}
	own, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Dir: dir, Tests: true, BuildFlags: []string{"-tags=" + tag},
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedModule,
		Env:  append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if rel, relErr := filepath.Rel(own, name); file != nil && (relErr != nil || !filepath.IsLocal(rel)) {
				dropBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, errors.New("no packages")
	}
	var found []string
	seen := map[string]bool{}
	for _, p := range loaded {
		if strings.HasSuffix(p.ID, ".test") {
			continue // the main package that go test makes, which is none of ours
		}
		for _, e := range p.Errors {
			if text := e.Error(); !seen[text] {
				seen[text] = true
				found = append(found, text)
			}
		}
	}
	return found, nil
}

// dropBodies leaves of the functions of other modules what callers see.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body = nil
		}
	}
}
