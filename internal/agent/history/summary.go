package history

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/redact"
)

// What a new session is told is at most 24 KiB of text.
const (
	maxTold  = 4 << 10 // of one text
	maxCall  = 300     // of what a tool was called with, with its name
	maxCalls = 50
)

// handOver says at the begin what it is.
const handOver = "An earlier session worked on this and cannot be continued. This is what its record says; " +
	"check what is there before you do anything again.\n\n"

// Summary is what a new session is told of one that cannot go on: what was asked, which tools were called with what, and the last words. It is bounded, and has no secrets.
func (r *Report) Summary() (string, error) {
	var asked, last string
	var done []string
	before := 0
	err := tell(r.format, r.Path, nil, func(e Entry) {
		switch {
		case e.Kind == Text && e.Who == "user" && asked == "":
			if text := e.said(maxTold); !strings.HasPrefix(text, "<") { // what a CLI adds by itself is marked so
				asked = text
			}
		case e.Kind == Text && e.Who == "assistant":
			last = e.said(maxTold)
		case e.Kind == Call:
			if len(done) == maxCalls {
				done, before = done[1:], before+1
			}
			done = append(done, clip("- "+e.Tool+" "+e.said(maxCall), maxCall))
		}
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(handOver)
	part := func(heading, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s\n%s\n\n", heading, text)
		}
	}
	part("It was asked:", asked)
	if before > 0 {
		done[0] = fmt.Sprintf("(%d calls before these)\n%s", before, done[0])
	}
	part("Its tools were called with:", strings.Join(done, "\n"))
	part("Its last words:", last)
	return redact.Text(strings.TrimSpace(b.String())), nil
}
