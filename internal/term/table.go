package term

import (
	"fmt"
	"io"
	"strings"
)

// Table writes rows under headings. What is in them may be anyone's, and is shown in one line. A column with nothing in it is left out. On
// a terminal no line is longer than that is wide: see [Column] for what is shortened and what is left out. What is written to a file or a
// pipe is whole.
func Table(w io.Writer, columns []Column, rows [][]Piece) error {
	return Sheet{Columns: columns, Rows: rows}.Write(w)
}

// Piece is a cell of a table, or another text, in one style.
type Piece struct {
	Text  string
	Style Style
}

// Styled is a text in a style.
func Styled(style Style, text string) Piece { return Piece{text, style} }

// Cells are a row of a table: texts and numbers, and pieces where the style of a cell is known.
func Cells(list ...any) (row []Piece) {
	for _, v := range list {
		piece, ok := v.(Piece)
		if !ok {
			piece.Text = fmt.Sprint(v)
		}
		row = append(row, piece)
	}
	return row
}

// Sheet is a table that is whole at once.
type Sheet struct {
	Columns []Column
	Rows    [][]Piece
	Indent  string // stands before each line
}

// Write writes the table as it looks on w.
func (s Sheet) Write(w io.Writer) error { return s.WriteAs(w, LookOf(w)) }

// WriteAs writes the table to w as it looks somewhere else, where what is written to w will be shown.
func (s Sheet) WriteAs(w io.Writer, look Look) error {
	_, err := io.WriteString(w, strings.Join(s.Lines(look), ""))
	return err
}

// Lines are the lines of the table, headings first, each with its end. A row may take several.
func (s Sheet) Lines(look Look) (lines []string) {
	if look.Width > 0 {
		look.Width = max(minWidth, look.Width-len(s.Indent))
	}
	g := newGrid(s.Columns, s.Rows, look)
	g.dropEmpty()
	g.fit()
	lines = append(lines, g.headings())
	for i := range g.rows {
		lines = append(lines, g.line(i))
	}
	if s.Indent != "" {
		for i, line := range lines {
			lines[i] = s.Indent + strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\n", "\n"+s.Indent) + "\n"
		}
	}
	return lines
}

// Following is a table whose rows are written as they come. Columns that are empty at first are there: what is in them later is not
// known.
type Following struct {
	columns []Column
	shown   []int // of columns
	first   [][]Piece
}

// Write writes rows, the first time under headings, and then in the columns of the first ones.
func (t *Following) Write(w io.Writer, columns []Column, rows [][]Piece) error {
	look, text := LookOf(w), ""
	if t.columns == nil {
		t.columns, t.first = columns, rows
		g := newGrid(columns, rows, look)
		g.leaveOpen()
		g.fit()
		t.shown, text = g.shown, g.headings()
	}
	for _, row := range rows {
		g := newGrid(t.columns, append([][]Piece{row}, t.first...), look)
		g.leaveOpen()
		g.keep(t.shown)
		g.fit()
		text += g.line(0)
	}
	_, err := io.WriteString(w, text)
	return err
}
