package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

const (
	// pieceSize is how much of a log is folded in one transaction: about 2,500 lines, a tenth of a second.
	pieceSize = 1 << 20
	// firstSize is where the first line of a log has ended, or it is none.
	firstSize = 64 << 10
	// tailSize is how much before a position is remembered, to recognize the place: a whole line, for only its beginning,
	// with time and id, is like no other.
	tailSize = 4096
)

// source is one log file. It is known by its first line, which has a time and an id that come once: so it may be moved,
// and another may get its name or its number.
type source struct {
	file     *os.File
	name     string
	identity string
	size     int64
	live     bool // lines may still be appended
}

// piece is the lines between two positions.
type piece struct {
	from, to int64
	lines    []line
	torn     int
}

// line is an entry, what it says was used, its digest where it has no other key, and its place among those it came with.
type line struct {
	journal.Entry
	usage   verdict.Usage
	digest  string
	place   int
	machine string // empty in the record of one machine

	settled int64 // milliseconds of the wait that it has planned which have been waited
	took    int64 // of the last line of a run: how long that has taken, in milliseconds
}

// sources are the log files of a state directory, oldest first: those that were moved aside, and the one that is
// written to now.
func (d *DB) sources() (list []*source, err error) {
	moved, err := filepath.Glob(globEscape(d.LogPath()) + ".*")
	if err != nil {
		return nil, err
	}
	slices.Sort(moved)
	for _, path := range append(moved, d.LogPath()) {
		s, err := openSource(path, path == d.LogPath())
		if errors.Is(err, fs.ErrNotExist) || s == nil && err == nil {
			continue
		}
		if refused, ok := errors.AsType[*safefile.Error](err); ok {
			d.sayOnce(fmt.Sprintf("%v and is not read", refused))
			continue
		}
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// globEscape escapes the characters of a path that are special in a pattern.
func globEscape(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

func closeAll(list []*source) {
	for _, s := range list {
		s.file.Close()
	}
}

// sayOnce adds a message for the user, unless it has been added before.
func (d *DB) sayOnce(text string) {
	if !slices.Contains(d.Said, text) {
		d.Said = append(d.Said, text)
	}
}

// openSource opens a log. nil for one that has no whole line yet.
func openSource(path string, live bool) (*source, error) {
	f, err := safefile.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	first := make([]byte, min(info.Size(), firstSize))
	n, err := f.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, err
	}
	end := bytes.IndexByte(first[:n], '\n')
	if end < 0 && (n < firstSize) && (live || n == 0) {
		f.Close()
		return nil, nil
	}
	if end >= 0 {
		first = first[:end]
	}
	return &source{file: f, name: filepath.Base(path), identity: digest(first), size: info.Size(), live: live}, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// tail is what stands before a position: an edit of the file by hand has most likely changed it.
func (s *source) tail(at int64) (string, error) {
	buf := make([]byte, min(at, tailSize))
	if _, err := s.file.ReadAt(buf, at-int64(len(buf))); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return digest(buf), nil
}

// read reads the next whole lines. A last line without an end is left for later, unless the log is no longer written to.
func (s *source) read(from int64) (p piece, err error) {
	text, p, err := s.text(from, !s.live)
	p.lines = make([]line, 0, len(text)/256)
	for raw := range bytes.Lines(text) {
		p.add(raw, "")
	}
	return p, err
}

// text is the text of the next whole lines, and the piece that it is. over says that a last line without an end is one too. A line that is longer than any
// entry is passed over.
func (s *source) text(from int64, over bool) (text []byte, p piece, err error) {
	p.from, p.to = from, from
	buf := make([]byte, max(0, min(s.size-from, pieceSize)))
	n, err := s.file.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, p, err
	}
	end := bytes.LastIndexByte(buf[:n], '\n') + 1
	atEnd := from+int64(n) >= s.size
	switch {
	case atEnd && over:
		end = n
	case end == 0 && !atEnd:
		p, err = s.skip(from)
		return nil, p, err
	}
	p.to = from + int64(end)
	return buf[:end], p, nil
}

// add adds a line, if there is an entry in it, of a machine.
func (p *piece) add(raw []byte, machine string) {
	l := journal.Parse(raw)
	if l.Torn {
		p.torn++
	}
	if l.Entry == nil {
		return
	}
	one := line{Entry: *l.Entry, usage: usageOf(l.Entry.Usage), machine: machine}
	one.Redact() // the log may be that of an older version
	if one.Kind != "" {
		one.digest = digest(append([]byte(machine), raw...))
	}
	p.lines = append(p.lines, one)
}

// skip passes over a line that is longer than any entry.
func (s *source) skip(from int64) (p piece, err error) {
	p.from, p.to = from, from
	buf := make([]byte, pieceSize)
	for at := from; at < s.size; {
		n, err := s.file.ReadAt(buf[:min(int64(len(buf)), s.size-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			p.to, p.torn = at+int64(i)+1, 1
			return p, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return p, err
		}
		at += int64(n)
	}
	if !s.live {
		p.to, p.torn = s.size, 1
	}
	return p, nil
}

// usageOf reads what a CLI has reported. What cannot be read counts as zero, and a cost that cannot be one as unknown.
func usageOf(data json.RawMessage) (u verdict.Usage) {
	if len(data) > 0 && json.Unmarshal(data, &u) != nil {
		return verdict.Usage{}
	}
	u.CostUSD = price.Credible(u.CostUSD)
	u.Estimated = u.Estimated && u.CostUSD != nil
	return u
}
