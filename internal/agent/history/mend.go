package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/atomicfile"
)

// ErrHopeless is the error of a record that cannot be mended.
var ErrHopeless = errors.New("cannot be repaired")

// Mend writes a copy of the record without its flaws, under a new id, beside it. The copy has been examined in its turn.
func (r *Report) Mend() (session string, err error) {
	if f := r.Hopeless(); f != "" {
		return "", fmt.Errorf("%w: it has %s", ErrHopeless, f)
	}
	session = newID(r.Session)
	path := filepath.Join(filepath.Dir(r.Path), strings.ReplaceAll(filepath.Base(r.Path), r.Session, session))
	f, err := atomicfile.Create(path, ".belay-session-*.tmp")
	if err != nil {
		return "", err
	}
	buffered := bufio.NewWriterSize(f, 256<<10)
	if err = r.write(buffered, session); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	var after *Report
	if err == nil {
		if after, err = Examine(r.format, f.Name(), session, ""); err == nil && after.Hopeless()+after.remaining() != "" {
			err = fmt.Errorf("%w: it still has %s", ErrHopeless, after.Hopeless()+after.remaining())
		}
	}
	if err != nil {
		return "", errors.Join(err, f.Discard())
	}
	return session, f.Commit()
}

// remaining is a flaw of a copy that was to have none.
func (r *Report) remaining() Flaw {
	for _, f := range r.Found {
		if f.Flaw.Mend() != "" {
			return f.Flaw
		}
	}
	return ""
}

// write writes the record without its flaws.
func (r *Report) write(w io.Writer, session string) error {
	old, id := []byte(r.Session), []byte(session)
	put := func(line []byte) error {
		_, err := w.Write(append(bytes.ReplaceAll(line, old, id), '\n'))
		return err
	}
	headed := r.format.Head == nil || !r.has(Headless)
	held := map[string][]byte{} // results that came before their calls
	_, err := each(r.Path, func(n int, text []byte) error {
		c := r.cuts[n]
		if n >= r.lines || c != nil && c.drop {
			return nil
		}
		if !headed {
			headed = true
			if err := put(r.format.Head(r.Session, text)); err != nil {
				return err
			}
		}
		var calls []string
		if len(held) > 0 {
			calls = r.callsOf(text)
		}
		if c == nil {
			c = &cut{}
		}
		original := text
		if c.joined {
			text = r.format.Link(text, c.parent)
		}
		if len(c.parts) > 0 {
			text = r.format.Cut(text, c.parts)
		}
		if c.behind != "" {
			held[c.behind] = bytes.Clone(text)
			return nil
		}
		err := put(text)
		for _, add := range c.results {
			err = errors.Join(err, put(r.format.Result(original, add.call, add.id, add.parent)))
		}
		for _, call := range calls {
			if result, ok := held[call]; ok {
				err = errors.Join(err, put(result))
				delete(held, call)
			}
		}
		return err
	})
	return err
}

func (r *Report) callsOf(line []byte) (ids []string) {
	l, _ := r.format.Read(line)
	for _, p := range l.Parts {
		if p.Kind == Call {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
