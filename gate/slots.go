package gate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/safefile"
)

// Slots bound how many hold a key at the same time: files that are locked for as long as the holder runs. The kernel
// frees the lock of a process that ends, however it ends.
type Slots struct {
	Dir string
	// Fleeting removes a slot's file when it is given back: for keys that come once, such as the name of a session. They
	// have one slot each.
	Fleeting bool

	shared bool // with other machines: a member of a fleet leases them
}

// Slot is one of them.
type Slot struct {
	file     *os.File
	fleeting bool

	// In memory:
	holder string
	free   func()
}

// ErrFull says that all slots are taken.
var ErrFull = errors.New("all slots are taken")

// Take takes one of n slots of a key, and writes the holder's name into it. ErrFull if there is none.
func (s Slots) Take(key string, n int, holder string) (*Slot, error) {
	slot, err := s.take(key, n, holder)
	if errors.Is(err, ErrFull) {
		// Another process may have locked a slot for a moment to read its holder, see Holders.
		time.Sleep(time.Millisecond)
		slot, err = s.take(key, n, holder)
	}
	return slot, err
}

func (s Slots) take(key string, n int, holder string) (*Slot, error) {
	for i := range n {
		f, err := s.open(key, i)
		if s.shared && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		held, err := flock.Try(f, flock.Exclusive)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("slots cannot be locked in %s: %w", s.Dir, err)
		}
		if held && s.Fleeting && !flock.Named(f) {
			// Its last holder removed it after we had opened it. Another may have made a new one by now.
			f.Close()
			return s.take(key, n, holder)
		}
		if held && s.shared && nameIn(f) == gatefile.Elsewhere {
			f.Close() // the member has ended, and may be back soon
			continue
		}
		if held {
			f.Truncate(0)
			f.WriteAt([]byte(holder+"\n"), 0)
			return &Slot{file: f, fleeting: s.Fleeting}, nil
		}
		f.Close()
	}
	return nil, ErrFull
}

// open opens the file of a slot. Only the member of a fleet makes those that are shared with other machines.
func (s Slots) open(key string, i int) (*os.File, error) {
	if s.shared {
		return safefile.OpenOwn(s.path(key, i), os.O_RDWR)
	}
	return flock.OpenAll(s.path(key, i))
}

// Free gives the slot back. The file stays unless the slot is Fleeting, when takers check that it still exists: otherwise
// deleting it would let two hold the same slot. A second Free does nothing: another may hold the slot by now.
func (s *Slot) Free() {
	if s != nil && s.free != nil {
		s.free()
	}
	if s == nil || s.file == nil {
		return
	}
	if s.file.Truncate(0); s.fleeting {
		os.Remove(s.file.Name()) // while it is locked, so that no other process can have taken it
	}
	s.file.Close()
	s.file = nil
}

// Holders are the names of those that hold a slot of the key now.
func (s Slots) Holders(key string) []string {
	var names []string
	for i := 0; ; i++ {
		f, err := safefile.OpenOwn(s.path(key, i), os.O_RDWR)
		if err != nil { // slots are taken in order: there are no more
			return names
		}
		if name := holderOf(f); name != "" {
			names = append(names, name)
		}
		f.Close()
	}
}

// holderOf is the name of a slot's holder, empty if it has none. It tries the lock only if there is a name, which a killed
// process may have left: while the lock is held for that, the slot seems to be taken.
func holderOf(f *os.File) string {
	name := nameIn(f)
	if name == "" || name == gatefile.Elsewhere {
		return ""
	}
	if held, err := flock.Try(f, flock.Exclusive); held && err == nil {
		f.Truncate(0)
		return ""
	}
	return name
}

// nameIn is what stands in the file of a slot.
func nameIn(f *os.File) string {
	data, _ := io.ReadAll(io.NewSectionReader(f, 0, 256))
	return strings.TrimSpace(string(data))
}

func (s Slots) path(key string, i int) string {
	return gatefile.Slot(s.Dir, key, i)
}
