// markdown reads Markdown as GitHub writes it (GFM) on stdin and says in JSON what it is: headings, paragraphs, tables, and what else there
// is. Tests use it to see that a summary is what it was meant to be.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// document is what a text is made of. Texts are as a reader sees them.
type document struct {
	Headings   []string     `json:"headings"`
	Paragraphs []string     `json:"paragraphs"`
	Tables     [][][]string `json:"tables"`
	// Others are the kinds of all else, such as RawHTML, Link or Emphasis.
	Others []string `json:"others"`
}

func main() {
	data, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(read(data))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "markdown:", err)
		os.Exit(1)
	}
}

// read parses a text.
func read(source []byte) (d document) {
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.Text, *ast.String, *ast.CodeSpan:
		case *ast.Heading:
			d.Headings = append(d.Headings, shown(n, source))
		case *ast.Paragraph:
			d.Paragraphs = append(d.Paragraphs, shown(n, source))
		case *east.Table:
			d.Tables = append(d.Tables, nil)
		case *east.TableHeader, *east.TableRow:
			last := &d.Tables[len(d.Tables)-1]
			*last = append(*last, nil)
		case *east.TableCell:
			table := d.Tables[len(d.Tables)-1]
			row := &table[len(table)-1]
			*row = append(*row, shown(n, source))
		default:
			d.Others = append(d.Others, n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	return d
}

// shown is the text of a node as a reader sees it.
func shown(n ast.Node, source []byte) (seen string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := c.Segment.Value(source)
			if n.Kind() != ast.KindCodeSpan {
				value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
			}
			seen += string(value)
		case *ast.String:
			seen += string(c.Value)
		default:
			seen += shown(c, source)
		}
	}
	return seen
}
