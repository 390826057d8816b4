package term

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/belay-run/belay/internal/stdio"
)

// Event is what happened on a [Fullscreen]: a key was pressed, or one of the others.
type Event struct {
	Key Key
	// Redraw says that the screen has another size, or was used by another program.
	Redraw bool
	// Signal is a request to end; 0 for none.
	Signal syscall.Signal
	// Err says that the terminal is gone.
	Err error
	// Panic is what a goroutine of the screen has panicked with; nil for none.
	Panic any
}

// ErrNoFullscreen says that there is no terminal that could be drawn on.
var ErrNoFullscreen = errors.New("not on a terminal")

// capable reports whether two streams are a terminal that rows can be drawn on.
func capable(in io.Reader, out io.Writer) (keys, screen *os.File, ok bool) {
	if os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return nil, nil, false
	}
	return stdio.FileOf(in), stdio.FileOf(out), stdio.IsTerminal(in) && stdio.IsTerminal(out)
}

// What the terminal is sent at the beginning: the other screen, no cursor, no wrapping of long lines, and marks around a text that is
// pasted; and at the end. The end is also sent by itself when the screen is left for a moment.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[2J"
	leaveScreen = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// A terminal that knows these shows what is between them at once, and others ignore them.
const beginUpdate, endUpdate = "\x1b[?2026h", "\x1b[?2026l"

// painter knows what the screen shows and makes the bytes that change it. It writes nothing itself.
type painter struct {
	color bool
	shown []string
	fresh bool // nothing is known of what the screen shows
}

// forget has everything drawn again.
func (p *painter) forget() { p.shown, p.fresh = nil, true }

// paint are the bytes that make a screen of that height show rows; empty if it does. Only rows that differ are written, and nothing is
// cleared first, so that nothing flickers.
func (p *painter) paint(rows []Row, height int) []byte {
	rows = rows[:min(len(rows), height)]
	lines := make([]string, len(rows))
	var b bytes.Buffer
	for i, row := range rows {
		lines[i] = row.styled(p.color)
		if p.fresh || i >= len(p.shown) || p.shown[i] != lines[i] {
			fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[K", i+1, lines[i])
		}
	}
	if len(lines) < height && (p.fresh || len(lines) < len(p.shown)) {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[J", len(lines)+1)
	}
	p.shown, p.fresh = lines, false
	if b.Len() == 0 {
		return nil
	}
	return append(append([]byte(beginUpdate), b.Bytes()...), endUpdate...)
}
