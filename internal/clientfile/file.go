package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// Read reads the file at a location, to edit it. A file that is not there is an [os.ErrNotExist]; one that cannot be understood
// is an error that names the place. Links are followed; but none below the location's repository: they lead where its authors
// like, for instance to a file of the user's. It must belong to the user or to root, or to the owner of the repository.
func Read(l Location) (*File, error) {
	if l.Repository != "" {
		text, err := safefile.ReadRepository(l.Repository, l.Path, maxFile)
		if errors.Is(err, safefile.ErrLink) {
			err = message.Error(fmt.Sprintf("%v, and links in a repository are not followed", err), err)
		}
		return l.parse(text, err)
	}
	return l.parse(safefile.ReadUser(l.Path, maxFile))
}

// Look reads the file at a location for a look at it: links are followed, as by the client, and it may be anyone's.
func Look(l Location) (*File, error) {
	l.Repository = ""
	return l.parse(safefile.ReadRegular(l.Path, maxFile))
}

// parse takes the text apart that was read, unless there is an error.
func (l Location) parse(text []byte, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	f, err := Parse(l, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Path, err)
	}
	f.leaveLogins()
	return f, nil
}

// Parse takes the text of a file apart.
func Parse(l Location, text []byte) (*File, error) {
	f := &File{Location: l, Text: text}
	root, comment, err := l.format.parse(text, l.Client.TrailingCommas && !l.strict)
	if err != nil {
		return nil, err
	}
	if comment >= 0 && (!l.Client.Comments || l.strict) {
		line, column := position(text, comment)
		f.Comment = fmt.Sprintf("line %d, column %d", line, column)
	}
	for _, keys := range l.lists {
		for _, n := range matches(root, keys) {
			entries, err := f.find(n)
			if err != nil {
				return nil, err
			}
			f.Entries = append(f.Entries, entries...)
		}
	}
	return f, nil
}

// parse reads a whole file, which must be an object. An empty one has nothing in it.
func (l Format) parse(text []byte, trailingCommas bool) (root *node, comment int, err error) {
	switch {
	case l == TOML:
		root, err = parseTOML(text)
		return root, -1, err
	case len(bytes.TrimSpace(text)) == 0:
		return newTable(), -1, nil
	}
	if root, comment, err = parseJSON(text, trailingCommas); err != nil {
		return nil, -1, err
	}
	if root.kind != kindObject {
		return nil, -1, wrong(text, root.from, message.MustBeObject("the settings"))
	}
	return root, comment, nil
}

// find lists the entries of one object of hooks or servers, which may not be there.
func (f *File) find(n *node) ([]Entry, error) {
	if n == nil {
		return nil, nil
	}
	if f.Kind == Hooks {
		return f.findHooks(n)
	}
	return f.findServers(n)
}

// Replace writes after in the place of the file, which must still be what was read: else it is an [ErrChanged]. A reader sees one
// or the other, and mode and owner stay. It makes a copy of the file first and returns its path; or, if nothing that belay has installed is left in the file,
// it removes the copy and returns "". The copy has a name that nothing else had. Links are followed as by [Read].
func (f *File) Replace(after []byte) (copied string, err error) {
	d, err := openFile(f.Repository, f.Path)
	if err != nil {
		return "", err
	}
	defer d.close()
	keep, was := f.installedIn(after), f.installedIn(f.Text)
	backup, isNew := d.findBackup(f.Text, was)
	if keep {
		if err := d.backup(backup, f.Text); err != nil {
			return "", explain(f.Path, err)
		}
		if copied = f.Path; f.Repository == "" {
			copied = d.path() // beside what links lead to
		}
		copied += strings.TrimPrefix(backup, d.name)
	}
	if err := d.replace(f.Text, after); err != nil {
		if keep && isNew {
			d.dir.Remove(backup)
		}
		return "", explain(f.Path, err)
	}
	if was && !keep && !isNew {
		d.dir.Remove(backup)
	}
	return copied, nil
}

// installedIn reports whether a text of the whole file, all scopes included, has something in it that belay has installed, or
// cannot be read.
func (f *File) installedIn(text []byte) bool {
	root, _, err := f.format.parse(text, f.Client.TrailingCommas && !f.strict)
	if err != nil {
		return true
	}
	if isLauncher(root.string(f.Client.Launcher)) {
		return true
	}
	whole := &File{Location: f.Location, Text: text}
	for _, place := range f.shared {
		whole.Kind = place.Kind
		for _, n := range matches(root, place.Keys) {
			entries, err := whole.find(n)
			if err != nil {
				return true
			}
			for _, e := range entries {
				if e.State == Installed {
					return true
				}
			}
		}
	}
	return false
}

// matches are the values that a path of keys leads to, of all projects where it names one.
func matches(n *node, keys []string) []*node {
	if len(keys) == 0 {
		return []*node{n}
	}
	if keys[0] != ProjectKey {
		if n = n.get(keys[0]); n == nil {
			return nil
		}
		return matches(n, keys[1:])
	}
	var found []*node
	for _, m := range n.members {
		found = append(found, matches(m.value, keys[1:])...)
	}
	return found
}

// Diff shows what has changed as a unified diff; empty if nothing has.
func Diff(name string, before, after []byte) string {
	_, text, _ := bytes.Cut(diff.Diff(name, before, name, after), []byte("\n")) // without the command that would have made it
	return string(text)
}
