// Command picture draws what a terminal shows as an SVG: text with ANSI colours on stdin, the picture on stdout. A page that
// may be light or dark takes two, of the same text. With the times that script(1) has written beside it the picture moves, and stands still
// at its end where motion is not wanted.
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
	theme := flag.String("theme", "dark", "dark or light")
	timing := flag.String("timing", "", "the file of times that script --log-timing has written with what is on stdin")
	first := flag.String("first", "", "the line above what was recorded")
	flag.Parse()
	palette, known := themes[*theme]
	if !known {
		fmt.Fprintf(os.Stderr, "picture: there is no theme %q\n", *theme)
		os.Exit(2)
	}
	input, err := io.ReadAll(os.Stdin)
	var pictured []scene
	var end float64
	if err == nil && *timing != "" {
		var times []byte
		var frames []frame
		if times, err = os.ReadFile(*timing); err == nil {
			frames, err = record(*first, string(input), string(times))
		}
		if err == nil {
			pictured, end = scenes(frames), frames[len(frames)-1].at
		}
	} else if err == nil {
		pictured = scenes([]frame{{0, screen(string(input), *columns)}})
	}
	if err == nil {
		out := bufio.NewWriter(os.Stdout)
		draw(out, *title, palette, pictured, end)
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// run is a piece of a line in one style.
type run struct{ class, text string }

// theme has the colours of a terminal.
type theme struct {
	background, border, text, bold, dim, red, green, yellow, blue, magenta, cyan string
}

var themes = map[string]theme{
	"dark": {background: "#16191f", border: "#16191f", text: "#d7dae0", bold: "#ffffff", dim: "#8a919e",
		red: "#f2777a", green: "#7fc98a", yellow: "#e0b95f", blue: "#7ab0f0", magenta: "#c99ae8", cyan: "#7fc8d8"},
	"light": {background: "#ffffff", border: "#d0d7de", text: "#24292f", bold: "#000000", dim: "#6e7781",
		red: "#c0262d", green: "#1a7f37", yellow: "#8a5d00", blue: "#0757b5", magenta: "#7d3ab8", cyan: "#0b6e86"},
}

// classes are the styles of the picture, by the parameters of the sequences that choose them. What is not listed changes
// nothing.
var classes = map[string]string{"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "l", "35": "m", "36": "c"}

// restyle is the set of classes after a sequence with these parameters, as in "1;31".
func restyle(current, parameters string) string {
	for p := range strings.SplitSeq(parameters, ";") {
		if p == "" || p == "0" || p == "22" || p == "39" {
			current = ""
		} else if class := classes[p]; class != "" && !strings.Contains(current, class) {
			current = strings.TrimSpace(current + " " + class)
		}
	}
	return current
}

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
				class, line = restyle(class, code), after
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

func draw(w io.Writer, title string, c theme, list []scene, end float64) {
	longest, rows, style := 0, 0, ""
	for _, s := range list {
		n := 0
		for _, r := range s.line {
			n += len([]rune(r.text))
		}
		longest, rows = max(longest, n), max(rows, s.row+1)
	}
	if end > 0 {
		style = animation(list, end)
	}
	width, height := int(float64(longest)*charWidth)+2*margin, rows*lineHeight+bar+margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">
<style>
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: %s; white-space: pre }
.b { font-weight: bold; fill: %s } .d { fill: %s } .r { fill: %s } .g { fill: %s } .y { fill: %s } .l { fill: %s } .m { fill: %s } .c { fill: %s }
.t { fill: %s; text-anchor: middle }
%s</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>
<circle cx="20" cy="18" r="6" fill="#e0605a"/><circle cx="40" cy="18" r="6" fill="#dfb13f"/><circle cx="60" cy="18" r="6" fill="#57b35f"/>
<text class="t" x="%d" y="23">%s</text>
`, width, height, width, height, html.EscapeString(title), fontSize, c.text, c.bold, c.dim, c.red, c.green, c.yellow, c.blue, c.magenta, c.cyan, c.dim,
		style, width-1, height-1, c.background, c.border, width/2, html.EscapeString(title))
	for i, s := range list {
		switch {
		case s.to > 0:
			fmt.Fprintf(w, `<g class="past s%d">`+"\n", i)
		case s.from > 0:
			fmt.Fprintf(w, `<g class="s%d">`+"\n", i)
		}
		column := 0
		for _, r := range s.line {
			n := len([]rune(r.text))
			if strings.TrimSpace(r.text) != "" {
				// The length is given so that columns stand under each other in whatever font there is.
				fmt.Fprintf(w, `<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve"%s>%s</text>`+"\n", margin+float64(column)*charWidth,
					bar+s.row*lineHeight+14, float64(n)*charWidth, classAttr(r.class), html.EscapeString(r.text))
			}
			column += n
		}
		if s.from > 0 || s.to > 0 {
			fmt.Fprintln(w, "</g>")
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
