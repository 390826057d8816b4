// Package spool keeps the output of a detached run until it has been delivered.
//
// A run has three files in the state directory, for this user alone: a header, and what it has written to stdout and to stderr. Prompts, arguments and the environment are
// in none of them. Output that finds no room is counted and does not disturb the run.
package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise"
)

// Files is the directory of spools.
type Files struct{ Dir string }

// Header tells of a detached run.
type Header struct {
	ID      string          `json:"id"`
	Command string          `json:"command"`
	Name    string          `json:"name,omitempty"`
	Started time.Time       `json:"started"`
	Owner   supervise.Owner `json:"owner"` // the process that writes it
	// Ended is when the run has ended, with that exit code; zero if it has not, or was killed.
	Ended    time.Time `json:"ended,omitzero"`
	ExitCode int       `json:"exit_code"`
	// LostStdout and LostStderr are how many bytes could not be kept, and Trouble is why.
	LostStdout int64  `json:"lost_stdout,omitempty"`
	LostStderr int64  `json:"lost_stderr,omitempty"`
	Trouble    string `json:"trouble,omitempty"`
}

// Over reports whether nothing more is written: the run has ended, or its process is dead. A process that cannot be seen from here, in a container, is not.
func (h *Header) Over() bool { return !h.Ended.IsZero() || h.Owner.Dead() }

// Killed reports whether the run has ended without a word.
func (h *Header) Killed() bool { return h.Ended.IsZero() && h.Owner.Dead() }

// How the names of the files of a spool end.
const (
	headerExt = ".json"
	stdoutExt = ".out"
	stderrExt = ".err"
)

// headerSize is how long a header is: always the same, so that its end finds room on a full disk.
const headerSize = 4096

func (f Files) path(id, ext string) string { return filepath.Join(f.Dir, id+ext) }

// Create makes the spool of a run that is about to be started by this process.
func (f Files) Create(h Header) error {
	if err := safefile.MakeOwnDir(f.Dir); err != nil {
		return err
	}
	var err error
	if h.Owner, err = supervise.Self(); err != nil {
		return err
	}
	h.Command, h.Name = redact.Text(h.Command), redact.Text(h.Name)
	for _, ext := range []string{headerExt, stdoutExt, stderrExt} {
		file, err := safefile.CreateOwn(f.path(h.ID, ext))
		if err == nil && ext == headerExt {
			err = h.write(file)
		}
		if file != nil {
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			f.Remove(h.ID)
			return err
		}
	}
	return nil
}

// OpenStderr opens the file for stderr, for a process that has no other place for its last words.
func (f Files) OpenStderr(id string) (*os.File, error) {
	return safefile.OpenOwn(f.path(id, stderrExt), os.O_WRONLY|os.O_APPEND)
}

// write writes the header in place.
func (h *Header) write(file *os.File) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	data = append(data, bytes.Repeat([]byte{' '}, max(headerSize-len(data)-1, 0))...)
	_, err = file.WriteAt(append(data, '\n'), 0)
	return err
}

// read reads a header.
func read(file *os.File) (h Header, err error) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	return h, err
}

// Writer writes the spool of the run that this process is.
type Writer struct {
	Stdout, Stderr io.Writer

	mu     sync.Mutex
	header Header
	file   *os.File
}

// Adopt makes this process the one that writes a spool.
func (f Files) Adopt(id string) (*Writer, error) {
	file, err := safefile.OpenOwn(f.path(id, headerExt), os.O_RDWR)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file}
	if w.header, err = read(file); err == nil {
		w.header.Owner, err = supervise.Self()
	}
	if err == nil {
		err = w.header.write(file)
	}
	var stdout, stderr *os.File
	if err == nil {
		stdout, err = safefile.OpenOwn(f.path(id, stdoutExt), os.O_WRONLY|os.O_APPEND)
	}
	if err == nil {
		stderr, err = f.OpenStderr(id)
	}
	if err != nil {
		return nil, err
	}
	w.Stdout, w.Stderr = &stream{w, stdout, &w.header.LostStdout}, &stream{w, stderr, &w.header.LostStderr}
	return w, nil
}

