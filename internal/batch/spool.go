package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// spoolSuffix names the copy of tasks that can be read only once, beside the results.
const spoolSuffix = ".tasks"

// A Spool is the copy of tasks that can be read only once. It takes the place of an earlier one when it is kept: another batch may be working on
// that, and goes on with it after a kill.
type Spool struct {
	Path string // where the tasks are now
	kept string // where they are kept; empty if they already are
}

// ReadSpool keeps tasks from stdin in a file beside the results, which only its owner can read. Where nothing comes, or a person sits in front of
// it, those of the batch that was begun with the same results are used.
func ReadSpool(ctx context.Context, stdin io.Reader, results string, terminal bool) (*Spool, error) {
	kept := results + spoolSuffix
	if stdin == nil || terminal {
		if _, err := os.Stat(kept); err != nil {
			return nil, errors.New(message.BatchNoTasks())
		}
		return &Spool{Path: kept}, nil
	}
	first := make([]byte, 4096)
	n, err := readFirst(ctx, stdin, first)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n == 0 {
		if _, err := os.Stat(kept); err == nil {
			return &Spool{Path: kept}, nil
		}
	}
	s := &Spool{Path: fmt.Sprintf("%s.%d", kept, os.Getpid()), kept: kept}
	return s, s.write(ctx, io.MultiReader(bytes.NewReader(first[:n]), stdin))
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
	if err := os.Rename(s.Path, s.kept); err != nil {
		return err
	}
	s.Path, s.kept = s.kept, ""
	return nil
}

// Discard removes it, unless it is kept.
func (s *Spool) Discard() {
	if s != nil && s.kept != "" {
		os.Remove(s.Path)
	}
}

// RemoveSpool removes that file, when all its tasks are done.
func RemoveSpool(results string) { os.Remove(results + spoolSuffix) }

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
func (s *Spool) write(ctx context.Context, r io.Reader) error {
	os.Remove(s.Path)
	f, err := safefile.OpenOwnElsewhere(s.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, r)
		copied <- err
	}()
	select {
	case err = <-copied:
		err = errors.Join(err, f.Sync(), f.Close())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.Discard()
	}
	return err
}
