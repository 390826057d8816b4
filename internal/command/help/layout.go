package help

import (
	"fmt"
	"io"
	"strings"

	"github.com/belay-run/belay/internal/term"
)

// row is a word and what it means.
type row struct{ word, text string }

// printRows prints a heading and the rows below it, if there are any. The texts begin in one column, behind words of that width.
func printRows(w io.Writer, heading string, width int, rows []row) {
	if len(rows) == 0 {
		return
	}
	term.Printf(w, "\n%s:\n", heading)
	term.Text(w, layRows(width, rows))
}

func layRows(width int, rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		word := r.word
		if len([]rune(word)) > width {
			fmt.Fprintf(&b, "  %s\n", word)
			word = ""
		}
		for _, line := range breakLines(r.text, helpWidth-width-3) {
			fmt.Fprintf(&b, "  %-*s %s\n", width, word, line)
			word = ""
		}
	}
	return b.String()
}

// helpWidth is how long lines of help may be: what the narrowest usual terminal shows.
const helpWidth = 80

// wrap breaks the lines of a text anew. Lines that are indented stay as they are.
func wrap(text string) string {
	var lines, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			lines = append(lines, breakLines(strings.Join(paragraph, " "), helpWidth)...)
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		lines = append(lines, line)
	}
	flush()
	return strings.Join(lines, "\n")
}

// breakLines breaks a text into lines of at most that many characters. A word that is longer gets a line of its own.
func breakLines(text string, width int) (lines []string) {
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	return append(lines, line)
}

// indent lays names out in lines of their own length.
func indent(names []string) string {
	var b strings.Builder
	for _, line := range breakLines(strings.Join(names, " "), helpWidth-2) {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}
