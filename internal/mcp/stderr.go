package mcp

import (
	"bytes"
	"io"
	"strings"

	"github.com/belay-run/belay/verdict"
)

const (
	// keptSize is how much of a server's stderr is kept: a Go panic says what it is about far before the end.
	keptSize = 64 << 10
	// toldSize is how much of it the caller gets to see.
	toldSize = 2 << 10
)

// tail passes on what a server writes to stderr, and keeps the end of it.
type tail struct {
	to   io.Writer
	kept *verdict.Capture
}

func newTail(to io.Writer) *tail { return &tail{to, verdict.NewCapture(0, keptSize)} }

func (t *tail) Write(b []byte) (int, error) {
	t.kept.Write(b)
	if t.to != nil {
		t.to.Write(b) // a stderr that cannot be written is no reason to take the server's away
	}
	return len(b), nil
}

// end is the part of stderr that best explains the server's end: the last lines, and before them the line with which a
// crash began, if that is further up.
func (t *tail) end() string {
	kept := t.kept.Excerpt()
	b := bytes.TrimSpace(append(kept.Head, kept.Tail...))
	if len(b) <= toldSize {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	last := b[len(b)-toldSize:]
	if _, whole, ok := bytes.Cut(last, []byte("\n")); ok {
		last = whole
	}
	begin := -1
	for _, word := range []string{"panic: ", "fatal error: "} {
		if i := bytes.LastIndex(b, []byte(word)); i > begin && (i == 0 || b[i-1] == '\n') {
			begin = i
		}
	}
	if begin < 0 || begin >= len(b)-len(last) {
		return strings.ToValidUTF8(string(last), "\uFFFD")
	}
	first := b[begin:]
	first = first[:min(len(first), toldSize/2)]
	if i := bytes.LastIndexByte(first, '\n'); i > 0 {
		first = first[:i]
	}
	if _, half, ok := bytes.Cut(last[len(last)/2:], []byte("\n")); ok {
		last = half
	}
	return strings.ToValidUTF8(string(first)+"\n…\n"+string(last), "\uFFFD")
}
