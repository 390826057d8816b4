package codex

import (
	"fmt"
	"slices"
	"strings"
)

// contextLines is how many lines around a change are shown.
const contextLines = 3

// maxEdits bounds how different two texts may be whose difference is looked for line by line.
const maxEdits = 2000

// edit is a line that stays (' '), goes ('-') or comes ('+').
type edit struct {
	op   byte
	line string
}

// unified is the difference of two texts in unified form; empty if there is none.
func unified(from, to, old, now string) string {
	edits := diffLines(splitLines(old), splitLines(now))
	var b strings.Builder
	oldAt, newAt := 0, 0 // lines before the present edit
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i, oldAt, newAt = i+1, oldAt+1, newAt+1
			continue
		}
		begin := i
		for begin > 0 && i-begin < contextLines && edits[begin-1].op == ' ' {
			begin--
		}
		end := i
		for quiet, j := 0, i; j < len(edits) && quiet <= 2*contextLines; j++ {
			if edits[j].op == ' ' {
				quiet++
			} else {
				quiet, end = 0, j+1
			}
		}
		last := end
		for last < len(edits) && last-end < contextLines {
			last++
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
		}
		hunk := edits[begin:last]
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(oldAt-(i-begin), hunk, '-'), span(newAt-(i-begin), hunk, '+'))
		for _, e := range hunk {
			b.WriteByte(e.op)
			b.WriteString(e.line)
			if !strings.HasSuffix(e.line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		for ; i < last; i++ {
			if edits[i].op != '+' {
				oldAt++
			}
			if edits[i].op != '-' {
				newAt++
			}
		}
	}
	return b.String()
}

// span is the part of a text that a hunk is about: where it begins, and how many lines it has.
func span(before int, hunk []edit, own byte) string {
	n := 0
	for _, e := range hunk {
		if e.op == ' ' || e.op == own {
			n++
		}
	}
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}

func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// diffLines finds the fewest lines that go and come. Of texts that have little in common, all go and come.
func diffLines(a, b []string) []edit {
	var before, after []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		before = append(before, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		after = append(after, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(after)
	return slices.Concat(before, removedFirst(myers(a, b)), after)
}

// myers is the algorithm of that name.
func myers(a, b []string) []edit {
	limit := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*limit+3) // how far into a each diagonal reaches
	offset := limit + 1
	var history [][]int
	for d := 0; d <= limit; d++ {
		history = append(history, slices.Clone(reach[offset-d-1:offset+d+2]))
		for k := -d; k <= d; k += 2 {
			x := reach[offset+k-1] + 1
			if k == -d || k != d && reach[offset+k-1] < reach[offset+k+1] {
				x = reach[offset+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				return trace(a, b, history)
			}
		}
	}
	var all []edit
	for _, line := range a {
		all = append(all, edit{'-', line})
	}
	for _, line := range b {
		all = append(all, edit{'+', line})
	}
	return all
}

// trace goes back the way that myers has found. history has, for each number of edits, how far the diagonals around the middle
// reached before.
func trace(a, b []string, history [][]int) []edit {
	var back []edit
	x, y := len(a), len(b)
	for d := len(history) - 1; d >= 0; d-- {
		reach := func(k int) int { return history[d][k+d+1] }
		k := x - y
		from := k - 1
		if k == -d || k != d && reach(k-1) < reach(k+1) {
			from = k + 1
		}
		for x > reach(from) && y > reach(from)-from && x > 0 && y > 0 {
			x, y = x-1, y-1
			back = append(back, edit{' ', a[x]})
		}
		switch {
		case d == 0:
		case from == k+1:
			y--
			back = append(back, edit{'+', b[y]})
		default:
			x--
			back = append(back, edit{'-', a[x]})
		}
	}
	slices.Reverse(back)
	return back
}

// removedFirst puts, in each run of changes, the lines that go before those that come.
func removedFirst(edits []edit) []edit {
	for i := 0; i < len(edits); {
		end := i
		for end < len(edits) && edits[end].op != ' ' {
			end++
		}
		slices.SortStableFunc(edits[i:end], func(p, q edit) int { return int(q.op) - int(p.op) })
		i = end + 1
	}
	return edits
}

// patchText applies a unified difference, without headers, to a text, or takes it back. False if it does not fit.
func patchText(text, diff string, back bool) (string, bool) {
	lines := splitLines(text)
	var out []string
	at := 0 // how many lines of the text are done
	comes := false
	for line := range strings.Lines(diff) {
		op, rest := line[0], line[1:]
		if back && (op == '+' || op == '-') {
			op = '+' + '-' - op
		}
		switch op {
		case '@':
			begin, ok := hunkBegin(line, back)
			if !ok || begin < at || begin > len(lines) {
				return "", false
			}
			out = append(out, lines[at:begin]...)
			at = begin
		case ' ', '-':
			if at >= len(lines) || strings.TrimSuffix(lines[at], "\n") != strings.TrimSuffix(rest, "\n") {
				return "", false
			}
			if op == ' ' {
				out = append(out, lines[at])
			}
			at++
		case '+':
			out = append(out, rest)
		case '\\': // the line before has no end
			if n := len(out); comes && n > 0 {
				out[n-1] = strings.TrimSuffix(out[n-1], "\n")
			}
		default:
			return "", false
		}
		comes = op == '+'
	}
	return strings.Join(append(out, lines[at:]...), ""), true
}

// hunkBegin is how many lines stand before a hunk.
func hunkBegin(line string, back bool) (int, bool) {
	var oldPart, newPart string
	if n, err := fmt.Sscanf(line, "@@ -%s +%s @@", &oldPart, &newPart); n != 2 || err != nil {
		return 0, false
	}
	part := oldPart
	if back {
		part = newPart
	}
	begin, count := 0, 1
	if n, _ := fmt.Sscanf(part, "%d,%d", &begin, &count); n == 0 || begin < 0 || count < 0 {
		return 0, false
	}
	if count == 0 {
		return begin, true // it says after which line
	}
	return begin - 1, begin > 0
}
