package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// frame is what the terminal shows from a moment on, in seconds.
type frame struct {
	at    float64
	lines [][]run
}

// hold is for how long the end of a recording stays before it begins again.
const hold = 5

// record reads what script(1) has recorded: the output, and how many bytes of it came how long after those before. The first line stands above all of it.
func record(first, typescript, timing string) ([]frame, error) {
	_, output, _ := strings.Cut(typescript, "\n") // says when it was started
	screen := terminal{lines: [][]cell{nil}}
	screen.write(first + "\n")
	frames, at := []frame{{0, screen.show()}}, 0.0
	for line := range strings.Lines(timing) {
		after, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseFloat(after, 64)
		n, err2 := strconv.Atoi(count)
		if err != nil || err2 != nil || n > len(output) {
			return nil, fmt.Errorf("no time and number of bytes: %q", line)
		}
		if at += seconds; seconds < 0.05 && len(frames) > 1 { // one write of the program may come in pieces
			frames = frames[:len(frames)-1]
		}
		screen.write(output[:n])
		output = output[n:]
		frames = append(frames, frame{at, screen.show()})
	}
	return frames, nil
}

// cell is a character of the terminal.
type cell struct {
	char  rune
	class string
}

// terminal understands what a line needs that is drawn in place.
type terminal struct {
	lines      [][]cell
	row, at    int
	saved      int
	class      string
	incomplete string
}

func (t *terminal) write(text string) {
	text = t.incomplete + text
	for text != "" {
		n := t.step(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	t.incomplete = text
}

// step takes one character or sequence, and returns its length; 0 if it is not whole.
func (t *terminal) step(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && !utf8.FullRuneInString(text):
		return 0
	case r == '\x1b':
		return t.control(text)
	case r == '\r':
		t.at = 0
	case r == '\n':
		t.row, t.at = t.row+1, 0
		for t.row >= len(t.lines) {
			t.lines = append(t.lines, nil)
		}
	case r >= ' ':
		line := t.lines[t.row]
		for len(line) <= t.at {
			line = append(line, cell{' ', ""})
		}
		line[t.at] = cell{r, t.class}
		t.lines[t.row], t.at = line, t.at+1
	}
	return n
}

func (t *terminal) control(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '7':
		t.saved = t.at
		return 2
	case '8':
		t.at = t.saved
		return 2
	case '[':
		end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return 0
		}
		switch parameter := text[2 : 2+end]; text[2+end] {
		case 'm':
			t.class = restyle(t.class, parameter)
		case 'K':
			t.lines[t.row] = t.lines[t.row][:min(t.at, len(t.lines[t.row]))]
		}
		return 3 + end
	}
	return 2
}

// show is what can be seen, as runs of one style.
func (t *terminal) show() [][]run {
	lines := make([][]run, len(t.lines))
	for i, line := range t.lines {
		for _, c := range line {
			if n := len(lines[i]); n == 0 || lines[i][n-1].class != c.class {
				lines[i] = append(lines[i], run{class: c.class})
			}
			lines[i][len(lines[i])-1].text += string(c.char)
		}
	}
	return lines
}

// scene is a line of a recording while it stays as it is.
type scene struct {
	row      int
	line     []run
	from, to float64 // to is 0 for what stays to the end
}

// scenes takes frames apart into what changes.
func scenes(frames []frame) (list []scene) {
	open := map[int]int{} // the scene of each row
	for _, f := range frames {
		for row, line := range f.lines {
			i, shown := open[row]
			if shown && slices.Equal(list[i].line, line) {
				continue
			}
			if shown {
				list[i].to = f.at
			}
			open[row] = len(list)
			list = append(list, scene{row: row, line: line, from: f.at})
		}
	}
	return slices.DeleteFunc(list, func(s scene) bool { return len(s.line) == 0 })
}

// animation is the style that shows scenes one after the other, for ever, and to those who want no motion the end.
func animation(list []scene, end float64) string {
	var b strings.Builder
	total := end + hold
	b.WriteString(".past { visibility: hidden }\n@media (prefers-reduced-motion: no-preference) {\n")
	for i, s := range list {
		if s.from > 0 || s.to > 0 {
			fmt.Fprintf(&b, ".s%d { animation: s%d %.2fs step-end infinite }\n", i, i, total)
		}
	}
	b.WriteString("}\n")
	for i, s := range list {
		if s.from == 0 && s.to == 0 {
			continue
		}
		fmt.Fprintf(&b, "@keyframes s%d { ", i)
		if s.from > 0 {
			b.WriteString("0% { visibility: hidden } ")
		}
		fmt.Fprintf(&b, "%.2f%% { visibility: visible } ", 100*s.from/total)
		if s.to > 0 {
			fmt.Fprintf(&b, "%.2f%% { visibility: hidden } ", 100*s.to/total)
		}
		b.WriteString("}\n")
	}
	return b.String()
}
