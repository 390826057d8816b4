package clientfile

import (
	"fmt"
	"strings"
)

// contextLines is how many lines of a diff that have not changed stand around those that have.
const contextLines = 3

// Diff shows what has changed as a unified diff; empty if nothing has. Edits leave most lines alone and never move one, so
// that a search for the next line that both texts share finds the differences.
func Diff(name string, before, after []byte) string {
	hunks := differences(lines(before), lines(after))
	if len(hunks) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for len(hunks) > 0 {
		n := 1 // those that touch with their context are shown as one
		for n < len(hunks) && hunks[n].from-hunks[n-1].to <= 2*contextLines {
			n++
		}
		show(&out, lines(before), lines(after), hunks[:n])
		hunks = hunks[n:]
	}
	return out.String()
}

// hunk is a difference: lines from..to of one text are lines newFrom..newTo of the other.
type hunk struct{ from, to, newFrom, newTo int }

func lines(text []byte) []string {
	all := strings.SplitAfter(string(text), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

func differences(a, b []string) (hunks []hunk) {
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		di, dj := nextCommon(a[i:], b[j:])
		hunks = append(hunks, hunk{i, i + di, j, j + dj})
		i, j = i+di, j+dj
	}
	return hunks
}

// nextCommon returns how many lines of each come before the first one that they share.
func nextCommon(a, b []string) (int, int) {
	for sum := 0; sum <= len(a)+len(b); sum++ {
		for i := max(0, sum-len(b)); i <= min(sum, len(a)); i++ {
			j := sum - i
			if i < len(a) && j < len(b) && a[i] == b[j] && strings.TrimSpace(a[i]) != "" {
				return i, j
			}
		}
	}
	return len(a), len(b)
}

// show writes differences with their context.
func show(out *strings.Builder, a, b []string, hunks []hunk) {
	first, last := hunks[0], hunks[len(hunks)-1]
	lead, trail := min(contextLines, first.from), min(contextLines, len(a)-last.to)
	from, newFrom := first.from-lead, first.newFrom-lead
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(from, last.to+trail), span(newFrom, last.newTo+trail))
	at := from
	for _, h := range hunks {
		marked(out, " ", a[at:h.from])
		marked(out, "-", a[h.from:h.to])
		marked(out, "+", b[h.newFrom:h.newTo])
		at = h.to
	}
	marked(out, " ", a[at:at+trail])
}

// span names lines as a unified diff does: the first, from 1, and how many.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func marked(out *strings.Builder, mark string, lines []string) {
	for _, line := range lines {
		out.WriteString(mark + line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
