package stream

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

const (
	// quietTime is how long a pipe that another process holds open must be silent before we close it.
	quietTime = 250 * time.Millisecond
	// maxHeldTime is how long we read from such a process if it is never silent.
	maxHeldTime = time.Second
)

// pump carries one stream of the child to its writer. What passes is a sign of life.
type pump struct {
	from *os.File
	// inline says that the thread which waits for the command reads the pipe, which is fd, and from is not there yet.
	inline  bool
	fd      int
	started bool // it runs, or has ended
	to      io.Writer
	life    *Life
	ended   atomic.Bool // the child is gone
	reads   atomic.Int64
	done    chan struct{} // closed when it ends
	held    bool          // another process still had the pipe open
	end     func()        // told that no more comes; may be nil
}

func (u *pump) run() {
	if u.end != nil {
		defer u.end()
	}
	defer close(u.done)
	defer u.from.Close()
	buf := make([]byte, pumpBuffer)
	unreadBytes := -1 // bytes of the child that are not read yet, once it is gone; -1 before
	var end time.Time
	for unreadBytes != 0 || time.Since(end) < maxHeldTime {
		if unreadBytes < 0 && u.ended.Load() {
			unreadBytes, end = unread(u.from), time.Now()
		}
		if unreadBytes >= 0 {
			u.from.SetReadDeadline(time.Now().Add(quietTime))
		}
		n, err := u.from.Read(buf)
		u.reads.Add(1)
		if unreadBytes > 0 {
			unreadBytes = max(0, unreadBytes-n)
		}
		if n > 0 && u.pass(buf[:n]) != nil {
			return
		}
		switch {
		case err == nil:
		case !wasWoken(err):
			return
		case unreadBytes >= 0:
			u.held = true
			return
		}
		// Else the deadline only woke a read that began before the end; the pipe may still hold something.
	}
	u.held = true
}

// open makes a pipe that was read by the waiting thread ready for the pump.
func (u *pump) open() {
	if u.inline {
		u.inline, u.from = false, inlineFile(u.fd)
	}
}

// close closes a pipe that no pump reads.
func (u *pump) close() {
	switch {
	case u.inline:
		u.inline = false
		closeInline(u.fd)
	case u.from != nil:
		u.from.Close()
	}
}

// pass gives the writer what has come.
func (u *pump) pass(data []byte) error {
	u.life.Beat()
	u.life.writing.Add(1)
	_, err := u.to.Write(data)
	u.life.writing.Add(-1)
	u.life.Beat()
	return err
}

// finish tells the pump that the child is gone. It is told last: a deadline set after that would cut its reading short.
func (u *pump) finish() {
	if errors.Is(u.from.SetReadDeadline(time.Now()), os.ErrNoDeadline) {
		u.ended.Store(true)
		go u.wakeWhenQuiet()
		return
	}
	u.ended.Store(true)
}

// wakeWhenQuiet takes the place of deadlines on a system whose pipes have none.
func (u *pump) wakeWhenQuiet() {
	wakeReader(u.from) // it notices the end of the child
	tick := time.NewTicker(quietTime)
	defer tick.Stop()
	for reads := int64(-1); ; {
		select {
		case <-u.done:
			return
		case <-tick.C:
		}
		now := u.reads.Load()
		if now == reads {
			wakeReader(u.from) // if it writes, there is no read to end
		}
		reads = now
	}
}
