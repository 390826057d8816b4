package profile_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// named are the lines that may name a CLI although they are neither in its folder nor in the registry.
var named = []string{
	// The library's own constructors and presets have the names of CLIs in its API.
	`agent.go: return &Agent{Name: "claude", Prompt: prompt, Options: options}`,
	`agent.go: return &Agent{Name: "codex", Prompt: prompt, Options: options}`,
	`agent.go: return &Agent{Name: "gemini", Prompt: prompt, Options: options}`,
	`agent.go: return &Agent{Name: "opencode", Prompt: prompt, Options: options}`,
	`retry/preset.go: {"claude", Policy{MaxRetries: 4, BaseDelay: 2 * time.Second, MaxDelay: 2 * time.Minute, Jitter: Proportional(0.2)}},`,
	`retry/preset.go: {"codex", general},`,
	`retry/preset.go: {"gemini", general},`,
	`retry/preset.go: {"opencode", general},`,
	`retry/preset.go: {"gh", Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: Plus(time.Second)}},`,
	`examples/ghsync/main.go: p, _ := retry.Preset("gh")`,
}

// doubles are packages that only tests and pictures use, or that must not know the tree that they compare.
var doubles = []string{"browser/shots", "internal/agent/agenttest", "internal/engine/enginetest", "internal/faulttest", "internal/gatetest"}

// What is known of a CLI is in its folder: no other file has its name as a string, be it to compare with, to look up or to
// list. What applies to one CLI is a field of its descriptor.
func TestNames_AreInTheirFoldersOnly(t *testing.T) {
	var found []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case e.IsDir() && (e.Name() == "testdata" || len(name) > 1 && strings.HasPrefix(e.Name(), ".") || slices.Contains(doubles, name)):
			return filepath.SkipDir
		case e.Type().IsRegular() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && name != "internal/profile/registry.go":
			lines, err := naming(path, name)
			found = append(found, lines...)
			return err
		}
		return nil
	})
	must.OK(t, err)
	for _, line := range found {
		if !slices.Contains(named, line) {
			t.Errorf("names a CLI: %s", line)
		}
	}
	for _, line := range named {
		if !slices.Contains(found, line) {
			t.Errorf("names no CLI any more: %s", line)
		}
	}
}

// naming are the lines of a file in which a string literal is the name of a CLI whose folder it is not in.
func naming(path, name string) (lines []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	source := strings.Split(string(text), "\n")
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		value, _ := strconv.Unquote(literal.Value)
		if d := profile.Find(value); d != nil && !strings.HasPrefix(name, "internal/agent/"+d.Name+"/") {
			line := fmt.Sprintf("%s: %s", name, strings.TrimSpace(source[set.Position(literal.Pos()).Line-1]))
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		return true
	})
	return lines, nil
}
