package fleetpipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"unicode/utf8"
)

// Texts are the texts of results that come in parts, by their jobs.
type Texts map[int64]*LongText

// LongText is a text as a JSON string, in a file without a name. A nil text has none.
type LongText struct {
	file  *os.File
	named bool // Windows keeps the name of an open file
	Whole bool // all parts have come
	size  int64
	err   error // why it cannot be kept: the batch is stopped, and the fleet keeps the result
}

// Add adds a part to a text.
func (t Texts) Add(p *Part) {
	text := t[p.ID]
	if text == nil {
		text = &LongText{}
		t[p.ID] = text
		if text.file, text.err = os.CreateTemp("", "belay-text-"); text.err == nil {
			text.named = os.Remove(text.file.Name()) != nil
		}
	}
	if text.err == nil {
		var n int
		n, text.err = text.file.Write(p.Data)
		text.size += int64(n)
	}
}

// DropParts drops the texts that are not whole.
func (t Texts) DropParts() {
	for job, text := range t {
		if !text.Whole {
			t.Take(job).Close()
		}
	}
}

// Take takes a text out.
func (t Texts) Take(job int64) *LongText {
	text := t[job]
	delete(t, job)
	return text
}

func (t *LongText) Close() {
	if t != nil && t.file != nil {
		if t.file.Close(); t.named {
			os.Remove(t.file.Name())
		}
		t.file = nil
	}
}

// Check reports why it is not a JSON string, which would be the worker's fault. What is this machine's is noticed when it is written.
func (t *LongText) Check() error {
	if t != nil && t.err != nil {
		return nil
	}
	_, err := io.Copy(io.Discard, t.Unquoted())
	return err
}

// Write writes a result with its text.
func (t *LongText) Write(w io.Writer, of *Text) error {
	if t.err != nil {
		return t.err
	}
	_, err := w.Write(of.Before)
	if err == nil {
		_, err = io.Copy(w, io.NewSectionReader(t.file, 0, t.size))
	}
	if err == nil {
		_, err = w.Write(append(bytes.TrimSpace(of.After), '\n'))
	}
	return err
}

// Unquoted reads the text itself.
func (t *LongText) Unquoted() io.Reader {
	if t == nil || t.err != nil || t.size < 2 {
		return &unquoter{err: io.ErrUnexpectedEOF}
	}
	var quotes [2]byte
	t.file.ReadAt(quotes[:1], 0)
	if t.file.ReadAt(quotes[1:], t.size-1); quotes != [2]byte{'"', '"'} {
		return &unquoter{err: io.ErrUnexpectedEOF}
	}
	return &unquoter{from: io.NewSectionReader(t.file, 1, t.size-2)}
}

// unquoter reads what is between the quotes of a JSON string, piece by piece.
type unquoter struct {
	from   io.Reader
	quoted []byte
	plain  []byte
	err    error
}

// Read implements [io.Reader].
func (u *unquoter) Read(p []byte) (int, error) {
	for len(u.plain) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		buf := make([]byte, 64<<10)
		n, err := u.from.Read(buf)
		u.quoted, u.err = append(u.quoted, buf[:n]...), err
		whole := wholeEscapes(u.quoted)
		if errors.Is(err, io.EOF) {
			whole = len(u.quoted)
		}
		var text string
		if err := json.Unmarshal(append(append([]byte{'"'}, u.quoted[:whole]...), '"'), &text); err != nil {
			u.err = err
		}
		u.plain, u.quoted = []byte(text), append(u.quoted[:0], u.quoted[whole:]...)
	}
	n := copy(p, u.plain)
	u.plain = u.plain[n:]
	return n, nil
}

// wholeEscapes is the length of a part of a JSON string without a last character that is not complete. One above U+FFFF may be two escapes.
func wholeEscapes(p []byte) int {
	for i := 0; i < len(p); {
		size := 1
		switch rest := p[i:]; {
		case rest[0] != '\\' && utf8.FullRune(rest):
			_, size = utf8.DecodeRune(rest)
		case len(rest) < 2 || rest[0] != '\\' || rest[1] == 'u' && len(rest) < 8:
			return i
		case rest[1] != 'u':
			size = 2
		case bytes.EqualFold(rest[2:3], []byte("d")) && bytes.IndexByte([]byte("89abAB"), rest[3]) >= 0 && rest[6] == '\\' && rest[7] == 'u':
			size = 12
		default:
			size = 6
		}
		if i+size > len(p) {
			return i
		}
		i += size
	}
	return len(p)
}
