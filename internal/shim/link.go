package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// State is what a directory has under the name of a CLI.
type State string

const (
	None   State = "none"   // nothing
	Linked State = "linked" // a link to a Belay that is there
	Broken State = "broken" // a link to a Belay that is gone
	Other  State = "other"  // something that is not ours
)

// Link is what a directory has under the name of a CLI.
type Link struct {
	Name, Path string
	State      State
	Target     string // where the link leads, if it is ours
}

// Look looks at the link of a CLI in a directory.
func Look(dir, name string) Link {
	l := Link{Name: name, Path: filepath.Join(dir, name), State: Other}
	info, err := os.Lstat(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		l.State = None
		return l
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return l
	}
	target, err := os.Readlink(l.Path)
	if err != nil {
		return l
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	there, err := os.Stat(target)
	own := self()
	switch {
	case !named(target) && (err != nil || own == nil || !os.SameFile(there, own)):
		return l
	case err != nil:
		l.State = Broken
	default:
		l.State = Linked
	}
	l.Target = target
	return l
}

// Own reports whether the link is one of Belay's.
func (l Link) Own() bool { return l.State == Linked || l.State == Broken }

// ErrOther says that there is something under the name that is not a link of Belay's.
var ErrOther = errors.New("there is something else of that name")

// Install makes the link of a CLI lead to the executable belay, and reports whether that is new. Something else under its name is
// left alone: [ErrOther].
func Install(dir, name, belay string) (changed bool, err error) {
	l := Look(dir, name)
	switch {
	case l.State == Other:
		return false, ErrOther
	case l.State == Linked && l.Target == belay:
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	// In the place of an old link only at the end: there is never a moment without one.
	fresh := filepath.Join(dir, fmt.Sprintf(".%s.%d", name, os.Getpid()))
	if err := os.Symlink(belay, fresh); err != nil {
		return false, err
	}
	if err := os.Rename(fresh, l.Path); err != nil {
		os.Remove(fresh)
		return false, err
	}
	return true, nil
}

// Remove removes the link of a CLI, and reports whether there was one. Something else under its name is left alone: [ErrOther].
func Remove(dir, name string) (removed bool, err error) {
	l := Look(dir, name)
	switch {
	case l.State == Other:
		return false, ErrOther
	case !l.Own():
		return false, nil
	}
	return true, os.Remove(l.Path)
}

// RemoveDir removes the directory if nothing is left in it, and, if it is the one of [DefaultDir], the one around it.
func RemoveDir(dir string) {
	own, err := DefaultDir()
	if os.Remove(dir) == nil && err == nil && dir == own {
		os.Remove(filepath.Dir(dir))
	}
}

// Dirs are the directories that have a link of Belay's for one of these CLIs: the default one, and those on PATH.
func Dirs(names []string) (dirs []string) {
	all := filepath.SplitList(os.Getenv("PATH"))
	if own, err := DefaultDir(); err == nil {
		all = append([]string{own}, all...)
	}
	seen := map[string]bool{}
	for _, dir := range all {
		dir, err := filepath.Abs(dir)
		if err != nil || seen[dir] {
			continue
		}
		seen[dir] = true
		for _, name := range names {
			if Look(dir, name).Own() {
				dirs = append(dirs, dir)
				break
			}
		}
	}
	return dirs
}
