package batch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// Format says how tasks are written down.
type Format string

const (
	JSONLines Format = "jsonl" // an object a line
	Lines     Format = "lines" // a prompt a line
	CSV       Format = "csv"   // a table with a header
	Files     Format = "files" // a directory with a file for each task
)

// Formats are those that a user may name.
var Formats = []string{string(JSONLines), string(Lines), string(CSV), string(Files)}

// MaxTask is how large a task may be: more than any CLI takes.
const MaxTask = 64 << 20

// Mistake says what is wrong with the tasks, and where.
type Mistake struct {
	Path         string
	Line, Column int // from 1; 0 if the mistake is in no single place
	Err          error
}

func (m *Mistake) Error() string {
	where := m.Path
	for _, n := range []int{m.Line, m.Column} {
		if n > 0 && m.Line > 0 {
			where += fmt.Sprintf(":%d", n)
		}
	}
	return fmt.Sprintf("%s: %v", where, m.Err)
}

// Unwrap returns what is wrong.
func (m *Mistake) Unwrap() error { return m.Err }

// Source is where the tasks are. Each reader begins with the first one.
type Source interface {
	// Name is what messages call it.
	Name() string
	// Open returns a reader that has to be closed.
	Open() (Reader, error)
	// Columns are the names of the placeholders that the source itself defines; nil if any may be there.
	Columns() ([]string, error)
}

// Reader reads tasks one after the other.
type Reader interface {
	// Next is the next task; its ID is empty if the file gives none. The error is [io.EOF] at the end, or a [*Mistake].
	Next() (Task, error)
	// Skip passes over the next task.
	Skip() error
	Close() error
}

// FileSource is a file with tasks, or a directory.
type FileSource struct {
	Path   string
	Format Format
	// Shown is what messages call it; empty means Path.
	Shown string
}

// Name implements [Source].
func (s *FileSource) Name() string {
	if s.Shown != "" {
		return s.Shown
	}
	return s.Path
}

// DetectFormat says how the tasks in a file are written down, by its name, else by how it begins.
func DetectFormat(path string) (Format, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return Files, nil
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".ndjson", ".json":
		return JSONLines, nil
	case ".csv":
		return CSV, nil
	}
	f, err := openTasks(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	start := make([]byte, 4096)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(start[:n], bom), " \t\r\n"), []byte("{")) {
		return JSONLines, nil
	}
	return Lines, nil
}

// openTasks opens a file with tasks, after the mark of one that Belay has made itself.
func openTasks(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err == nil && beginsWith(f, spoolMark) {
		_, err = f.Seek(int64(len(spoolMark)), io.SeekStart)
	}
	return f, err
}

// Open implements [Source].
func (s *FileSource) Open() (Reader, error) {
	if s.Format == Files {
		return openFiles(s.Path)
	}
	f, err := openTasks(s.Path)
	if err != nil {
		return nil, err
	}
	switch s.Format {
	case CSV:
		return newCSVReader(f, s.Name())
	case Lines:
		return &linesReader{newLineReader(f, s.Name())}, nil
	}
	return &jsonReader{newLineReader(f, s.Name())}, nil
}

// Columns implements [Source].
func (s *FileSource) Columns() ([]string, error) {
	switch s.Format {
	case Files:
		return []string{"file"}, nil
	case Lines:
		return []string{}, nil
	case JSONLines:
		return nil, nil
	}
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.(*csvReader).header, nil
}

// bom is what some editors begin a file with.
var bom = []byte("\xef\xbb\xbf")

// lineReader reads lines, without their ends, and counts them.
type lineReader struct {
	file io.Closer
	in   *bufio.Reader
	name string
	line int
	buf  []byte
}

func newLineReader(f io.ReadCloser, name string) *lineReader {
	return &lineReader{file: f, in: bufio.NewReaderSize(f, 64<<10), name: name}
}

// next is the next line that is not empty. It is good until the next call.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.whole()
		if err != nil {
			return nil, err
		}
		if r.line++; r.line == 1 {
			line = bytes.TrimPrefix(line, bom)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

// whole reads to the end of a line.
func (r *lineReader) whole() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		piece, err := r.in.ReadSlice('\n')
		switch {
		case err == nil && len(r.buf) == 0:
			return piece, nil
		case err == nil:
			return append(r.buf, piece...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			if r.buf = append(r.buf, piece...); len(r.buf) > MaxTask {
				return nil, r.mistake(0, errors.New(message.BatchTaskTooLarge(MaxTask>>20)), 1)
			}
		case errors.Is(err, io.EOF) && len(r.buf)+len(piece) > 0:
			return append(r.buf, piece...), nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, r.mistake(0, err, 1)
		}
	}
}

// mistake is one in the line that was just read, or that many lines after it.
func (r *lineReader) mistake(column int, err error, after int) *Mistake {
	return &Mistake{Path: r.name, Line: r.line + after, Column: column, Err: err}
}

// Skip implements [Reader].
func (r *lineReader) Skip() error {
	_, err := r.next()
	return err
}

// Close implements [Reader].
func (r *lineReader) Close() error { return r.file.Close() }

// linesReader reads a prompt a line.
type linesReader struct{ *lineReader }

// Next implements [Reader].
func (r *linesReader) Next() (Task, error) {
	line, err := r.next()
	if err != nil {
		return Task{}, err
	}
	return Task{Prompt: string(line), Line: r.line}, nil
}
