// Package look shows what an agent prints while it runs.
//
// The process that shows it listens on a socket in the state directory, for as long as it does. A run checks for such sockets when its agent prints
// something, twice a second at most, and sends what is printed from then on. Without one, a check is one system call.
package look

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"os"
	"path/filepath"
	"strconv"
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

// maxLine bounds a line that is sent.
const maxLine = 64 << 10

// NewLine is a line that an agent has printed.
func NewLine(attempt int, text []byte) Line {
	l := Line{Attempt: attempt}
	switch {
	case len(text) > maxLine:
		l.Bytes = len(text)
	case json.Valid(text):
		l.Event = text
	default:
		l.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return l
}

// stem is what the names of the sockets for a run begin with. A socket's path may have little more than a hundred bytes, so it is only the end
// of the id, which is random.
func stem(id string) string { return id[max(0, len(id)-12):] + "." }

// A Listener waits for what a run sends.
type Listener struct{ listener *net.UnixListener }

// Listen begins to look at a run.
func (s Sockets) Listen(id string) (*Listener, error) {
	if err := safefile.MakeOwnDir(s.Dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.Dir, stem(id)+strconv.Itoa(os.Getpid())+"-*")
	if err != nil {
		return nil, err
	}
	path := f.Name()
	f.Close()
	os.Remove(path) // which leaves a name that nobody has
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return &Listener{l}, nil
}

// Close ends the look, and removes the socket.
func (l *Listener) Close() error { return l.listener.Close() }

// Lines are what the agent prints, until the run or the context ends.
func (l *Listener) Lines(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		defer context.AfterFunc(ctx, func() { l.Close() })()
		conn, err := l.listener.Accept()
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		in := bufio.NewScanner(conn)
		in.Buffer(nil, 8*maxLine)
		for in.Scan() {
			var line Line
			if json.Unmarshal(in.Bytes(), &line) == nil && !yield(line, nil) {
				return
			}
		}
		if err := in.Err(); err != nil && ctx.Err() == nil {
			yield(Line{}, err)
		}
	}
}

// Interval is how often a run looks for sockets at most.
const Interval = time.Second / 2

// Dial connects to those who look at a run, but for those who are known already. A socket that nobody listens to any more is removed.
func (s Sockets) Dial(id string, known map[string]bool) (found []net.Conn) {
	names, err := safefile.ReadOwnDir(s.Dir)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if known[name] || !strings.HasPrefix(name, stem(id)) {
			continue
		}
		known[name] = true
		path := filepath.Join(s.Dir, name)
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
			continue
		}
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"}) // net.Dial would link a resolver
		if err != nil {
			os.Remove(path)
			continue
		}
		found = append(found, conn)
	}
	return found
}

// A Sender sends lines to one who looks. It gives up on one who does not read.
type Sender struct{ conn net.Conn }

// NewSender sends to a connection, and calls over when the other end is gone.
func NewSender(conn net.Conn, over func()) *Sender {
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
	if err := s.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
