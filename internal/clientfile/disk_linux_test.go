package clientfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

// However often a link takes the place of a repository's file, what it leads to is neither read nor written.
func TestDiskFile_LinkTakesItsPlace(t *testing.T) {
	const mine, theirs = "what the user has written", "{}"
	for name, swapped := range map[string]string{
		"File":      ".claude/settings.json",
		"Directory": ".claude",
		"Backup":    ".claude/settings.json" + backupSuffix,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			elsewhere, repository := filepath.Join(dir, "elsewhere"), filepath.Join(dir, "repo")
			path, aside := filepath.Join(repository, ".claude/settings.json"), filepath.Join(repository, "aside")
			users := filepath.Join(elsewhere, "settings.json")
			to := users
			if name == "Directory" {
				to = elsewhere
			}
			for _, err := range []error{
				os.Mkdir(elsewhere, 0o700),
				os.WriteFile(users, []byte(mine), 0o600),
				os.MkdirAll(filepath.Dir(path), 0o700),
				os.WriteFile(path, []byte(theirs), 0o600),
				os.WriteFile(path+backupSuffix, []byte(theirs), 0o600),
				os.Symlink(to, aside),
				unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, filepath.Join(repository, swapped), unix.RENAME_EXCHANGE),
			} {
				must.OK(t, err)
			}
			var swapping sync.WaitGroup
			defer swapping.Wait()
			done := make(chan struct{})
			defer close(done)
			swapping.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, filepath.Join(repository, swapped), unix.RENAME_EXCHANGE)
					}
				}
			})
			for round := range 5000 {
				f, err := openFile(repository, path)
				if err != nil {
					continue
				}
				if text, err := f.read(); err == nil && string(text) != theirs {
					t.Fatalf("it holds %q", text)
				}
				if round%50 == 0 {
					f.backup(f.name+backupSuffix, []byte(theirs))
					f.replace([]byte(theirs), []byte(theirs))
				}
				f.close()
			}
			if text, _ := os.ReadFile(users); string(text) != mine {
				t.Errorf("the user's file holds %q", text)
			}
			if entries, _ := os.ReadDir(elsewhere); len(entries) != 1 {
				t.Errorf("beside it: %v", entries)
			}
		})
	}
}

// What replaces a file belongs to the file's owner and has its mode, and so has the copy beside it.
func TestDiskFile_KeepsOwnerAndMode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	for _, err := range []error{os.WriteFile(path, []byte("one"), 0o600), os.Chown(path, 1234, 5678), os.Chmod(path, 0o620)} {
		must.OK(t, err)
	}
	f, err := openFile("", path)
	must.OK(t, err)
	defer f.close()
	must.OK(t, errors.Join(f.backup(f.name+backupSuffix, []byte("one")), f.replace([]byte("one"), []byte("two"))))
	for _, name := range []string{path, path + backupSuffix} {
		var stat unix.Stat_t
		if err := unix.Lstat(name, &stat); err != nil || stat.Uid != 1234 || stat.Gid != 5678 || stat.Mode&0o777 != 0o620 {
			t.Errorf("%s: owner %d:%d, mode %o, %v", name, stat.Uid, stat.Gid, stat.Mode, err)
		}
	}
}

// What a killed belay has left is removed when it is old, and nothing else.
func TestDiskFile_Sweep(t *testing.T) {
	dir := t.TempDir()
	others := []string{"settings.json", ".settings.json.swp", ".settings.json.1a2b3c", ".other.json.belay-1a2b", "settings.json.belay-backup"}
	for _, name := range append(others, ".settings.json.belay-1a2b3c") {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600))
	}
	f, err := openFile("", filepath.Join(dir, "settings.json"))
	must.OK(t, err)
	defer f.close()
	for _, tt := range []struct {
		age  time.Duration
		left int
	}{{leftover, len(others) + 1}, {0, len(others)}} {
		f.sweep(tt.age)
		if entries, _ := os.ReadDir(dir); len(entries) != tt.left {
			t.Errorf("after %v: %v", tt.age, entries)
		}
	}
}
