package supervise

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// streams are the three files of a child while it starts: what it gets, and what we keep.
type streams struct {
	child  [3]*os.File
	opened []*os.File // those of child that we opened and close once it has them
	pumps  []*pump
}

// openStreams decides for each stream whether the child gets a file of the caller's or a pipe.
func (p *Process) openStreams() error {
	f := &p.streams
	fail := func(err error) error {
		p.closeChildSide()
		p.closeOurSide()
		return err
	}
	null := func() (*os.File, error) {
		file, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err == nil {
			f.opened = append(f.opened, file)
		}
		return file, err
	}
	var err error
	if f.child[0] = p.spec.Stdin; f.child[0] == nil {
		if f.child[0], err = null(); err != nil {
			return fail(err)
		}
	}
	for i, w := range [2]io.Writer{p.spec.Stdout, p.spec.Stderr} {
		if file, ok := w.(*os.File); ok && file != nil && p.spec.Stall <= 0 {
			f.child[i+1] = file
			continue
		}
		if w == nil {
			if f.child[i+1], err = null(); err != nil {
				return fail(err)
			}
			continue
		}
		r, c, err := openPipe()
		if err != nil {
			return fail(err)
		}
		f.child[i+1] = c
		f.opened = append(f.opened, c)
		f.pumps = append(f.pumps, &pump{from: r, to: w, life: &p.life})
	}
	return nil
}

func (p *Process) closeChildSide() {
	for _, file := range p.streams.opened {
		file.Close()
	}
	p.streams.opened = nil
}

func (p *Process) closeOurSide() {
	for _, pump := range p.streams.pumps {
		pump.from.Close()
	}
}

func (p *Process) startPumps() {
	for _, pump := range p.streams.pumps {
		p.pumps.Go(pump.run)
	}
}

// drain takes over what the child has written before it ended, and then lets go of pipes that others hold open.
func (p *Process) drain() {
	for _, pump := range p.streams.pumps {
		pump.finish()
	}
	p.pumps.Wait()
}

const (
	pumpBuffer = 256 << 10
	// quiet is how long a pipe that a stranger holds open must say nothing until we let go of it.
	quiet = 250 * time.Millisecond
	// enough is how much of it we take at most after the child's end: more than any pipe holds.
	enough = 16 << 20
)

// pump carries one stream of the child to its writer. What passes is a sign of life.
type pump struct {
	from  *os.File
	to    io.Writer
	life  *moment
	ended atomic.Bool // the child is gone
}

func (u *pump) run() {
	defer u.from.Close()
	buf := make([]byte, pumpBuffer)
	for late := 0; late < enough; {
		ended := u.ended.Load()
		if ended {
			u.from.SetReadDeadline(time.Now().Add(quiet))
		}
		n, err := u.from.Read(buf)
		if n > 0 {
			u.life.set(time.Now())
			if ended {
				late += n
			}
			if _, werr := u.to.Write(buf[:n]); werr != nil {
				return
			}
		}
		// The first deadline only woke a read that began before the end; the pipe may still hold something.
		if err != nil && (ended || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return
		}
	}
}

// finish tells the pump that the child is gone.
func (u *pump) finish() {
	u.ended.Store(true)
	if u.from.SetReadDeadline(time.Now()) != nil {
		// No deadlines on this system's pipes: whoever holds it open loses it after a moment.
		time.AfterFunc(quiet, func() { u.from.Close() })
	}
}
