package settings

import (
	"bytes"
	"fmt"
	"strings"
)

// Diff shows the lines that differ. No edit of ours changes how many there are.
func Diff(path string, before, after []byte) string {
	old, now := bytes.Split(before, []byte("\n")), bytes.Split(after, []byte("\n"))
	if len(old) != len(now) || bytes.Equal(before, after) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", path, path)
	for i := 0; i < len(old); i++ {
		begin := i
		for i < len(old) && !bytes.Equal(old[i], now[i]) {
			i++
		}
		if i == begin {
			continue
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", begin+1, i-begin, begin+1, i-begin)
		for _, side := range []struct {
			mark  string
			lines [][]byte
		}{{"-", old[begin:i]}, {"+", now[begin:i]}} {
			for _, line := range side.lines {
				fmt.Fprintf(&b, "%s%s\n", side.mark, line)
			}
		}
	}
	return b.String()
}
