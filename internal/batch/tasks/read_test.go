package tasks

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// Tasks read as JSON are the same when they are written and read again; whatever the line, nothing panics, and mistakes have a place.
func FuzzJSONTask(f *testing.F) {
	f.Add([]byte(`{"id":"a","prompt":"hi","args":["x"],"env":{"A":"b"},"timeout":"5m","max_cost":1.5,"depends_on":["b"],"tags":{"a":"b"},"extra":7}`))
	f.Add([]byte(`{"id":7,"timeout":30,"depends_on":"x"}`))
	f.Add([]byte(`{"id":`))
	f.Add([]byte(`[1]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		task, column, err := parseJSONTask(line)
		if column > len(line)+1 || column < 0 {
			t.Errorf("%q: column %d", line, column)
		}
		if err == nil {
			again, _, err := parseJSONTask(line)
			if err != nil || again.Hash() != task.Hash() {
				t.Errorf("%q: %v", line, err)
			}
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,prompt,x\n1,hi,2\n"))
	f.Add([]byte("\xef\xbb\xbfid\n\"1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := newCSVReader(io.NopCloser(bytes.NewReader(data)), "x")
		for err == nil {
			_, err = r.Next()
		}
		if _, ok := errors.AsType[*Mistake](err); !ok && !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", data, err)
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\n b\nc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &linesReader{newLineReader(io.NopCloser(bytes.NewReader(data)), "x")}
		skipped := &linesReader{newLineReader(io.NopCloser(bytes.NewReader(data)), "x")}
		for {
			task, err := r.Next()
			if serr := skipped.Skip(); !errors.Is(serr, err) {
				t.Fatalf("%q: %v, skipped %v", data, err, serr)
			}
			if err != nil {
				return
			}
			if strings.TrimSpace(task.Prompt) == "" || strings.Contains(task.Prompt, "\n") || task.Line != skipped.line {
				t.Fatalf("%q: %q", data, task.Prompt)
			}
		}
	})
}

// What a template makes of an argument without placeholders is that argument, and no value becomes a second argument.
func FuzzTemplate(f *testing.F) {
	f.Add("{} {id} ${x} {print $1} {\"a\":1}", "value {id}")
	f.Fuzz(func(t *testing.T, arg, value string) {
		tmpl := ParseTemplate([]string{arg})
		task := Task{ID: value, Prompt: value}
		filled, err := tmpl.Fill(&task)
		if !tmpl.Fills() && (err != nil || filled[0] != arg) {
			t.Errorf("%q became %q: %v", arg, filled, err)
		}
		if err == nil && len(filled) != 1 {
			t.Errorf("%q became %q", arg, filled)
		}
	})
}
