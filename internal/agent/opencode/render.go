package opencode

import (
	"bytes"
	"io"
	"unicode"

	"github.com/belay-run/belay/internal/agent"
)

// thought stands before what the model thinks.
const thought = "Thinking: "

// Render implements agent.Reader: opencode prints all that the model says, without the blanks around it, one piece a line. There
// is no form JSON.
func (f *follower) Render(w io.Writer, _ agent.Form) error {
	for _, text := range f.texts {
		t := &trimmer{to: w}
		if _, err := text.WriteTo(t); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// trimmer passes on a text without the blanks at its begin and end.
type trimmer struct {
	to    io.Writer
	begun bool
	held  []byte // blanks that may be the last
}

// Write implements [io.Writer].
func (t *trimmer) Write(p []byte) (int, error) {
	rest := p
	if !t.begun {
		rest = bytes.TrimLeftFunc(rest, isBlank)
	}
	body := bytes.TrimRightFunc(rest, isBlank)
	if len(body) > 0 {
		t.begun = true
		for _, piece := range [][]byte{t.held, body} {
			if _, err := t.to.Write(piece); err != nil {
				return 0, err
			}
		}
		t.held = t.held[:0]
	}
	if t.begun {
		t.held = append(t.held, rest[len(body):]...)
	}
	return len(p), nil
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }
