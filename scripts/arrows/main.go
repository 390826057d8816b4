// arrows shows how the files of a package use each other, and where that runs in two directions.
//
//	go run ./scripts/arrows ./internal/engine/... # a line for each package
//	go run ./scripts/arrows -v ./internal/engine  # and each arrow that runs back, with the names that it is for
//
// An arrow leads from a file to another of its package that declares something which the first one names: a function, a type, a variable, a method or a field.
// Files are put in the order that has the fewest arrows from a lower file to a higher one; those run back. Tests are left out. What is built on this system counts.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	verbose := flag.Bool("v", false, "name each arrow that runs back")
	flag.Parse()
	if err := run(flag.Args(), *verbose, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "arrows:", err)
		os.Exit(1)
	}
}

func run(patterns []string, verbose bool, w io.Writer) error {
	packages, err := list(patterns)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-50s %5s %6s %4s  %s\n", "package", "files", "arrows", "back", "types with more than 20 fields or 25 methods: fields/methods")
	for _, p := range packages {
		h, err := p.house()
		if err != nil {
			return err
		}
		back := h.back()
		fmt.Fprintf(w, "%-50s %5d %6d %4d  %s\n", p.path, len(h.files), len(h.arrows), len(back), strings.Join(h.large, ", "))
		for _, a := range back {
			if verbose {
				fmt.Fprintf(w, "    %s -> %s: %s\n", a.from, a.to, strings.Join(slices.Sorted(maps.Keys(h.arrows[a])), ", "))
			}
		}
	}
	return nil
}

// pkg is a package of ours, with what its types are read from.
type pkg struct {
	path, dir string
	files     []string
	exports   map[string]string // of all packages that it may import
}

func list(patterns []string) ([]pkg, error) {
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly"}, patterns...)...).Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go list: %s", e.Stderr)
	}
	if err != nil {
		return nil, err
	}
	var packages []pkg
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			packages = append(packages, pkg{p.ImportPath, p.Dir, p.GoFiles, exports})
		}
	}
	slices.SortFunc(packages, func(a, b pkg) int { return cmp.Compare(a.path, b.path) })
	return packages, nil
}

// arrow leads from a file to another that declares what the first one names.
type arrow struct{ from, to string }

// house is a package as its files use each other.
type house struct {
	files  []string
	arrows map[arrow]map[string]bool // with the names that each is for
	large  []string
}

func (p pkg) house() (house, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.files {
		f, err := parser.ParseFile(fset, filepath.Join(p.dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return house{}, err
		}
		files = append(files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) })
	checked, err := (&types.Config{Importer: imports}).Check(p.path, fset, files, &info)
	if err != nil {
		return house{}, err
	}
	h := house{files: p.files, arrows: map[arrow]map[string]bool{}, large: large(checked)}
	file := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
	for id, o := range info.Uses {
		if o.Pkg() != checked || !lasting(o) {
			continue
		}
		a := arrow{file(id.Pos()), file(o.Pos())}
		if a.from == a.to {
			continue
		}
		if h.arrows[a] == nil {
			h.arrows[a] = map[string]bool{}
		}
		h.arrows[a][o.Name()] = true
	}
	return h, nil
}

// lasting tells what a package declares from what a function does.
func lasting(o types.Object) bool {
	switch o := o.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	case *types.Func:
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// large names the types that are hard to hold.
func large(p *types.Package) []string {
	var found []string
	for _, name := range p.Scope().Names() {
		o, isType := p.Scope().Lookup(name).(*types.TypeName)
		if !isType || o.IsAlias() {
			continue
		}
		n, fields := o.Type().(*types.Named), 0
		if s, ok := n.Underlying().(*types.Struct); ok {
			fields = s.NumFields()
		}
		if fields > 20 || n.NumMethods() > 25 {
			found = append(found, fmt.Sprintf("%s %d/%d", name, fields, n.NumMethods()))
		}
	}
	return found
}

// back are the arrows that run back in the order of files which has the fewest of them, as far as moving one file at a time finds it.
func (h house) back() []arrow {
	order := slices.Clone(h.files)
	count := func() (n int) {
		at := map[string]int{}
		for i, f := range order {
			at[f] = i
		}
		for a := range h.arrows {
			if at[a.from] > at[a.to] {
				n++
			}
		}
		return n
	}
	for best, better := count(), true; better; {
		better = false
		for from := range order {
			kept, where := slices.Clone(order), -1
			for to := range order {
				order = moved(kept, from, to)
				if n := count(); n < best {
					best, where = n, to
				}
			}
			order = kept
			if where >= 0 {
				order, better = moved(kept, from, where), true
			}
		}
	}
	at := map[string]int{}
	for i, f := range order {
		at[f] = i
	}
	var back []arrow
	for a := range h.arrows {
		if at[a.from] > at[a.to] {
			back = append(back, a)
		}
	}
	slices.SortFunc(back, func(a, b arrow) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return back
}

func moved(order []string, from, to int) []string {
	next := slices.Delete(slices.Clone(order), from, from+1)
	return slices.Insert(next, to, order[from])
}
