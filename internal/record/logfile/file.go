package logfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

const (
	// PieceSize is how much of a log is folded in one transaction: about 2,500 lines, a tenth of a second.
	PieceSize = 1 << 20
	// firstSize is where the first line of a log has ended, or it is none.
	firstSize = 64 << 10
	// tailSize is how much before a position is remembered, to recognize the place: a whole line, for only its beginning,
	// with time and id, is like no other.
	tailSize = 4096
)

// File is one log file. It is known by its first line, which has a time and an id that come once: so it may be moved,
// and another may get its name or its number.
type File struct {
	file     *os.File
	name     string
	identity string
	size     int64
	live     bool // lines may still be appended
}

// Path is the log of a state directory.
func Path(dir string) string { return filepath.Join(dir, "log.jsonl") }

// Files are the log files of a state directory, oldest first: those that were moved aside, and the one that is written to now. Those that have no whole
// line yet are left out, and so are those that are not Belay's own, with the reason in refused.
func Files(dir string) (list []*File, refused []error, err error) {
	log := Path(dir)
	moved, err := filepath.Glob(Escape(log) + ".*")
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(moved)
	for _, path := range append(moved, log) {
		f, err := open(path, path == log)
		if errors.Is(err, fs.ErrNotExist) || f == nil && err == nil {
			continue
		}
		if not, ok := errors.AsType[*safefile.Error](err); ok {
			refused = append(refused, not)
			continue
		}
		if err != nil {
			CloseAll(list)
			return nil, refused, err
		}
		list = append(list, f)
	}
	return list, refused, nil
}

// Escape escapes the characters of a path that are special in a pattern.
func Escape(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// CloseAll closes files.
func CloseAll(list []*File) {
	for _, f := range list {
		f.Close()
	}
}

// open opens a log. nil for one that has no whole line yet.
func open(path string, live bool) (*File, error) {
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
	return &File{file: f, name: filepath.Base(path), identity: Digest(first), size: info.Size(), live: live}, nil
}

// Digest is what lines and places are known by.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// Tail is what stands before a position: an edit of the file by hand has most likely changed it.
func (f *File) Tail(at int64) (string, error) {
	buf := make([]byte, min(at, tailSize))
	if _, err := f.file.ReadAt(buf, at-int64(len(buf))); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return Digest(buf), nil
}

// Text is the text of the next whole lines, the position behind it, and how many lines were passed over because they are longer than any entry. over says
// that a last line without an end is one too.
func (f *File) Text(from int64, over bool) (text []byte, to int64, torn int, err error) {
	buf := make([]byte, max(0, min(f.size-from, PieceSize)))
	n, err := f.file.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, from, 0, err
	}
	end := bytes.LastIndexByte(buf[:n], '\n') + 1
	atEnd := from+int64(n) >= f.size
	switch {
	case atEnd && over:
		end = n
	case end == 0 && !atEnd:
		to, torn, err = f.skip(from)
		return nil, to, torn, err
	}
	return buf[:end], from + int64(end), 0, nil
}

// skip passes over a line that is longer than any entry.
func (f *File) skip(from int64) (to int64, torn int, err error) {
	buf := make([]byte, PieceSize)
	for at := from; at < f.size; {
		n, err := f.file.ReadAt(buf[:min(int64(len(buf)), f.size-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, 1, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return from, 0, err
		}
		at += int64(n)
	}
	if !f.live {
		return f.size, 1, nil
	}
	return from, 0, nil
}

// Begins is the time of the first line.
func (f *File) Begins() time.Time {
	buf := make([]byte, 64)
	n, _ := f.file.ReadAt(buf, 0)
	_, rest, _ := strings.Cut(string(buf[:n]), `"timestamp":"`)
	text, _, _ := strings.Cut(rest, `"`)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Now()
	}
	return t
}

// Stat describes the file as it is now.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Name is the name of the file.
func (f *File) Name() string { return f.name }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Identity is what the file is known by.
func (f *File) Identity() string { return f.identity }

// Size is how long it was when it was opened.
func (f *File) Size() int64 { return f.size }

// Live reports whether lines may still be appended to it.
func (f *File) Live() bool { return f.live }

// RawLine is a line of a log as it stands, with its end, and where it begins.
type RawLine struct {
	Position int64
	Text     []byte
}

// Lines are the next whole lines, and the position behind them. The last one of a file that is no longer written to may be without an end. A line
// that is longer than any entry is passed over.
func (f *File) Lines(from int64) (list []RawLine, to int64, err error) {
	text, to, _, err := f.Text(from, f.left())
	at := from
	for line := range bytes.Lines(text) {
		list = append(list, RawLine{at, line})
		at += int64(len(line))
	}
	return list, to, err
}

// left reports whether no writer has the file open any more.
func (f *File) left() bool {
	if f.live {
		return false
	}
	info, err := f.file.Stat()
	return err == nil && time.Since(info.ModTime()) >= MinAge
}

// MinAge is how long a log that was moved aside is kept at least: a writer that had opened it may still write its line.
const MinAge = time.Minute
