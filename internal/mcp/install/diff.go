package install

import (
	"fmt"
	"strings"
)

// Diff shows what has changed, line by line, with a line of context. The edits of this package leave most lines alone and
// never move one, so that a look from both ends of each difference finds them.
func Diff(name string, before, after []byte) string {
	a, b := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		// The next line that both have again.
		di, dj := meet(a[i:], b[j:])
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", i+1, di, j+1, dj)
		if i > 0 {
			line(&out, " ", a[i-1])
		}
		for range di {
			line(&out, "-", a[i])
			i++
		}
		for range dj {
			line(&out, "+", b[j])
			j++
		}
		if i < len(a) {
			line(&out, " ", a[i])
		}
	}
	return out.String()
}

// meet returns how many lines of each come before the first one that they share.
func meet(a, b []string) (int, int) {
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

func line(out *strings.Builder, mark, text string) {
	if text != "" {
		out.WriteString(mark + strings.TrimSuffix(text, "\n") + "\n")
	}
}
