package history

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// Format says how a CLI keeps the record of a session.
type Format struct {
	// Find is the path of a session's record below the CLI's home; empty if there is none.
	Find func(home, session string) string
	// Read says what a line adds to the history. ok is false if the CLI could not read it. What it returns is valid until the line is.
	Read func(line []byte) (l Line, ok bool)
	// Cut is a line without some of its parts, by their numbers; nil if nothing of it is left. An image is replaced by a text.
	Cut func(line []byte, parts map[int]bool) []byte
	// Result is a line that gives a call in that line a result, with an id of its own and the one before it in the chain.
	Result func(line []byte, call, id, parent string) []byte
	// Link is a line with another one before it in the chain; nil if lines follow each other in the record.
	Link func(line []byte, parent string) []byte
	// Head is the line that a record must begin with, made of one of its other lines; nil if it needs none.
	Head func(session string, line []byte) []byte
	// CacheApart says that the tokens of a cache are not counted as input.
	CacheApart bool
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
	// Version is the CLI's own, Model the one that answered, and At when that was.
	Version, Model string
	At             time.Time
	// Usage is what the request used that was answered with this line; nil if it does not say.
	Usage *verdict.Usage
	// Refused is the service's word on why it refused the history.
	Refused string
}

// Kind is the kind of a part.
type Kind int

// The kinds of parts.
const (
	Text Kind = iota
	Thinking
	Call
	Result
	Image
	Other   // of another kind that services take
	Unknown // of a kind that is not known here
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
	maxLine   = 64 << 20 // more than a request may have
	maxRecord = 1 << 30
)

// ErrTooLarge is the error of a record that is not read for its size.
var ErrTooLarge = errors.New("is larger than a record can be")

// each reads the lines of a record, as far as it is long now: a CLI may be writing it.
func each(path string, line func(n int, text []byte) error) (size int64, err error) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if size = info.Size(); size > maxRecord {
		return size, &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	lines := bufio.NewScanner(io.LimitReader(f, size))
	lines.Buffer(make([]byte, 0, 256<<10), maxLine)
	for n := 0; lines.Scan(); n++ {
		if err := line(n, lines.Bytes()); err != nil {
			return size, err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return size, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("has a line of more than %d MiB", maxLine>>20)}
	}
	return size, lines.Err()
}

// newID is an id like another one: that it begins in the same way shows where it comes from, and to codex when.
func newID(like string) string {
	var random [6]byte
	rand.Read(random[:])
	tail := hex.EncodeToString(random[:])
	return like[:max(len(like)-len(tail), 0)] + tail
}
