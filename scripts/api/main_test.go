package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// limit is how many names all importable packages together have at most. A later change may raise it in docs/api.md, with a reason.
const limit = 480

// docs/api.md has every importable package with the number of its names, and their sum.
func TestAPI_IsSmallAndDocumented(t *testing.T) {
	packages, err := list("../..")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, sum := string(data), 0
	for _, p := range packages {
		if row := fmt.Sprintf("| `%s` | %d | ", p.path, len(p.names)); !strings.Contains(doc, row) {
			t.Errorf("docs/api.md does not say %q", row)
		}
		if sum += len(p.names); p.path == "belay" && p.files > 10 {
			t.Errorf("the root package has %d files: it is the API and nothing else", p.files)
		}
	}
	if rows := regexp.MustCompile("(?m)^\\| `").FindAllString(doc, -1); len(rows) != len(packages) {
		t.Errorf("docs/api.md has %d packages, there are %d", len(rows), len(packages))
	}
	if !strings.Contains(doc, fmt.Sprintf("**%d names and methods**", sum)) {
		t.Errorf("docs/api.md does not say that there are %d names and methods", sum)
	}
	if sum > limit {
		t.Errorf("%d names and methods are %d too many", sum, sum-limit)
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"go.mod": "module x", "x.go": "package x\nconst (A, b = 1, 2)\nvar C int\nfunc D() {}\nfunc e() {}\n",
		"x_test.go":        "package x\nfunc TestX() {}\n",
		"x_windows.go":     "package x\nfunc D() {}\n",
		"y/y.go":           "package y\ntype T[K any] struct{ Field int }\nfunc (T[K]) M() {}\nfunc (*T[K]) n() {}\ntype u struct{}\nfunc (u) M() {}\ntype I interface { T; M(); n() }\n",
		"z/z.go":           "package z\ntype P[K, V any] struct{}\nfunc (*P[K, V]) M() {}\n",
		"cmd/c/main.go":    "package main\nfunc F() {}\n",
		"internal/i/i.go":  "package i\nfunc F() {}\n",
		"y/testdata/t.go":  "package t\nfunc F() {}\n",
		".hidden/h.go":     "package h\nfunc F() {}\n",
		"other/go.mod":     "module other",
		"other/o.go":       "package o\nfunc F() {}\n",
		"docs/nothing.txt": "",
	} {
		if err := os.MkdirAll(dir+"/"+path[:strings.LastIndexByte("/"+path, '/')], 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := list(dir)
	const want = "[{belay 2 [A C D]} {y 1 [I I.M T T.M]} {z 1 [P P.M]}]"
	if got := fmt.Sprint(packages); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}
