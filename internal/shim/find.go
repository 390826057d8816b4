package shim

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Found is the CLI behind a shim.
type Found struct {
	Path string
	// Again says that Belay works on the command already: it is not to be run by another Belay inside.
	Again bool
}

// Find finds the CLI of that name on PATH that is not Belay, in the environment of this process. The error is an [fs.ErrNotExist]
// if there is none, and an [fs.ErrPermission] if what is there may not be executed.
func Find(name string) (Found, error) {
	mark := ReadMark(os.Environ())
	again := mark.again(name)
	list, err := candidates(name)
	if again || mark.loops() {
		list = after(list, mark.Path)
	}
	if len(list) == 0 {
		return Found{Again: again}, err
	}
	return Found{Path: list[0], Again: again || mark.loops()}, nil
}

// candidates are the executables of that name on PATH that are not Belay, in order. The error says why there is none.
func candidates(name string) (list []string, err error) {
	all, err := onPath(name)
	for _, e := range all {
		if !e.belay {
			list = append(list, e.path)
		}
	}
	return list, err
}

// First is the executable of that name that a shell finds, and whether it is Belay; empty if there is none.
func First(name string) (path string, belay bool) {
	all, _ := onPath(name)
	if len(all) == 0 {
		return "", false
	}
	return all[0].path, all[0].belay
}

// entry is an executable on PATH.
type entry struct {
	path  string
	belay bool // it is Belay
}

// onPath are the executables of that name on PATH, in order. The error says why there is none but Belay.
func onPath(name string) (list []entry, err error) {
	path, set := os.LookupEnv("PATH")
	if !set {
		path = "/bin" + string(filepath.ListSeparator) + "/usr/bin" // as the C library
	}
	own, err := self(), fs.ErrNotExist
	for _, dir := range filepath.SplitList(path) {
		for _, suffix := range suffixes {
			file, aerr := filepath.Abs(filepath.Join(dir, name+suffix)) // an empty dir is the current one, as for a shell
			if aerr != nil {
				continue
			}
			info, serr := os.Stat(file)
			switch {
			case serr != nil || info.IsDir():
			case isBelay(file, info, own):
				list = append(list, entry{file, true})
			case executable(file, info):
				list = append(list, entry{file, false})
			default:
				err = fs.ErrPermission
			}
		}
	}
	return list, err
}

// after are the candidates behind the one at path. Behind none of them, if path is not among them.
func after(list []string, path string) []string {
	taken, err := os.Stat(path)
	if err != nil {
		return list
	}
	for i := len(list) - 1; i >= 0; i-- {
		if info, err := os.Stat(list[i]); err == nil && os.SameFile(info, taken) {
			return list[i+1:]
		}
	}
	return list
}
