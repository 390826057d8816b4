package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/atomicfile"
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
	f, err := atomicfile.Create(path, ".belay-session-*.tmp")
	if err != nil {
		return "", err
	}
	m := mender{r, newReport(r.format, path, session), bufio.NewWriterSize(f, 256<<10)}
	if r.format.Head != nil && !r.lines[0].Begins {
		m.write(r.format.Head(session, r.dir))
	}
	err = each(r.Path, m.mend)
	if err = errors.Join(err, m.to.Flush()); err == nil {
		if m.copy.close(); len(m.copy.Found) > 0 {
			err = fmt.Errorf("%w: it still has %s", ErrHopeless, m.copy.Found[0].What)
		}
	}
	if err != nil {
		return "", errors.Join(err, f.Discard())
	}
	r.Repaired = session
	return session, f.Commit()
}

// mender writes a copy, line by line, and examines it on the way.
type mender struct {
	*Report
	copy *Report
	to   *bufio.Writer
}

// mend writes what becomes of a line. Those that were not there before are of what goes on meanwhile.
func (m *mender) mend(n int, text []byte) error {
	if n >= len(m.lines) || m.lines[n].drop {
		return nil
	}
	l := &m.lines[n]
	if maphash.Bytes(seed, text) != l.sum {
		return fmt.Errorf("%s %w", m.Path, ErrChanged)
	}
	if len(l.cut) > 0 || l.parent != l.Parent {
		m.write(m.format.changed(text, l))
	} else {
		m.copy.take(l.Line, true, l.sum)
		m.put(text)
	}
	if len(l.lost) > 0 {
		m.write(m.format.Result(text, l.lost, l.added))
	}
	return nil
}

// write writes a line that is new, and looks at it.
func (m *mender) write(text []byte) {
	m.copy.read(text)
	m.put(text)
}

// put writes a line. What it says of its session is said of the copy; that the disk is full shows at the end.
func (m *mender) put(text []byte) {
	m.to.Write(bytes.ReplaceAll(text, []byte(m.Session), []byte(m.copy.Session)))
	m.to.WriteByte('\n')
}
