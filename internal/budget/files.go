package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/sharedfile"
)

// Files keeps books in a directory, a file each.
type Files struct {
	Dir string
	// OneLock has all books share one lock. It is for books that are removed: a lock's file must stay.
	OneLock bool
}

// ErrDamaged says that a book could not be read. It has been set aside, and begins anew.
var ErrDamaged = errors.New("damaged budget file")

const (
	// maxFile bounds what is read. Forty days of fifty spenders with long paths are a tenth of that.
	maxFile = 4 << 20
	// headSize is what a check reads at once: more than the sums of forty days.
	headSize = 4 << 10
)

// Book is a limit and what was spent of it.
type Book struct {
	Name string
	// Terms, if not nil, hold in place of those that are on file, and are put there.
	Terms *Terms

	file   sharedfile.File
	memory *memory // in place of the file
}

// Book returns the book of a name, which need not exist yet. Names are those that [CheckName] allows.
func (f Files) Book(name string, terms *Terms) *Book {
	file := sharedfile.File{Path: filepath.Join(f.Dir, fileName(name)), Damaged: ErrDamaged}
	if f.OneLock {
		file.LockPath = filepath.Join(f.Dir, "lock")
	}
	return &Book{Name: name, Terms: terms, file: file}
}

// memory is a book that only one process charges.
type memory struct {
	mu sync.Mutex
	content
}

// InMemory returns a new book that no other process sees.
func InMemory(name string, terms Terms) *Book {
	return &Book{Name: name, Terms: &terms, memory: &memory{}}
}

// OnFile reports whether other processes can charge the book by its name.
func (b *Book) OnFile() bool { return b.memory == nil }

// CheckName refuses what is not the name of a budget. It becomes the name of a file, and part of an environment variable.
func CheckName(name string) error {
	wrong := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, wrong) || name[0] == '.' || name[0] == '-' {
		return fmt.Errorf("%.80q is not a name for a budget: letters, digits, - and _", name)
	}
	return nil
}

// fileName is the file of a name. Upper case is marked: some file systems do not tell it from lower case.
func fileName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('^')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String()) + ".json"
}

// Check says how the book stands. With an error it stands as if nothing had been spent: trouble with the file must not keep
// anything from being started.
func (b *Book) Check(now time.Time) (Standing, error) {
	h, err := b.head()
	if errors.Is(err, ErrDamaged) {
		err = b.update(func(*content) bool { return false })
	}
	return h.standing(b.terms(&h), now), err
}

// Known reports whether there are terms for the book: given, or on file. One whose file was damaged is known to have had
// some.
func (b *Book) Known() bool {
	if b.Terms != nil {
		return true
	}
	h, err := b.head()
	if err == nil && h.Version == 0 {
		_, gone := os.Lstat(b.file.Path + sharedfile.DamagedSuffix)
		return gone == nil
	}
	return true
}

// terms are those that hold.
func (b *Book) terms(h *head) Terms {
	if b.Terms != nil {
		return *b.Terms
	}
	return h.Terms
}

// Settle puts the terms on file if they are not there yet, for those that join the book by its name.
func (b *Book) Settle() error {
	if h, err := b.head(); b.Terms == nil || err == nil && h.Version != 0 && h.Terms == *b.Terms {
		return nil
	}
	return b.update(func(c *content) bool {
		changed := c.Version == 0 || c.Terms != *b.Terms
		c.Terms = *b.Terms
		return changed
	})
}

// Charge adds to the book, and says how it stands afterwards.
func (b *Book) Charge(now time.Time, charge Charge) (s Standing, err error) {
	err = b.update(func(c *content) bool {
		c.Terms = b.terms(&c.head)
		c.charge(c.Terms.Window, now, charge)
		s = c.standing(c.Terms, now)
		return true
	})
	return s, err
}

// Shares says who has spent what in the present window.
func (b *Book) Shares(now time.Time) ([]Share, error) {
	c, err := b.read()
	return c.shares(b.terms(&c.head).Window, now), err
}

