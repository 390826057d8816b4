package codex

import (
	"crypto/sha1"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/safefile"
)

// maxPatched is the largest file of which changes are shown.
const maxPatched = 4 << 20

// turnDiff is what the patches of a turn have changed in all, as codex keeps account of it: for each file, what it was before
// the turn and what it is now. The zero value has no changes.
type turnDiff struct {
	lost   bool               // a change is not known, so that nothing can be said any more
	before map[string]*string // nil is a file that was not there
	now    map[string]*string
	origin map[string]string // where a file that was moved has been
}

// apply takes note of a patch. Later ones may have been made already.
func (d *turnDiff) apply(changes map[string]fileChange, later []map[string]fileChange) {
	if d.before == nil {
		d.before, d.now, d.origin = map[string]*string{}, map[string]*string{}, map[string]string{}
	}
	for path, c := range changes {
		switch c.Type {
		case "add":
			d.touch(path, nil)
			d.now[path] = &c.Content
		case "delete":
			d.touch(path, &c.Content)
			d.now[path] = nil
		case "update":
			d.update(path, c, later)
		default:
			d.lost = true
		}
	}
}

// touch notes what a file was before its first change.
func (d *turnDiff) touch(path string, was *string) {
	if _, known := d.now[path]; !known {
		d.before[path], d.now[path] = was, was
	}
}

// update follows a change of a file, which may be moved. Of a file that is not known yet, the record has only what has changed;
// the rest is in the file itself, as long as it is not changed again.
func (d *turnDiff) update(path string, c fileChange, later []map[string]fileChange) {
	to := path
	if c.MovePath != nil && *c.MovePath != "" {
		to = *c.MovePath
	}
	was := d.now[path]
	var is string
	ok := false
	if was != nil {
		is, ok = patchText(*was, c.Unified, false)
	} else if is, ok = readBefore(to, later); ok {
		var old string
		old, ok = patchText(is, c.Unified, true)
		was = &old
	}
	if !ok {
		d.lost = true
		return
	}
	d.touch(path, was)
	if to != path {
		d.touch(to, nil)
		d.now[path] = nil
		from, moved := d.origin[path]
		if !moved {
			from = path
		}
		delete(d.origin, path)
		d.origin[to] = from
	}
	d.now[to] = &is
}

// readBefore is what a file was before patches that have been made since.
func readBefore(path string, later []map[string]fileChange) (text string, ok bool) {
	var undo []string
	for i := 0; ; i++ {
		if i == len(later) {
			if text, ok = readPatched(path); !ok {
				return "", false
			}
			break
		}
		c, changed := later[i][path]
		if !changed {
			continue
		}
		if c.Type == "delete" {
			text = c.Content
			break
		}
		if c.Type != "update" {
			return "", false
		}
		undo = append(undo, c.Unified)
		if c.MovePath != nil && *c.MovePath != "" {
			path = *c.MovePath
		}
	}
	for _, diff := range slices.Backward(undo) {
		if text, ok = patchText(text, diff, true); !ok {
			return "", false
		}
	}
	return text, true
}

func readPatched(path string) (string, bool) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPatched+1))
	return string(data), err == nil && len(data) <= maxPatched
}

// text is the difference in git's form, with paths as seen from a directory; empty if there is none, or it is not known.
func (d *turnDiff) text(dir string) string {
	if d.lost {
		return ""
	}
	moved := map[string]string{} // from where to where
	for to, from := range d.origin {
		if d.now[to] != nil && d.now[from] == nil && d.before[from] != nil && d.before[to] == nil {
			moved[from] = to
		}
	}
	var paths []string
	for path := range d.now {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(within(dir, a), within(dir, b)) })
	var all strings.Builder
	for _, path := range paths {
		if from, ok := d.origin[path]; ok && moved[from] == path {
			continue
		}
		to := path
		if other, ok := moved[path]; ok {
			to = other
		}
		all.WriteString(fileDiff(within(dir, path), d.before[path], within(dir, to), d.now[to]))
	}
	return all.String()
}

// fileDiff is the difference of one file.
func fileDiff(oldPath string, old *string, newPath string, now *string) string {
	if old == nil && now == nil || old != nil && now != nil && *old == *now {
		return ""
	}
	head := fmt.Sprintf("diff --git a/%s b/%s\n", oldPath, newPath)
	from, to, oldText, newText := "a/"+oldPath, "b/"+newPath, "", ""
	if old == nil {
		head += "new file mode 100644\n"
		from = "/dev/null"
	} else {
		oldText = *old
	}
	if now == nil {
		head += "deleted file mode 100644\n"
		to = "/dev/null"
	} else {
		newText = *now
	}
	return head + fmt.Sprintf("index %s..%s\n", blob(old), blob(now)) + unified(from, to, oldText, newText)
}

// blob is git's name of a file's content.
func blob(text *string) string {
	if text == nil {
		return strings.Repeat("0", 40)
	}
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(*text), *text)))
}