// Finish puts the end of the run into the header.
func (w *Writer) Finish(code int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.header.Ended, w.header.ExitCode = time.Now().UTC(), code
	return w.header.write(w.file)
}

// stream is one of the two outputs. Its writes never fail: a run must not end because its output cannot be kept.
type stream struct {
	spool *Writer
	file  io.Writer
	lost  *int64
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err == nil {
		return n, nil
	}
	w := s.spool
	w.mu.Lock()
	defer w.mu.Unlock()
	first := w.header.Trouble == ""
	*s.lost += int64(len(p) - n)
	w.header.Trouble = withoutPath(err)
	if first { // should the run be killed later on, this is still told
		w.header.write(w.file)
	}
	return len(p), nil
}

// withoutPath is what is wrong with a file, without its name.
func withoutPath(err error) string {
	if wrong, ok := errors.AsType[*os.PathError](err); ok {
		err = wrong.Err
	}
	return err.Error()
}

// Reader reads a spool, from the beginning.
type Reader struct {
	Stdout, Stderr *os.File

	header *os.File
}

// Open opens the spool of a run.
func (f Files) Open(id string) (*Reader, error) {
	r := &Reader{}
	for _, part := range []struct {
		ext string
		to  **os.File
	}{{headerExt, &r.header}, {stdoutExt, &r.Stdout}, {stderrExt, &r.Stderr}} {
		var err error
		if *part.to, err = safefile.OpenOwn(f.path(id, part.ext), os.O_RDONLY); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// Header is what the header says now, also when another process has removed the spool meanwhile.
func (r *Reader) Header() (Header, error) { return read(r.header) }

// Close closes the files.
func (r *Reader) Close() {
	for _, file := range []*os.File{r.header, r.Stdout, r.Stderr} {
		file.Close()
	}
}

// List returns the headers of all spools, oldest first.
func (f Files) List() (list []Header, err error) {
	names, err := safefile.ReadOwnDir(f.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		id, ok := strings.CutSuffix(name, headerExt)
		if !ok {
			continue
		}
		if h, ok := f.header(id); ok {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b Header) int { return strings.Compare(a.ID, b.ID) })
	return list, err
}

// header reads the header of a spool. One that is damaged, or about another run, says nothing.
func (f Files) header(id string) (h Header, ok bool) {
	file, err := safefile.OpenOwn(f.path(id, headerExt), os.O_RDONLY)
	if err != nil {
		return h, false
	}
	defer file.Close()
	h, err = read(file)
	return h, err == nil && h.ID == id
}

// Remove removes a spool. The header goes last: what is left of a spool is found by it.
func (f Files) Remove(id string) error {
	var errs []error
	for _, ext := range []string{stdoutExt, stderrExt, headerExt} {
		if err := os.Remove(f.path(id, ext)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// KeptFor is how long output is kept that was not delivered, after the run has ended.
const KeptFor = 30 * 24 * time.Hour

// Prune removes the spools of runs that have ended before that time, and of those that were killed and have written nothing since. It returns
// how many bytes that were, and with dry only that.
func (f Files) Prune(before time.Time, dry bool) (removed int, size int64) {
	names, _ := safefile.ReadOwnDir(f.Dir)
	for _, name := range names {
		id, ok := strings.CutSuffix(name, headerExt)
		if !ok {
			continue
		}
		last, bytes := f.look(id)
		if h, ok := f.header(id); !last.Before(before) || ok && !h.Over() {
			continue
		}
		removed, size = removed+1, size+bytes
		if !dry {
			f.Remove(id)
		}
	}
	return removed, size
}

// look returns when a spool was last written to, and its size.
func (f Files) look(id string) (last time.Time, size int64) {
	for _, ext := range []string{headerExt, stdoutExt, stderrExt} {
		if info, err := os.Lstat(f.path(id, ext)); err == nil {
			size += info.Size()
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
	}
	return last, size
}
