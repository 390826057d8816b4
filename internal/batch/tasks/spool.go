package tasks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/batch/marked"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// spoolSuffixes name the copy of tasks that can be read only once, beside the results. The second is for where the first is another file's.
var spoolSuffixes = []string{".tasks", ".stdin"}

// spoolMark is how a copy of tasks begins; those of earlier versions had nothing of the kind, and are read but not removed.
const spoolMark = `{"belay":"spooled-tasks"}` + "\n"

// SpoolFiles are where the copy may be that belongs to these results.
func SpoolFiles(results string) (paths []string) {
	for _, suffix := range spoolSuffixes {
		paths = append(paths, results+suffix)
	}
	return paths
}

// A Spool is the copy of tasks that can be read only once. It takes the place of an earlier one when it is kept: another batch may be working on
// that, and goes on with it after a kill.
type Spool struct {
	Path string // where the tasks are now
	kept string // where they are kept; empty if they already are
	file *os.File
}

// ReadSpool keeps tasks from stdin in a file beside the results, which only its owner can read. Where nothing comes, or a person sits in front of
// it, those of the batch that was begun with the same results are used.
func ReadSpool(ctx context.Context, stdin io.Reader, results string, terminal bool) (*Spool, error) {
	removeAbandoned(results + spoolSuffixes[0] + ".")
	earlier := earlierSpool(results)
	if stdin == nil || terminal {
		if earlier == "" {
			return nil, errors.New(message.BatchNoTasks())
		}
		return &Spool{Path: earlier}, nil
	}
	first := make([]byte, 4096)
	n, err := readFirst(ctx, stdin, first)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n == 0 && earlier != "" {
		return &Spool{Path: earlier}, nil
	}
	kept := spoolPath(results)
	if kept == "" {
		return nil, errors.New(message.BatchNotOurs(results + spoolSuffixes[1]))
	}
	f, err := os.CreateTemp(filepath.Dir(results), filepath.Base(results)+spoolSuffixes[0]+".*")
	if err != nil {
		return nil, err
	}
	s := &Spool{Path: f.Name(), kept: kept, file: f}
	return s, s.write(ctx, io.MultiReader(bytes.NewReader(first[:n]), stdin))
}

// earlierSpool is the copy that a batch with these results has left: one of ours, else one of a version that did not mark them; empty if there
// is none.
func earlierSpool(results string) string {
	for _, suffix := range spoolSuffixes {
		if marked.Is(results+suffix, spoolMark) {
			return results + suffix
		}
	}
	if info, err := os.Lstat(results + spoolSuffixes[0]); err == nil && info.Mode().IsRegular() {
		return results + spoolSuffixes[0]
	}
	return ""
}

// spoolPath is where a copy is kept without taking the place of a file that is not ours; empty if there is none.
func spoolPath(results string) string {
	for _, suffix := range spoolSuffixes {
		if _, err := os.Lstat(results + suffix); errors.Is(err, os.ErrNotExist) || marked.Is(results+suffix, spoolMark) {
			return results + suffix
		}
	}
	return ""
}

// removeAbandoned removes copies that were being written when their batch was killed: they are marked, and no process has them locked.
func removeAbandoned(prefix string) {
	dir, err := os.ReadDir(filepath.Dir(prefix))
	if err != nil {
		return
	}
	for _, e := range dir {
		number, ok := strings.CutPrefix(e.Name(), filepath.Base(prefix))
		if _, err := strconv.ParseUint(number, 10, 64); !ok || err != nil {
			continue
		}
		path := filepath.Join(filepath.Dir(prefix), e.Name())
		f, err := safefile.OpenOwnElsewhere(path, os.O_RDWR)
		if err != nil {
			continue
		}
		if held, err := flock.Try(f, flock.Exclusive); held && err == nil && marked.Begins(f, spoolMark) {
			os.Remove(path)
		}
		f.Close()
	}
}

// ReadSpoolFile does the same with a named pipe or a device.
func ReadSpoolFile(ctx context.Context, name, results string) (*Spool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadSpool(ctx, f, results, false)
}

// Keep makes it the copy from which the batch continues. It is called by the one that holds the results.
func (s *Spool) Keep() error {
	if s == nil || s.kept == "" {
		return nil
	}
	if runtime.GOOS == "windows" {
		s.file.Close() // where an open file keeps its name
	}
	if err := os.Rename(s.Path, s.kept); err != nil {
		return err
	}
	s.file.Close() // and its lock
	s.Path, s.kept = s.kept, ""
	return nil
}

// Discard removes it, unless it is kept.
func (s *Spool) Discard() {
	if s != nil && s.kept != "" {
		os.Remove(s.Path)
		s.file.Close()
		s.kept = ""
	}
}

// RemoveSpool removes the copy beside these results. It is called by the one that holds them.
func RemoveSpool(results string) {
	for _, suffix := range spoolSuffixes {
		marked.Remove(results+suffix, spoolMark)
	}
}

// readFirst reads the beginning, which may take as long as a person takes to type it, or forever.
func readFirst(ctx context.Context, r io.Reader, p []byte) (n int, err error) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		for n == 0 && err == nil {
			n, err = r.Read(p)
		}
	}()
	select {
	case <-read:
		return n, err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// write makes the copy. One that is cut short would be a batch with fewer tasks.
func (s *Spool) write(ctx context.Context, r io.Reader) (err error) {
	flock.Try(s.file, flock.Exclusive) // so that it is not taken for an abandoned one
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(s.file, io.MultiReader(strings.NewReader(spoolMark), r))
		copied <- err
	}()
	select {
	case err = <-copied:
		err = errors.Join(err, s.file.Sync())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.Discard()
	}
	return err
}
