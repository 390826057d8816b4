// Package tabletest holds how a table is laid out against a file.
package tabletest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Layouts says that at 80, 120 and 200 columns each table has what people come for, whole, and no line is wider: that is in
// testdata/tables, in a file for each name.
func Layouts(t *testing.T, sheets map[string]term.Sheet) {
	for name, sheet := range sheets {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{80, 120, 200, 0} {
				lines := sheet.Lines(term.Look{Width: width})
				fmt.Fprintf(&b, "%d columns\n%s\n", width, strings.Join(lines, ""))
				for _, line := range strings.Split(strings.Join(lines, ""), "\n") {
					if n := printable.Width(line); width > 0 && n > width {
						t.Errorf("%d columns of %d: %s", n, width, line)
					}
				}
			}
			path := filepath.Join("testdata", "tables", name+".golden")
			if *update {
				os.MkdirAll(filepath.Dir(path), 0o755)
				os.WriteFile(path, []byte(b.String()), 0o644)
			}
			if want, err := os.ReadFile(path); err != nil || b.String() != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
			}
		})
	}
}

// Styles says that cells have these styles: what a cell stands for decides its colour.
func Styles(t *testing.T, cells map[term.Style][]term.Piece) {
	t.Helper()
	for want, list := range cells {
		for _, cell := range list {
			if cell.Style != want {
				t.Errorf("%q looks %v, want %v", cell.Text, cell.Style, want)
			}
		}
	}
}
