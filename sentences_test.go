package belay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// told are the packages whose messages a person of the command reads.
var told = []string{"cmd/belay", "cmd/belayd", "internal/actions", "internal/batch", "internal/belayd", "internal/cli", "internal/clientfile", "internal/companion",
	"internal/companion/db", "internal/companion/fleet/member", "internal/companion/page", "internal/companion/rehearse", "internal/companion/view", "internal/config", "internal/doctor", "internal/engine", "internal/hook", "internal/mcp", "internal/mcp/host", "internal/mcp/remote", "internal/top"}

// unspoken are the functions, and the files, whose sentences are no messages, by what they are.
var unspoken = map[string][]string{
	"help, which the test of internal/cli reads": {"internal/belayd/commands.go", "internal/belayd/fleet.go", "internal/cli/topics.go", "internal/cli.newBatch", "internal/cli.newCompletion", "internal/cli/labels.go",
		"internal/companion.usageText", "internal/config/table.go", "internal/config.Setting.Where", "internal/cli/exitcodes.go", "internal/top.helpRows"},
	"what others look for, in their words": {"internal/cli.completionScript", "internal/clientfile.marked"},
	"a script, a file or a prompt":         {"internal/companion.entryFile", "internal/companion/demo.go", "internal/companion/rehearse/environ.go", "internal/engine/turn.go"},
	"commands to type":                     {"internal/doctor.checkConfig", "internal/doctor.checkShims", "internal/doctor.settingFix", "internal/doctor.shimFix"},
	"never shown":                          {"internal/companion/db/fold.go", "internal/companion/page/policy.go", "internal/config/bounds.go"},
	"what the stand-ins answer, in the words of the real services": {"internal/companion/rehearse/anthropic_error.go", "internal/companion/rehearse/chat.go", "internal/companion/rehearse/gemini_error.go", "internal/companion/rehearse/github.go",
		"internal/companion/rehearse/github_graphql.go", "internal/companion/rehearse/github_mutate.go", "internal/companion/rehearse/github_query.go",
		"internal/companion/rehearse/github_rest.go", "internal/companion/rehearse/openai_error.go", "internal/companion/rehearse/script.go", "internal/companion/rehearse/send.go"},
}

// helpFields are the fields of a command or a flag that are help.
var helpFields = map[string]bool{"Use": true, "Short": true, "Long": true, "Example": true, "Heading": true, "ShortHeading": true}

// helpCalls are the functions that a flag's help is given to.
var helpCalls = map[string]bool{"BoolVar": true, "BoolVarP": true, "BoolP": true, "Bool": true, "String": true, "StringVar": true, "Var": true, "addText": true, "text": true, "panic": true, "MustCompile": true,
	"wrap": true, "ExecContext": true, "needs": true}

// All that a person reads is made by internal/message, where a golden file has it: a sentence anywhere else is none of them, or has
// to be moved. A sentence is a string of three words or more.
func TestSentences_AreMadeByMessage(t *testing.T) {
	known, found := map[string]bool{}, map[string]bool{}
	for _, names := range unspoken {
		for _, name := range names {
			known[name] = true
		}
	}
	for _, dir := range told {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			path = filepath.ToSlash(path)
			for _, decl := range file.Decls {
				in := filepath.ToSlash(dir) + "." + declName(decl)
				for _, s := range sentencesIn(decl) {
					if known[path] || known[in] {
						found[path], found[in] = true, true
						continue
					}
					t.Errorf("%s: %s makes a sentence: %s; internal/message is where they are made", fset.Position(s.Pos()), in, s.Value)
				}
			}
		}
	}
	for name := range known {
		if !found[name] {
			t.Errorf("%s has no sentences; take it off the list", name)
		}
	}
}

// sentencesIn are the strings of a declaration that are sentences and no help.
func sentencesIn(decl ast.Decl) (list []*ast.BasicLit) {
	if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
		return nil
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && helpFields[key.Name] {
				return false
			}
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				return !helpCalls[f.Name]
			case *ast.SelectorExpr:
				if x, ok := f.X.(*ast.Ident); ok && x.Name == "message" && f.Sel.Name != "Error" {
					return false // which decides what is said of an argument
				}
				return !helpCalls[f.Sel.Name]
			}
		case *ast.Field:
			return n.Tag == nil
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && isSentence(text) {
				list = append(list, n)
			}
		}
		return true
	})
	return list
}

var (
	aVerb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)
	aRow  = regexp.MustCompile(`(?:[A-Za-z']+|%)(?: (?:[a-z']+|[A-Z][a-z']+|MCP|PATH|%))+`)
	aWord = regexp.MustCompile(`[A-Za-z']{2,}`)
	anSQL = regexp.MustCompile(`\b(SELECT|FROM|CREATE TABLE|INSERT INTO|UPDATE \w+ SET|DELETE FROM|ALTER TABLE)\b`)
)

// isSentence reports whether a text has three words in a row, with blanks and what is filled in between them.
func isSentence(text string) bool {
	if anSQL.MatchString(text) {
		return false
	}
	for _, row := range aRow.FindAllString(aVerb.ReplaceAllString(text, "%"), -1) {
		if len(aWord.FindAllString(row, -1)) >= 3 {
			return true
		}
	}
	return false
}

var aHeading = regexp.MustCompile(`^[A-Z0-9#/_]+( [A-Z0-9/]+){0,2}$`)

// The heading of a column is a common word or two, not a part of a sentence.
func TestSentences_HeadingsAreWords(t *testing.T) {
	n := 0
	for _, dir := range told {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				pair, ok := node.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				key, _ := pair.Key.(*ast.Ident)
				value, _ := pair.Value.(*ast.BasicLit)
				if key == nil || value == nil || key.Name != "Heading" && key.Name != "ShortHeading" && key.Name != "heading" {
					return true
				}
				n++
				if text, err := strconv.Unquote(value.Value); err != nil || !aHeading.MatchString(text) {
					t.Errorf("%s: %s is not a heading", fset.Position(value.Pos()), value.Value)
				}
				return true
			})
		}
	}
	if n < 50 {
		t.Errorf("only %d headings were found", n)
	}
}
