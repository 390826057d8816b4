// lines counts Belay's code: lines without comments and blank lines, of which one of more than 120 characters counts twice.
//
//	go run ./scripts/lines             # by package, in this tree
//	go run ./scripts/lines ../before   # beside another tree, with the ratio
//
// JavaScript, SQL and TOML that is embedded counts with the product. Packages that serve tests count with the tests.
package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

func main() {
	roots := append([]string{"."}, os.Args[1:]...)
	counts := make([]count, len(roots))
	for i, root := range roots {
		var err error
		if counts[i], err = countTree(root); err != nil {
			fmt.Fprintln(os.Stderr, "lines:", err)
			os.Exit(1)
		}
	}
	if len(counts) == 1 {
		counts = append(counts, nil)
	}
	print(counts[0], counts[1])
}

// kind says what code is for.
type kind string

const (
	product kind = "product"
	tests   kind = "tests"
	tools   kind = "tools"
)

// place is code of one kind in one package.
type place struct {
	kind kind
	dir  string
}

type count map[place]int

func countTree(root string) (count, error) {
	c := count{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "node_modules" || base == "bin" || name != "." && base[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		counter, ok := counters[path.Ext(name)]
		if !ok {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		c[place{kindOf(name), path.Dir(name)}] += counter(text)
		return nil
	})
	return c, err
}

// kindOf says what the file is for, by where it lies.
func kindOf(name string) kind {
	dirs := strings.Split(path.Dir(name), "/")
	switch dirs[0] {
	case "scripts", "tools", "bench", "examples":
		return tools
	case "browser":
		return tests
	}
	if strings.HasPrefix(name, "internal/compare/") { // which earlier trees have
		return tools
	}
	if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(dirs, func(dir string) bool { return dir == "e2e" || strings.HasSuffix(dir, "test") }) {
		return tests
	}
	return product
}

var counters = map[string]func([]byte) int{
	".go":   goLines,
	".js":   func(text []byte) int { return plainLines(text, "//", "/*", "*") },
	".sql":  func(text []byte) int { return plainLines(text, "--") },
	".toml": func(text []byte) int { return plainLines(text, "#") },
}

// goLines counts the lines on which a token stands that is not a comment.
func goLines(text []byte) int {
	lines := bytes.Split(text, []byte("\n"))
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	sum, counted := 0, 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return sum
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		first := file.Line(pos)
		for line := max(first, counted+1); line <= first+strings.Count(literal, "\n"); line++ {
			sum += weight(lines[line-1])
			counted = line
		}
	}
}

func plainLines(text []byte, comments ...string) int {
	sum := 0
	for line := range bytes.Lines(text) {
		if !slices.ContainsFunc(comments, func(c string) bool { return bytes.HasPrefix(bytes.TrimSpace(line), []byte(c)) }) {
			sum += weight(line)
		}
	}
	return sum
}

// weight is what a line counts.
func weight(line []byte) int {
	line = bytes.TrimRight(line, " \t\r\n")
	switch {
	case len(line) == 0:
		return 0
	case utf8.RuneCount(line) > 120:
		return 2
	}
	return 1
}

// print prints the sums by kind and by package, beside those of before where there is one.
func print(now, before count) {
	places := make(map[place]bool)
	sums := [2]map[kind]int{{}, {}}
	for i, c := range []count{now, before} {
		for p, n := range c {
			places[p] = true
			sums[i][p.kind] += n
		}
	}
	row := func(name string, now, was int) {
		if before == nil {
			fmt.Printf("%-44s %7d\n", name, now)
			return
		}
		ratio := "    new"
		if was > 0 {
			ratio = fmt.Sprintf("%7.3f", float64(now)/float64(was))
		}
		fmt.Printf("%-44s %7d %7d %s\n", name, was, now, ratio)
	}
	for _, k := range []kind{product, tests, tools} {
		row(string(k), sums[0][k], sums[1][k])
		var dirs []string
		for p := range places {
			if p.kind == k && now[p] != before[p] {
				dirs = append(dirs, p.dir)
			}
		}
		slices.Sort(dirs)
		for _, dir := range dirs {
			row("  "+dir, now[place{k, dir}], before[place{k, dir}])
		}
	}
}
