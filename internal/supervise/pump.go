package supervise

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

const (
	pumpBuffer = 256 << 10
	// quiet is how long a pipe that a stranger holds open must say nothing until we let go of it.
	quiet = 250 * time.Millisecond
	// enough is how long we listen to a stranger that is never quiet.
	enough = time.Second
)

// pump carries one stream of the child to its writer. What passes is a sign of life.
type pump struct {
	from    *os.File
	to      io.Writer
	life    *moment
	writing *atomic.Int32
	ended   atomic.Bool // the child is gone
	held    bool        // somebody else was left who could write
	end     func()      // told that no more comes; may be nil
}

func (u *pump) run() {
	if u.end != nil {
		defer u.end()
	}
	defer u.from.Close()
	buf := make([]byte, pumpBuffer)
	owed := -1 // what the child has written and we have not read, once it is gone
	var end time.Time
	for owed != 0 || time.Since(end) < enough {
		if owed < 0 && u.ended.Load() {
			owed, end = unread(u.from), time.Now()
		}
		if owed >= 0 {
			u.from.SetReadDeadline(time.Now().Add(quiet))
		}
		n, err := u.from.Read(buf)
		if owed > 0 {
			owed = max(0, owed-n)
		}
		if n > 0 && u.pass(buf[:n]) != nil {
			return
		}
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return
		case owed >= 0:
			u.held = true
			return
		}
		// Else the deadline only woke a read that began before the end; the pipe may still hold something.
	}
	u.held = true
}

// pass gives the writer what has come.
func (u *pump) pass(data []byte) error {
	u.life.set(time.Now())
	u.writing.Add(1)
	_, err := u.to.Write(data)
	u.writing.Add(-1)
	u.life.set(time.Now())
	return err
}

// finish tells the pump that the child is gone. It is told last: a deadline set after that would cut its reading short.
func (u *pump) finish() {
	if errors.Is(u.from.SetReadDeadline(time.Now()), os.ErrNoDeadline) {
		// No deadlines on this system's pipes: whoever holds it open loses it after a moment.
		time.AfterFunc(quiet, func() { u.from.Close() })
	}
	u.ended.Store(true)
}
