package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Slots bound how many hold a key at the same time: files that are locked for as long as the holder lives. The kernel
// frees the lock of a process that dies, however it dies.
type Slots struct {
	Dir string
}

// Slot is one of them.
type Slot struct{ file *os.File }

// ErrFull says that all slots are taken.
var ErrFull = errors.New("all slots are taken")

// Take takes one of n slots of a key, and writes the holder's name into it. ErrFull if there is none.
func (s Slots) Take(key string, n int, holder string) (*Slot, error) {
	for i := range n {
		path := filepath.Join(s.Dir, fmt.Sprintf("%s.%d.slot", fileName(key), i))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			if err = os.MkdirAll(s.Dir, 0o700); err == nil {
				f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
			}
		}
		if err != nil {
			return nil, err
		}
		held, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("slots cannot be locked in %s: %w", s.Dir, err)
		}
		if held {
			f.Truncate(0)
			f.WriteAt([]byte(holder+"\n"), 0)
			return &Slot{f}, nil
		}
		f.Close()
	}
	return nil, ErrFull
}

// Free gives the slot back. The file stays: to delete it would let two hold the same slot.
func (s *Slot) Free() {
	if s != nil {
		s.file.Truncate(0)
		s.file.Close()
	}
}

// Holders are the names of those that hold a slot of the key now.
func (s Slots) Holders(key string) []string {
	paths, _ := filepath.Glob(filepath.Join(s.Dir, globEscape(fileName(key))+".*.slot"))
	var names []string
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if held, err := tryLock(f); err == nil && !held {
			data, _ := io.ReadAll(io.LimitReader(f, 256))
			if name := strings.TrimSpace(string(data)); name != "" {
				names = append(names, name)
			}
		}
		f.Close()
	}
	return names
}

func globEscape(s string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`, `\`, `\\`).Replace(s)
}
