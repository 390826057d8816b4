package sharedfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/sharedfile"
	"github.com/belay-run/belay/internal/test/must"
)

// add adds one to the number in the file.
func add(f sharedfile.File) error {
	lock, err := f.Lock()
	if err != nil {
		return err
	}
	defer lock.Release()
	data, _, err := f.Read(100)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n, _ := strconv.Atoi(string(data))
	return lock.Replace(fmt.Append(nil, n+1))
}

func TestFile_ConcurrentChanges(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	for name, f := range map[string]sharedfile.File{
		"a lock of its own": {Path: filepath.Join(dir, "a")},
		"a shared lock":     {Path: filepath.Join(dir, "b"), LockPath: filepath.Join(dir, "lock")},
	} {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 10 {
					if err := add(f); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if data, info, err := f.Read(100); string(data) != "80" || info.Mode().Perm() != 0o600 || err != nil {
			t.Errorf("%s: %q, %v, %v", name, data, info.Mode(), err)
		}
	}
}

func TestFile_NoLocks(t *testing.T) {
	t.Parallel()
	f := sharedfile.File{Path: filepath.Join(t.TempDir(), "x"), Try: func(*os.File) (bool, error) { return false, errors.ErrUnsupported }}
	if err := add(f); err != nil {
		t.Error(err)
	}
	f.Try = func(*os.File) (bool, error) { return false, errors.New("input/output error") }
	if err := add(f); err == nil || !strings.Contains(err.Error(), "cannot be locked: input/output error") {
		t.Error(err)
	}
}

func TestFile_Damaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(dir, "large"), make([]byte, 101), 0o600))
	own := errors.New("damaged gadget")
	for name, want := range map[string]string{"dir": "it is a directory", "large": "it is too large"} {
		f := sharedfile.File{Path: filepath.Join(dir, name)}
		if _, _, err := f.Read(100); !errors.Is(err, sharedfile.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		f.Damaged = own
		_, _, err := f.Read(100)
		if !errors.Is(err, own) {
			t.Errorf("%s: %v", name, err)
		}
		lock, lerr := f.Lock()
		if lerr != nil {
			t.Fatal(lerr)
		}
		err = lock.SetAside(err)
		lock.Release()
		if _, gone := os.Stat(f.Path); !errors.Is(err, own) || gone == nil || !strings.HasSuffix(err.Error(), "it is now "+f.Path+sharedfile.DamagedSuffix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
