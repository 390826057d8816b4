package tasks

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/batch/marked"
)

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
	if err == nil && marked.Begins(f, spoolMark) {
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
