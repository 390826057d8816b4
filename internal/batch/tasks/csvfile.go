package tasks

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// csvReader reads a table with a header. Columns that are called as the keys of a task are those; all are placeholders.
type csvReader struct {
	file   io.Closer
	in     *csv.Reader
	name   string
	header []string
}

func newCSVReader(f io.ReadCloser, name string) (*csvReader, error) {
	in := bufio.NewReaderSize(f, 64<<10)
	if start, _ := in.Peek(len(bom)); bytes.Equal(start, bom) {
		in.Discard(len(bom))
	}
	r := &csvReader{file: f, in: csv.NewReader(in), name: name}
	r.in.ReuseRecord = true
	header, err := r.in.Read()
	switch {
	case errors.Is(err, io.EOF):
		err = &Mistake{Path: name, Line: 1, Err: errors.New("the first line must name the columns")}
	case err != nil:
		err = r.mistake(err)
	default:
		for _, column := range header {
			column = strings.TrimSpace(column)
			if column == "" {
				err = &Mistake{Path: name, Line: 1, Err: errors.New("a column has no name")}
				break
			}
			if slices.Contains(r.header, column) {
				err = &Mistake{Path: name, Line: 1, Err: fmt.Errorf("column %q appears twice", column)}
				break
			}
			r.header = append(r.header, column)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// mistake is one that package csv has found.
func (r *csvReader) mistake(err error) error {
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		return &Mistake{Path: r.name, Line: wrong.Line, Column: wrong.Column, Err: wrong.Err}
	}
	return &Mistake{Path: r.name, Err: err}
}

// Next implements [Reader].
func (r *csvReader) Next() (Task, error) {
	row, err := r.in.Read()
	if errors.Is(err, io.EOF) {
		return Task{}, io.EOF
	}
	if err != nil {
		return Task{}, r.mistake(err)
	}
	line, _ := r.in.FieldPos(0)
	t := Task{Line: line, Fields: make(map[string]string, len(row))}
	for i, value := range row {
		t.Fields[r.header[i]] = value
		if err := t.setColumn(r.header[i], value); err != nil {
			line, column := r.in.FieldPos(i)
			return Task{}, &Mistake{Path: r.name, Line: line, Column: column, Err: err}
		}
	}
	return t, nil
}

// setColumn sets what a column of that name says of the task.
func (t *Task) setColumn(name, value string) error {
	switch name {
	case "id":
		t.ID = value
	case "prompt":
		t.Prompt = value
	case "cwd":
		t.Cwd = value
	case "profile":
		t.Profile = value
	case "model":
		t.Model = value
	case "name":
		t.Name = value
	case "timeout":
		var s span
		if value == "" {
			return nil
		}
		err := s.set(value)
		t.Timeout = time.Duration(s)
		return err
	case "max_cost":
		if value == "" {
			return nil
		}
		cost, err := strconv.ParseFloat(value, 64)
		if err != nil || !(cost >= 0) {
			return errors.New(message.BatchNegativeCost())
		}
		t.MaxCost = cost
	case "depends_on":
		t.DependsOn = strings.Fields(value)
	}
	return nil
}

// Skip implements [Reader].
func (r *csvReader) Skip() error {
	_, err := r.in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return r.mistake(err)
	}
	return err
}

// Close implements [Reader].
func (r *csvReader) Close() error { return r.file.Close() }
