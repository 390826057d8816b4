// Command picture draws what a terminal shows as an SVG: text with ANSI colours on stdin, the picture on stdout.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
)

func main() {
	title := flag.String("title", "", "what stands in the title bar")
	columns := flag.Int("columns", 120, "where lines are broken, as a terminal does")
	flag.Parse()
	input, err := io.ReadAll(os.Stdin)
	if err == nil {
		out := bufio.NewWriter(os.Stdout)
		draw(out, *title, screen(string(input), *columns))
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// run is a piece of a line in one style.
type run struct{ class, text string }

// classes are the styles that belay uses, by their code.
var classes = map[string]string{"1": "b", "2": "d", "36": "c", "0": ""}

// screen takes text apart into lines of runs, none longer than columns.
func screen(text string, columns int) [][]run {
	var lines [][]run
	class := ""
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		var current []run
		width := 0
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				code, after, _ := strings.Cut(rest, "m")
				class, line = classes[code], after
				continue
			}
			piece, _, _ := strings.Cut(line, "\x1b[")
			line = line[len(piece):]
			for _, r := range piece {
				if width == columns {
					lines, current, width = append(lines, current), nil, 0
				}
				if n := len(current); n == 0 || current[n-1].class != class {
					current = append(current, run{class: class})
				}
				current[len(current)-1].text += string(r)
				width++
			}
		}
		lines = append(lines, current)
	}
	return lines
}

// Sizes in pixels, for a font whose characters are 0.6 of its height.
const (
	fontSize   = 14
	charWidth  = 8.43
	lineHeight = 20
	bar        = 36
	margin     = 18
)

func draw(w io.Writer, title string, lines [][]run) {
	longest := 0
	for _, line := range lines {
		n := 0
		for _, r := range line {
			n += len([]rune(r.text))
		}
		longest = max(longest, n)
	}
	width, height := int(float64(longest)*charWidth)+2*margin, len(lines)*lineHeight+bar+margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">
<style>
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dae0; white-space: pre }
.b { font-weight: bold; fill: #ffffff } .d { fill: #8a919e } .c { fill: #7fc8d8 } .t { fill: #8a919e; text-anchor: middle }
</style>
<rect width="%d" height="%d" rx="8" fill="#16191f"/>
<circle cx="20" cy="18" r="6" fill="#e0605a"/><circle cx="40" cy="18" r="6" fill="#dfb13f"/><circle cx="60" cy="18" r="6" fill="#57b35f"/>
<text class="t" x="%d" y="23">%s</text>
`, width, height, width, height, html.EscapeString(title), fontSize, width, height, width/2, html.EscapeString(title))
	for i, line := range lines {
		column := 0
		for _, r := range line {
			n := len([]rune(r.text))
			if strings.TrimSpace(r.text) != "" {
				// The length is given so that columns stand under each other in whatever font there is.
				fmt.Fprintf(w, `<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n", margin+float64(column)*charWidth,
					bar+i*lineHeight+14, float64(n)*charWidth, classAttr(r.class), html.EscapeString(r.text))
			}
			column += n
		}
	}
	fmt.Fprintln(w, "</svg>")
}

func classAttr(class string) string {
	if class == "" {
		return ""
	}
	return ` class="` + class + `"`
}
