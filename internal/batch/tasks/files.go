package tasks

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// filesReader reads a directory: each file in it is a task, and its content the prompt. Files whose names begin with a dot are left out.
type filesReader struct {
	dir   string
	names []string // sorted
}

func openFiles(dir string) (*filesReader, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	r := &filesReader{dir: dir}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && isFile(filepath.Join(dir, name), e) {
			r.names = append(r.names, name)
		}
	}
	return r, nil
}

func isFile(path string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Next implements [Reader].
func (r *filesReader) Next() (Task, error) {
	if len(r.names) == 0 {
		return Task{}, io.EOF
	}
	name := r.names[0]
	r.names = r.names[1:]
	path := filepath.Join(r.dir, name)
	f, err := os.Open(path)
	if err != nil {
		return Task{}, &Mistake{Path: path, Err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxTask+1))
	if err == nil && len(data) > MaxTask {
		err = errors.New(message.BatchTaskTooLarge(MaxTask >> 20))
	}
	if err != nil {
		return Task{}, &Mistake{Path: path, Err: err}
	}
	return Task{ID: name, Prompt: string(data), File: path}, nil
}

// Skip implements [Reader].
func (r *filesReader) Skip() error {
	if len(r.names) == 0 {
		return io.EOF
	}
	r.names = r.names[1:]
	return nil
}

// Close implements [Reader].
func (r *filesReader) Close() error { return nil }
