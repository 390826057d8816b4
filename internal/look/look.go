// Package look shows what an agent prints while it runs.
//
// The process that shows it listens on a socket in the state directory, for as long as it does. A run whose agent has printed something checks for such
// sockets twice a second, and sends the last lines and what is printed from then on. Without one, a check is one system call.
//
// This package is the run's side of it. The other side is package viewer, which needs the networking that belay does without.
package look

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// Sockets is the directory of sockets.
type Sockets struct{ Dir string }

// Line is what is sent: a line that the agent has printed, or a word about some that are not sent.
type Line struct {
	Attempt int `json:"attempt,omitempty"`
	// Event is the line, if it is a piece of JSON; Text if it is not.
	Event json.RawMessage `json:"event,omitempty"`
	Text  string          `json:"text,omitempty"`
	// Bytes is the length of a line that is too long to be shown.
	Bytes int `json:"bytes,omitempty"`
	// Missed counts lines that came faster than they were read.
	Missed int `json:"missed,omitempty"`
}

// MaxLine bounds a line that is sent.
const MaxLine = 64 << 10

// NewLine is a line that an agent has printed.
func NewLine(attempt int, text []byte) Line {
	l := Line{Attempt: attempt}
	switch {
	case len(text) > MaxLine:
		l.Bytes = len(text)
	case json.Valid(text):
		l.Event = text
	default:
		l.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return l
}

// Stem is what the names of the sockets for a run begin with. A socket's path may have little more than a hundred bytes, so it is only the end
// of the id, which is random.
func Stem(id string) string { return id[max(0, len(id)-12):] + "." }

// Interval is how often a run looks for sockets.
const Interval = time.Second / 2

// youth is for how long a socket may have no listener yet: it has a name a moment before it has a listener, and a busy machine makes that moment long.
const youth = 10 * time.Second

// Dial connects to those who look at a run, but for those who are known already. A socket that no process listens to is removed,
// unless it is so new that its listener may still be starting.
func (s Sockets) Dial(id string, known map[string]bool) (found []Conn) {
	names, err := safefile.ReadOwnDir(s.Dir)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if known[name] || !strings.HasPrefix(name, Stem(id)) {
			continue
		}
		known[name] = true
		path := filepath.Join(s.Dir, name)
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			delete(known, name) // it may become one
			continue
		}
		conn, err := dial(path)
		switch {
		case err == nil:
			found = append(found, conn)
		case errors.Is(err, errBusy): // too many connect to it at the moment
			delete(known, name)
		case time.Since(info.ModTime()) < youth:
			delete(known, name)
		default:
			os.Remove(path)
		}
	}
	return found
}

// Conn is a connection to one who looks.
type Conn interface {
	io.ReadWriteCloser
	SetWriteDeadline(time.Time) error
}

// errBusy says that a socket takes no connection now, but may later.
var errBusy = errors.New("not now")

// A Sender sends lines to one who looks. It gives up on one who does not read.
type Sender struct{ conn Conn }

// NewSender sends to a connection, and calls over when the other end is gone.
func NewSender(conn Conn, over func()) *Sender {
	go func() {
		io.Copy(io.Discard, conn)
		over()
	}()
	return &Sender{conn}
}

// patience is how long a line may take to be sent.
const patience = 5 * time.Second

// Send sends a line.
func (s *Sender) Send(l Line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err = s.conn.Write(append(data, '\n'))
	return err
}

// Close ends the connection.
func (s *Sender) Close() error {
	if err := s.conn.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