// Reset forgets what was spent in the present window, or only what is not known of it. It reports whether there was
// anything.
func (b *Book) Reset(now time.Time, unknownOnly bool) (changed bool, err error) {
	err = b.update(func(c *content) bool {
		first, next := b.terms(&c.head).Window.days(now)
		reset := func(a *amount) {
			if a.Day < first || a.Day >= next {
				return
			}
			changed = changed || a.Unknown > 0 || !unknownOnly && a.USD > 0
			if a.Unknown = 0; !unknownOnly {
				a.USD = 0
			}
		}
		for i := range c.Days {
			reset(&c.Days[i])
		}
		for i := range c.By {
			reset(&c.By[i].amount)
		}
		c.Days = slices.DeleteFunc(c.Days, func(a amount) bool { return a.USD == 0 && a.Unknown == 0 })
		c.By = slices.DeleteFunc(c.By, func(s share) bool { return s.USD == 0 && s.Unknown == 0 })
		return changed
	})
	return changed, err
}

// Remove removes the file of a book whose time is over.
func (b *Book) Remove() {
	if b.OnFile() {
		os.Remove(b.file.Path)
	}
}

// head reads the first line of the file; the zero head if there is none.
func (b *Book) head() (h head, err error) {
	if b.memory != nil {
		c, err := b.read()
		return c.head, err
	}
	file, _, err := b.file.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer file.Close()
	buf := make([]byte, headSize)
	n, err := io.ReadFull(file, buf)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return h, err
	}
	line, _, whole := bytes.Cut(buf[:n], []byte("\n"))
	if !whole {
		c, err := b.read() // a very long name, or no book at all
		return c.head, err
	}
	return h, b.decode(line, &h)
}

func (b *Book) decode(line []byte, h *head) error {
	err := json.Unmarshal(line, h)
	switch {
	case err != nil:
	case h.Version != 1:
		err = errors.New("not of this version")
	case h.Name != b.Name:
		err = errors.New("it is that of another budget")
	case !h.Terms.valid():
		err = errors.New("its limit is none")
	default:
		return nil
	}
	*h = head{}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// read reads the whole file; the zero content if there is none.
func (b *Book) read() (c content, err error) {
	if b.memory != nil {
		b.memory.mu.Lock()
		defer b.memory.mu.Unlock()
		return content{head: b.memory.head, By: slices.Clone(b.memory.By)}, nil
	}
	data, _, err := b.file.Read(maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := b.decode(first, &c.head); err != nil {
		return c, err
	}
	// Without the second line it is not known who has spent it; what counts is known.
	if json.Unmarshal(rest, &c.By) != nil {
		c.By = nil
	}
	return c, nil
}

// update changes the file under its lock. change reports whether there is anything to write.
func (b *Book) update(change func(*content) bool) error {
	if b.memory != nil {
		b.memory.mu.Lock()
		defer b.memory.mu.Unlock()
		b.memory.Days = slices.Clone(b.memory.Days) // which a reader may have
		change(&b.memory.content)
		return nil
	}
	lock, err := b.file.Lock()
	if err != nil {
		return err
	}
	defer lock.Release()
	c, err := b.read()
	if errors.Is(err, fs.ErrPermission) { // not the directory's: there is the lock
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if errors.Is(err, ErrDamaged) {
		err, c = lock.SetAside(err), content{}
	} else if err != nil {
		return err
	}
	if !change(&c) {
		return err
	}
	c.Version, c.Name = 1, b.Name
	data, eerr := c.encode()
	if eerr == nil {
		eerr = lock.Replace(data)
	}
	return errors.Join(err, eerr)
}

func (c *content) encode() ([]byte, error) {
	first, err := json.Marshal(c.head)
	if err != nil {
		return nil, err
	}
	second, err := json.Marshal(c.By)
	return slices.Concat(first, []byte("\n"), second, []byte("\n")), err
}

// List returns the books that there are, by their names. One that is damaged is left out.
func (f Files) List() ([]*Book, error) {
	names, err := safefile.ReadOwnDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []*Book
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		file := sharedfile.File{Path: filepath.Join(f.Dir, name), Damaged: ErrDamaged}
		data, _, err := file.Read(maxFile)
		if err != nil {
			continue
		}
		var h head
		first, _, _ := bytes.Cut(data, []byte("\n"))
		if json.Unmarshal(first, &h) == nil && h.Version == 1 && fileName(h.Name) == name {
			list = append(list, f.Book(h.Name, nil))
		}
	}
	slices.SortFunc(list, func(a, b *Book) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
