package term

import (
	"cmp"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// gap stands between columns, and indent before what is continued below a row.
const (
	gap    = "  "
	indent = "    "
)

// grid is where the cells of a table stand.
type grid struct {
	look     Look
	columns  []Column
	titles   []string   // the headings as they are shown
	rows     [][]string // with each cell in one line that cannot control the terminal
	styles   [][]Style  // of the cells
	shown    []int      // indexes of columns
	widths   []int      // of all columns
	reserved []int      // columns of the terminal that are kept free for what is to come
	isShort  []bool     // whether a column has its short form, or
	isGist   []bool     // nothing but its gist
	open     bool       // whether there are rows to come
	fixed    bool       // whether the columns that are shown are given
	below    bool       // whether the last one, a note, stands below its row
	folded   bool       // whether the columns take several lines
}

func newGrid(columns []Column, rows [][]Piece, look Look) *grid {
	g := &grid{look: look, columns: columns, widths: make([]int, len(columns)), reserved: make([]int, len(columns)),
		isShort: make([]bool, len(columns)), isGist: make([]bool, len(columns))}
	for i, c := range columns {
		g.titles = append(g.titles, c.Heading)
		g.shown = append(g.shown, i)
	}
	for _, row := range rows {
		clean, styles := make([]string, len(columns)), make([]Style, len(columns))
		for i, c := range columns {
			if c.Bars != nil {
				continue
			}
			clean[i] = printable.Line(row[0].Text)
			if clean[i] != "" {
				styles[i] = cmp.Or(row[0].Style, c.Style)
			}
			row = row[1:]
			if look.ASCII {
				clean[i] = ascii().Replace(clean[i])
			}
		}
		g.rows, g.styles = append(g.rows, clean), append(g.styles, styles)
	}
	return g
}

// dropEmpty leaves out the columns that have nothing but a heading.
func (g *grid) dropEmpty() {
	g.drop(func(i int) bool {
		return i > 0 && len(g.rows) > 0 && g.columns[i].Bars == nil && !slices.ContainsFunc(g.rows, func(row []string) bool { return row[i] != "" })
	})
}

// keep shows only these columns, and all of them.
func (g *grid) keep(shown []int) { g.shown, g.fixed = slices.Clone(shown), true }

// leaveOpen keeps room for rows that come later.
func (g *grid) leaveOpen() {
	g.open = true
	for i, c := range g.columns {
		if !c.flexible() {
			g.reserved[i] = c.Min
		}
	}
}

// drop leaves out columns.
func (g *grid) drop(which func(i int) bool) { g.shown = slices.DeleteFunc(g.shown, which) }

// fit finds what is shown in the columns that the terminal has, and how wide. What people come for stays: texts are cut first; then there
// are short forms, then the note goes below its row, then there is only the gist of cells, and at last columns are left out.
func (g *grid) fit() {
	g.measure()
	if g.look.Width == 0 {
		g.drop(func(i int) bool { return g.columns[i].Bars != nil })
		return
	}
	g.simplify()
	for g.needed() > g.look.Width && (g.rewrite(Column.short, g.isShort) || g.moveNote() || g.rewrite(Column.gist, g.isGist) || g.dropLast()) {
	}
	if g.needed() > g.look.Width {
		g.folded = true
		g.drop(func(i int) bool { return g.columns[i].Bars != nil })
		return
	}
	g.distribute()
}

// measure finds how wide the columns are if nothing is cut.
func (g *grid) measure() {
	for i, c := range g.columns {
		if c.Bars != nil {
			continue
		}
		g.widths[i] = max(g.reserved[i], printable.Width(g.titles[i]))
		for _, row := range g.rows {
			g.widths[i] = max(g.widths[i], printable.Width(row[i]))
		}
	}
}

// simplify leaves out what the rest of a table says as well: a column that repeats another, a day that is the same in all rows.
func (g *grid) simplify() {
	if !g.open && len(g.rows) > 0 {
		g.drop(func(i int) bool {
			says := func(row []string) bool { return !g.columns[i].Redundant(row) }
			return g.columns[i].Redundant != nil && !slices.ContainsFunc(g.rows, says)
		})
		for _, i := range g.shown {
			if g.columns[i].Kind == Time {
				g.shareDay(i)
			}
		}
	}
	g.measure()
}

// shareDay puts the day that all times of a column have into its heading.
func (g *grid) shareDay(i int) {
	shared := ""
	for _, row := range g.rows {
		day, _, ok := splitTime(row[i])
		if row[i] == "" {
			continue
		}
		if !ok || shared != "" && day != shared {
			return
		}
		shared = day
	}
	if shared == "" {
		return
	}
	for _, row := range g.rows {
		_, row[i], _ = strings.Cut(row[i], " ")
	}
	g.titles[i] = shared
}

// least is how many columns of the terminal a column takes at least.
func (g *grid) least(i int) int {
	switch c := g.columns[i]; {
	case c.Bars != nil:
		return c.claim()
	case c.flexible():
		return min(g.widths[i], max(c.floor(), printable.Width(g.titles[i])))
	}
	return g.widths[i]
}

// needed is how many columns a row takes at least. Bars that claim none are drawn if some are left.
func (g *grid) needed() (n int) {
	for _, i := range g.inLine() {
		if g.columns[i].Bars == nil || g.least(i) > 0 {
			n += g.least(i) + len(gap)
		}
	}
	return n - len(gap)
}

// inLine are the columns that stand in the line of their row.
func (g *grid) inLine() []int {
	if g.below {
		return g.shown[:len(g.shown)-1]
	}
	return g.shown
}

// rewrite writes the first column that has a shorter form and is not done yet in that form; false if there is none left.
func (g *grid) rewrite(form func(Column) func(string) string, done []bool) bool {
	for _, i := range g.shown {
		shorter := form(g.columns[i])
		if done[i] || shorter == nil {
			continue
		}
		done[i], g.titles[i] = true, cmp.Or(g.columns[i].ShortHeading, g.titles[i])
		for _, row := range g.rows {
			row[i] = shorter(row[i])
		}
		g.measure()
		return true
	}
	return false
}

// moveNote puts the note below its row; false if there is none beside it.
func (g *grid) moveNote() bool {
	if g.below || len(g.shown) < 2 || g.columns[g.shown[len(g.shown)-1]].Kind != Note {
		return false
	}
	g.below = true
	return true
}

// dropLast leaves out the least important column; false if all that are left stay.
func (g *grid) dropLast() bool {
	if g.fixed || len(g.shown) == 0 {
		return false
	}
	least := slices.MaxFunc(g.shown, func(a, b int) int { return g.columns[a].Drop - g.columns[b].Drop })
	if g.columns[least].Drop == 0 {
		return false
	}
	g.drop(func(i int) bool { return i == least })
	return true
}

// distribute gives the columns of the terminal that are left over to the texts that need them, the narrowest first, then to the note, and
// then to bars.
func (g *grid) distribute() {
	left := g.look.Width - g.needed()
	whole := slices.Clone(g.widths)
	for i := range g.widths {
		g.widths[i] = g.least(i)
	}
	for _, notes := range []bool{false, true} {
		for ; left > 0; left-- {
			narrowest := -1
			for _, i := range g.inLine() {
				if g.widths[i] < whole[i] && (g.columns[i].Kind == Note) == notes && (narrowest < 0 || g.widths[i] < g.widths[narrowest]) {
					narrowest = i
				}
			}
			if narrowest < 0 {
				break
			}
			g.widths[narrowest]++
		}
	}
	g.drop(func(i int) bool {
		if g.columns[i].Bars == nil {
			return false
		}
		room := g.widths[i] + left
		if g.widths[i] == 0 {
			room -= len(gap)
		}
		if room < minBar {
			return true
		}
		left = max(0, room-maxBar)
		g.widths[i] = min(room, maxBar)
		return false
	})
}
