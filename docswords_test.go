package belay_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/message/wording"
)

// Documents are written in the same English as messages. What commands print in examples is judged with the messages.
func TestDocs_ReadWell(t *testing.T) {
	for _, path := range documents(t) {
		for n, line := range prose(text(t, path)) {
			for _, fault := range wording.Phrases(line) {
				t.Errorf("%s:%d: %s", path, n, fault)
			}
			if strings.Contains(line, "***") {
				t.Errorf("%s:%d: *** is not closed by **: %s", path, n, line)
			}
		}
	}
}

// prose are the lines of a document outside of its examples and of what is made from real runs, by their number.
func prose(doc string) map[int]string {
	lines, code := map[int]string{}, false
	for i, line := range strings.Split(doc, "\n") {
		indented := strings.HasPrefix(line, "    ")
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "```") || strings.HasPrefix(line, "<!-- six faults") {
			code = !code
			continue
		}
		if !code && !indented {
			lines[i+1] = line
		}
	}
	return lines
}
