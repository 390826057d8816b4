package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// CheckResults says why results must not be written to a path, before anything is: a link leads there that the user has not made, the tasks are in that
// file, or it would be a task itself. implied says that the path was not given but made of the name of the tasks, which is where the authors of a
// repository can have put anything.
func CheckResults(path string, implied bool, tasks string) error {
	if info, err := os.Lstat(path); err == nil && implied && info.Mode()&fs.ModeSymlink != 0 {
		return errors.New(message.Sentences(fmt.Sprintf("%s is a symbolic link", path), "to write where it leads, name it with -o"))
	}
	if err := checkLinks(path); err != nil {
		return err
	}
	if sameFile(path, tasks) {
		if f, err := safefile.OpenRegular(path); err == nil {
			defer f.Close()
			if !isLedger(f, false) {
				return errors.New(message.BatchNotResults())
			}
		}
		return errors.New("it holds the tasks")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if sameFile(filepath.Dir(path), tasks) && !strings.HasPrefix(filepath.Base(path), ".") { // which is left out of the tasks
		return errors.New(message.BatchAmongTasks(tasks))
	}
	return nil
}

// CheckOutputDir says why outputs must not be written to a directory.
func CheckOutputDir(dir, tasks string) error {
	if err := checkLinks(dir); err != nil {
		return err
	}
	if sameFile(dir, tasks) {
		return errors.New(message.BatchAmongTasks(tasks))
	}
	return nil
}

// checkLinks refuses a path through a link that a git repository brings along.
func checkLinks(path string) error {
	link, err := safefile.TrackedLink(path)
	if err != nil {
		return err
	}
	if link != "" {
		return fmt.Errorf("%s is a symbolic link that comes with the git repository", link)
	}
	return nil
}

// sameFile reports whether two paths lead to one file or directory.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" { // stdin
		return false
	}
	first, err := os.Stat(a)
	second, serr := os.Stat(b)
	return err == nil && serr == nil && os.SameFile(first, second)
}
