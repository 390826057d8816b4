package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

var (
	// ErrHopeless is the error of a record that cannot be mended.
	ErrHopeless = errors.New("cannot be repaired")
	// ErrChanged is the error of a record that was written anew while it was read.
	ErrChanged = errors.New("has changed while it was read")
)

// Mend writes a copy of the record without its flaws, under a new id, beside it. The copy has been examined in its turn.
func (r *Report) Mend() (session string, err error) {
	if f := r.Hopeless(); f != "" {
		return "", fmt.Errorf("%w: it has %s", ErrHopeless, f)
	}
	session = newID(r.Session)
	name := filepath.Base(r.Path)
	path := filepath.Join(filepath.Dir(r.Path), strings.ReplaceAll(name, r.Session, session))
	if path == r.Path {
		return "", fmt.Errorf("%w: %s is not the name of its record", ErrHopeless, name)
	}
	sweep(filepath.Dir(path))
	f, err := atomicfile.Create(path, unfinished+"*.tmp")
	if err != nil {
		return "", err
	}
	buffered := bufio.NewWriterSize(f, 256<<10)
	m := mender{r, newReport(r.format, path, session), buffered, map[string]held{}, r.format.Head == nil || r.lines[0].Begins}
	_, err = each(r.Path, m.mend)
	if err = errors.Join(err, buffered.Flush()); err == nil {
		if m.copy.close(); len(m.copy.Found) > 0 {
			err = fmt.Errorf("%w: it still has %s", ErrHopeless, m.copy.Found[0].What)
		}
	}
	if err != nil {
		return "", errors.Join(err, f.Discard())
	}
	return session, f.Commit()
}

// unfinished is how the names of copies begin that are being written.
const unfinished = ".belay-session-"

// sweep removes what those have left that were killed as they wrote.
func sweep(dir string) {
	names, _ := safefile.ReadOwnDir(dir)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && strings.HasPrefix(name, unfinished) && time.Since(info.ModTime()) > time.Hour {
			os.Remove(path)
		}
	}
}

// mender writes a copy, line by line, and examines it on the way.
type mender struct {
	*Report
	copy   *Report
	to     *bufio.Writer
	early  map[string]held // results that come before their calls
	headed bool
}

// held is a line that is written later.
type held struct {
	line line
	text []byte
}

// mend writes what becomes of a line. Those that were not there before are of what goes on meanwhile.
func (m *mender) mend(n int, text []byte) error {
	c := m.cuts[n]
	switch {
	case n >= len(m.lines) || c != nil && c.drop:
		return nil
	case maphash.Bytes(seed, text) != m.lines[n].sum:
		return fmt.Errorf("%s %w", m.Path, ErrChanged)
	}
	if !m.headed {
		m.headed = true
		m.write(m.format.Head(m.Session, m.dir, m.lines[n].At))
	}
	l := m.lines[n]
	if c == nil {
		c = &cut{}
	}
	original := text
	if c.joined {
		text = m.format.link(text, c.parent)
	}
	if len(c.parts) > 0 {
		text = m.format.cut(text, c.parts)
	}
	if c.joined || len(c.parts) > 0 {
		l = m.read(text)
	}
	if c.behind != "" {
		m.early[c.behind] = held{l, bytes.Clone(text)}
		return nil
	}
	m.put(l, text)
	parent := l.ID
	for i, call := range c.calls {
		m.write(m.format.link(m.format.Result(original, call, c.ids[i]), parent))
		parent = c.ids[i]
	}
	for _, p := range l.Parts {
		if h, ok := m.early[p.ID]; ok && p.Kind == Call {
			m.put(h.line, h.text)
		}
	}
	return nil
}

// write writes a line that is new.
func (m *mender) write(text []byte) { m.put(m.read(text), text) }

// put writes a line. What it says of its session is said of the copy; that the disk is full shows at the end.
func (m *mender) put(l line, text []byte) {
	m.copy.take(l)
	m.to.Write(bytes.ReplaceAll(text, []byte(m.Session), []byte(m.copy.Session)))
	m.to.WriteByte('\n')
}
