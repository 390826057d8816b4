package tasks

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/belay-run/belay/internal/message"
)

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
