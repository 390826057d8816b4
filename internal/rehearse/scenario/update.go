package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// Update is a file as it is, and as it has to be for its scenarios to pass.
type Update struct {
	path          string
	before, after []byte
}

// Updates are those of all files whose scenarios did not pass. The error names what cannot be written: then a file stays as it is.
func (r Report) Updates() (list []Update, err error) {
	files := map[string]Report{}
	for _, o := range r {
		files[o.File] = append(files[o.File], o)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		u, wrong := files[path].update(path)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s is left as it is: %w", path, wrong))
		} else if !bytes.Equal(u.before, u.after) {
			list = append(list, u)
		}
	}
	return list, err
}

// update makes the update of one file. Each condition that was not met is written anew where it stands; all that else stands there stays. A file that expects
// nothing gets what was seen at its end.
func (r Report) update(path string) (u Update, err error) {
	u.path = path
	if u.before, err = safefile.ReadRegular(path, maxFile); err != nil {
		return u, err
	}
	found, conditions, first := placesOf(u.before), map[string]string{}, ""
	for _, o := range r {
		if o.Error != nil {
			return u, fmt.Errorf("%s cannot be run: %s", o.Name, *o.Error)
		}
		for _, f := range o.Failures {
			key := o.Scenario.find(found, append([]string{"expect"}, f.path...)...)
			if key == "" || f.seen == "" {
				return u, fmt.Errorf("%s: %s. Write what you expect instead into this file", o.Name, f)
			}
			conditions[key] = f.seen
		}
		if o.Scenario.expectsNothing() {
			first = "\n[expect]\n"
			seen := o.Seen.values()
			Expect{}.each(func(path []string, none condition) {
				if key := path[0]; slices.Contains([]string{"exit", "requests", "stdout", "running"}, key) || key == "class" && seen[key] != "" {
					first += key + " = " + none.seen(seen[key], false) + "\n"
				}
			})
		}
	}
	u.after = slices.Clone(u.before)
	for _, key := range slices.SortedFunc(maps.Keys(conditions), func(a, b string) int { return cmp.Compare(found[b].from, found[a].from) }) {
		u.after = slices.Concat(u.after[:found[key].from], []byte(conditions[key]), u.after[found[key].to:])
	}
	if first != "" {
		u.after = append(bytes.TrimRight(u.after, "\r\n"), "\n"+first...)
	}
	return u, r.passes(path, u.after)
}

// passes says what would still be wrong if the file had that text.
func (r Report) passes(path string, text []byte) error {
	all, err := parse(path, text)
	if err == nil && len(all) != len(r) {
		err = errors.New("it has changed meanwhile")
	}
	for i, s := range all {
		if err != nil {
			break
		}
		if failures := s.Expect.Check(r[i].Seen); len(failures) > 0 {
			err = fmt.Errorf("its variations differ in %s. Give each an expectation of its own", failures[0].What)
		}
	}
	return err
}

// Diff shows what is changed.
func (u Update) Diff() string {
	// Without the command that would have made it.
	_, text, _ := bytes.Cut(diff.Diff(u.path, u.before, u.path, u.after), []byte("\n"))
	return string(text)
}

// Write writes the file. Its mode stays, and a link to it.
func (u Update) Write() error {
	path, err := filepath.EvalSymlinks(u.path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return atomicfile.WriteMode(path, ".belay-*", u.after, info.Mode().Perm())
}
