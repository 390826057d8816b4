package batch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// spoolSuffix names the copy of tasks that can be read only once, beside the results.
const spoolSuffix = ".tasks"

// Spool keeps tasks from stdin in a file beside the results, which only its owner can read, and returns its path. Where nothing comes, or a person
// sits in front of it, those of the batch that was begun with the same results are used.
func Spool(ctx context.Context, stdin io.Reader, results string, terminal bool) (string, error) {
	path := results + spoolSuffix
	if stdin == nil || terminal {
		if _, err := os.Stat(path); err != nil {
			return "", errors.New(message.BatchNoTasks())
		}
		return path, nil
	}
	first := make([]byte, 4096)
	n, err := readFirst(ctx, stdin, first)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if n == 0 {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return path, writeSpool(ctx, path, io.MultiReader(bytes.NewReader(first[:n]), stdin))
}

// SpoolFile does the same with a named pipe or a device.
func SpoolFile(ctx context.Context, name, results string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return Spool(ctx, f, results, false)
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

// writeSpool replaces the copy as a whole: one that is cut short would be a batch with fewer tasks.
func writeSpool(ctx context.Context, path string, r io.Reader) error {
	temporary := path + ".new"
	os.Remove(temporary)
	f, err := safefile.OpenOwnElsewhere(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
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
	case <-ctx.Done():
		os.Remove(temporary)
		return context.Cause(ctx)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
	}
	return err
}
