package supervise

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

// streams are the three files of a child while it starts: what it gets, and what we keep.
type streams struct {
	child  [3]*os.File
	opened []*os.File // those of child that we opened and close once it has them
	pumps  []*pump
}

// nullDevice is shared by all commands that get it.
var nullDevice struct {
	mu   sync.Mutex
	file *os.File
}

func null() (file *os.File, err error) {
	nullDevice.mu.Lock()
	defer nullDevice.mu.Unlock()
	if nullDevice.file == nil {
		nullDevice.file, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	}
	return nullDevice.file, err
}

// openStreams decides for each stream whether the child gets a file of the caller's or a pipe.
func (p *Process) openStreams() error {
	f := &p.streams
	fail := func(err error) error {
		p.closeChildSide()
		p.closeOurSide()
		return err
	}
	var err error
	if f.child[0] = p.spec.Stdin; f.child[0] == nil {
		if f.child[0], err = null(); err != nil {
			return fail(err)
		}
	}
	for i, w := range [2]io.Writer{p.spec.Stdout, p.spec.Stderr} {
		file, isFile := w.(*os.File)
		if isFile && file == nil {
			w, isFile = nil, false
		}
		switch {
		case isFile && p.spec.Stall <= 0:
			f.child[i+1] = file
			continue
		case w == nil && p.spec.Stall <= 0:
			if f.child[i+1], err = null(); err != nil {
				return fail(err)
			}
			continue
		case w == nil:
			w = io.Discard // the caller does not want it, but it is a sign of life
		}
		if i == 1 && len(f.pumps) == 1 && same(w, p.spec.Stdout) {
			f.child[2] = f.child[1] // one pipe keeps the order of what is written to both
			continue
		}
		u := &pump{to: w, life: &p.life, writing: &p.writing, done: make(chan struct{})}
		var c *os.File
		if u.inline = p.spec.InMemory && p.spec.StdoutEnd == nil; u.inline {
			u.fd, c, err = openInline()
			u.inline = !errors.Is(err, errors.ErrUnsupported)
		}
		if !u.inline {
			u.from, c, err = openPipe()
		}
		if err != nil {
			return fail(err)
		}
		f.child[i+1] = c
		f.opened = append(f.opened, c)
		if i == 0 {
			u.end = p.spec.StdoutEnd
		}
		f.pumps = append(f.pumps, u)
	}
	return nil
}

// same reports whether two writers are one.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // some types cannot be compared; those are not the same
	return a == b
}

func (p *Process) closeChildSide() {
	for _, file := range p.streams.opened {
		file.Close()
	}
	p.streams.opened = nil
}

func (p *Process) closeOurSide() {
	for _, pump := range p.streams.pumps {
		pump.close()
	}
}

// startPumps starts those that are not started yet.
func (p *Process) startPumps() {
	for _, pump := range p.streams.pumps {
		if pump.open(); pump.from != nil && !pump.started {
			pump.started = true
			p.pumps.Go(pump.run)
		}
	}
}

// drain takes over what the child has written before it ended, and then lets go of pipes that others hold open. It
// reports whether there were any.
func (p *Process) drain() (held bool) {
	p.drainInline()
	for _, pump := range p.streams.pumps {
		if pump.started {
			pump.finish()
		}
	}
	p.pumps.Wait()
	for _, pump := range p.streams.pumps {
		held = held || pump.held
	}
	return held
}

// MaxTail is how much a [Tail] keeps.
const MaxTail = 4 << 10

// Tail is a writer that keeps the end of what is written to it, as what a failed command has said last. The zero value is empty.
type Tail struct{ kept []byte }

// Write implements [io.Writer].
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-MaxTail):]...)
	if over := len(t.kept) - MaxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *Tail) String() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }
