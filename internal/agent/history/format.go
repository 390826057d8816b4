package history

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/safefile"
)

// Format says how a CLI keeps the record of a session.
type Format struct {
	// Find is the path of a session's record below the CLI's home; empty if there is none.
	Find func(home, session string) string
	// Read says what a line adds to the history. ok is false if the CLI could not read it. What it returns is valid until the line is.
	Read func(line []byte) (l Line, ok bool)
	// Body is the field of a line that has its parts.
	Body string
	// Parent is the field of a line with the id of the one before it in the chain; empty if lines follow each other in the record.
	Parent string
	// Result is a line, with that id, that follows another one and gives calls in it a result.
	Result func(line []byte, calls []string, id string) []byte
	// Head is the line that a record must begin with, of a session in a directory; nil if it needs none.
	Head func(session, dir string) []byte
	// Kept is how long the service remembers what it was sent, unless it is asked to keep it for an hour.
	Kept time.Duration
	// Heals says which flaws a version of the CLI mends by itself each time that it resumes a session.
	Heals func(version string, f Flaw) bool
}

// Line is what a line of a record adds to the history.
type Line struct {
	// Begins says that it is the line that a record must begin with, and Restarts that what was said before it is sent no more: it was summed up.
	Begins, Restarts bool
	// ID and Parent are its place in a chain, where there is one.
	ID, Parent string
	// Role is who said it: "user", "assistant"; empty for what is not sent.
	Role  string
	Parts []Part
	// Version is the CLI's own, Model the one that answered, Dir where it works, and At when that was.
	Version, Model, Dir string
	At                  time.Time
	// Used is what the request used that was answered with this line; nil if it does not say.
	Used *price.Call
	// Refused is the service's word on why it refused the history.
	Refused string
}

// Kind is the kind of a part.
type Kind string

// The kinds of parts.
const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Call     Kind = "call"
	Result   Kind = "result"
	Image    Kind = "image"
	Other    Kind = "other"   // of another kind that services take
	Unknown  Kind = "unknown" // of a kind that is not known here
)

// Part is a piece of what was said.
type Part struct {
	Kind Kind
	ID   string          // of the call, which its result has too
	Name string          // of the tool
	Text json.RawMessage // what it says, as JSON
	// Served says that the service itself runs the tool: its result is in the same message, or never comes.
	Served bool
	// Inside says that it is a part of the result before it.
	Inside bool
	// Flaw is why a service refuses it by itself; empty if it does not.
	Flaw Flaw
}

const (
	maxLine  = 64 << 20 // more than a request may have
	maxLines = 1 << 20
)

// each reads the lines of a record, as far as it is long now: a CLI may be writing it.
func each(path string, line func(n int, text []byte) error) error {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(io.LimitReader(f, info.Size()))
	lines.Buffer(make([]byte, 0, 256<<10), maxLine)
	n := 0
	for ; n < maxLines && lines.Scan(); n++ {
		if err := line(n, lines.Bytes()); err != nil {
			return err
		}
	}
	if n == maxLines || errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &os.PathError{Op: "read", Path: path, Err: safefile.ErrTooLarge}
	}
	return lines.Err()
}

// newID is an id like another one: that it begins in the same way shows where it comes from, and to codex when.
func newID(like string) string {
	var random [6]byte
	rand.Read(random[:])
	tail := hex.EncodeToString(random[:])
	return like[:max(len(like)-len(tail), 0)] + tail
}
