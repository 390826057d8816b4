// Package viewer looks at what an agent prints while it runs: see package look.
package viewer

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"net"
	"os"
	"strconv"

	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/safefile"
)

// A Listener waits for what a run sends.
type Listener struct{ listener *net.UnixListener }

// Listen begins to look at a run.
func Listen(s look.Sockets, id string) (*Listener, error) {
	if err := safefile.MakeOwnDir(s.Dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.Dir, look.Stem(id)+strconv.Itoa(os.Getpid())+"-*")
	if err != nil {
		return nil, err
	}
	path := f.Name()
	f.Close()
	os.Remove(path) // what is left is an unused name
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
func (l *Listener) Lines(ctx context.Context) iter.Seq2[look.Line, error] {
	return func(yield func(look.Line, error) bool) {
		defer context.AfterFunc(ctx, func() { l.Close() })()
		conn, err := l.listener.Accept()
		if err != nil {
			yield(look.Line{}, err)
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		in := bufio.NewScanner(conn)
		in.Buffer(nil, 8*look.MaxLine)
		for in.Scan() {
			var line look.Line
			if json.Unmarshal(in.Bytes(), &line) == nil && !yield(line, nil) {
				return
			}
		}
		if err := in.Err(); err != nil && ctx.Err() == nil {
			yield(look.Line{}, err)
		}
	}
}
