// api lists what a program that imports Belay may use: the exported names and methods of its importable packages.
//
//	go run ./scripts/api
//
// Constants, variables, functions and types count, and the methods of exported types, those of interfaces included. Fields
// do not.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	packages, err := list(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
	sum := 0
	for _, p := range packages {
		fmt.Printf("%s: %d\n", p.path, len(p.names))
		for _, name := range p.names {
			fmt.Println("\t" + name)
		}
		sum += len(p.names)
	}
	fmt.Printf("%d names and methods in %d packages\n", sum, len(packages))
}

// pkg is an importable package.
type pkg struct {
	path  string   // below the module's; "belay" for the root
	files int      // without tests
	names []string // exported, methods behind the name of their type
}

// list finds the importable packages of the module in a directory: what is neither a command nor internal, nor a module of
// its own.
func list(root string) (packages []pkg, err error) {
	err = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root {
			if name := d.Name(); name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		p, err := read(dir)
		if err != nil || p.files == 0 {
			return err
		}
		if p.path, _ = filepath.Rel(root, dir); p.path == "." {
			p.path = "belay"
		}
		packages = append(packages, p)
		return nil
	})
	return packages, err
}

// read reads the package in a directory. There are no files in a command's: it cannot be imported.
func read(dir string) (p pkg, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	names := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return p, err
		}
		if file.Name.Name == "main" {
			return pkg{}, nil
		}
		p.files++
		for _, d := range file.Decls {
			collect(d, names)
		}
	}
	for name := range names { // a system's file may have what another one's has
		p.names = append(p.names, name)
	}
	slices.Sort(p.names)
	return p, err
}

// collect adds what a declaration exports.
func collect(d ast.Decl, names map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name, "", names)
		} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) {
			add(d.Name, of+".", names)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					add(n, "", names)
				}
			case *ast.TypeSpec:
				add(s.Name, "", names)
				if i, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
					for _, m := range i.Methods.List {
						for _, n := range m.Names {
							add(n, s.Name.Name+".", names)
						}
					}
				}
			}
		}
	}
}

func add(n *ast.Ident, prefix string, names map[string]bool) {
	if n.IsExported() {
		names[prefix+n.Name] = true
	}
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
