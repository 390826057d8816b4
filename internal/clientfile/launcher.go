package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// LaunchWords stand between belay and the name of a client, where belay is in front of what that starts in the background.
var LaunchWords = []string{"shim", "background"}

// launcher is the value for a client's [Client.Launcher]: a list of words, as JSON in a text. It starts belay, or, where that is gone or does not know of this, what
// belay would have started.
func (f *File) launcher(belay string) string {
	words := slices.Concat([]string{"/bin/sh", "-c", `"$0" "$1" "$2" >/dev/null 2>&1 && exec "$0" "$@"; shift 3; exec "$@"`, belay}, LaunchWords, []string{f.Client.Name})
	var list bytes.Buffer
	e := json.NewEncoder(&list)
	e.SetEscapeHTML(false)
	e.Encode(words) // which never fails
	return quoted(string(bytes.TrimSpace(list.Bytes())))
}

// isLauncher reports whether a value is one that belay has written.
func isLauncher(value string) bool {
	var words []string
	n := len(LaunchWords) + 1
	return json.Unmarshal([]byte(value), &words) == nil && len(words) > n && slices.Equal(words[len(words)-n:len(words)-1], LaunchWords)
}

// ErrOtherLauncher says that a file has a launcher that is not belay.
var ErrOtherLauncher = errors.New("there is another one")

// HasLauncher reports whether the client puts belay in front of what it starts in the background.
func (c *Client) HasLauncher() bool {
	l, err := c.Location(Hooks, User)
	if err != nil {
		return false
	}
	f, err := Look(l)
	if err != nil {
		return false
	}
	root, _, err := f.format.parse(f.Text, c.TrailingCommas)
	return err == nil && isLauncher(root.string(c.Launcher))
}

// InstallLauncher has the client put belay in front of what it starts in the background.
func (f *File) InstallLauncher(belay string) (e Edit, err error) {
	root, _, err := f.format.parse(f.Text, f.Client.TrailingCommas)
	if err != nil {
		return e, err
	}
	if root.from < 0 {
		return e, message.Error("the file is empty")
	}
	c := change{root.from + 1, root.from + 1, quoted(f.Client.Launcher) + ": " + f.launcher(belay)}
	switch m := root.member(f.Client.Launcher); {
	case m != nil && !isLauncher(m.value.text):
		return e, ErrOtherLauncher
	case m != nil:
		c = change{m.value.from, m.value.to, f.launcher(belay)}
	case len(root.members) > 0:
		layout := f.Text[c.from:root.members[0].from]
		if len(bytes.TrimSpace(layout)) > 0 { // a comment
			layout = nil
		}
		c.text = string(layout) + c.text + ","
	}
	e.After = slices.Concat(f.Text[:c.from], []byte(c.text), f.Text[c.to:])
	_, err = Parse(f.Location, e.After)
	return e, err
}

// UninstallLauncher undoes that, to the byte.
func (f *File) UninstallLauncher() (e Edit, err error) {
	for {
		if e, err = f.withoutLauncher(); err != nil || bytes.Equal(e.After, f.Text) {
			return e, err
		}
		f = &File{Location: f.Location, Text: e.After} // a key may be there twice
	}
}

func (f *File) withoutLauncher() (e Edit, err error) {
	e.After = f.Text
	root, _, err := f.format.parse(f.Text, f.Client.TrailingCommas)
	if err != nil || !isLauncher(root.string(f.Client.Launcher)) {
		return e, err
	}
	i := slices.IndexFunc(root.members, func(m member) bool { return m.key == f.Client.Launcher && isLauncher(m.value.text) })
	from, to := root.from+1, root.members[i].value.to
	switch {
	case i > 0:
		from = root.members[i-1].value.to
	case len(root.members) > 1:
		to = editor{f}.comma(to, root.members[1].from) + 1
	}
	e.After = slices.Concat(f.Text[:from], f.Text[to:])
	_, err = Parse(f.Location, e.After)
	return e, err
}

// newFile is the file that belay makes for a launcher where the client has none.
func (f *File) newFile(value string) string {
	return "{\n  " + quoted(f.Client.Launcher) + ": " + value + "\n}\n"
}

// made reports whether the file is one that belay has made for a launcher.
func (f *File) made() bool {
	root, _, err := f.format.parse(f.Text, f.Client.TrailingCommas)
	if err != nil || len(root.members) != 1 {
		return false
	}
	v := root.members[0].value
	return isLauncher(v.text) && string(f.Text) == f.newFile(string(f.Text[v.from:v.to]))
}

// SetLauncher has a client put belay in front of what it starts in the background; belay is empty to undo that. changed is false where there is nothing to do: it is
// so already, or the client has not been used.
func (c *Client) SetLauncher(belay string, dryRun bool) (path string, changed bool, err error) {
	l, err := c.Location(Hooks, User)
	if err != nil {
		return "", false, err
	}
	made := false
	a, err := Apply(l, dryRun, func(f *File) (Edit, error) {
		if belay != "" {
			return f.InstallLauncher(belay)
		}
		made = f.made()
		return f.UninstallLauncher()
	})
	switch {
	case err != nil || a.File == nil && (belay == "" || dryRun):
		return l.Path, false, err
	case a.File != nil:
		if info, lerr := os.Lstat(l.Path); made && !dryRun && lerr == nil && info.Mode().IsRegular() {
			if now, rerr := ReadAny(l); rerr == nil && now != nil && bytes.Equal(now.Text, a.After) { // else it has been written to since
				err = os.Remove(l.Path)
			}
		}
		return l.Path, !bytes.Equal(a.File.Text, a.After), err
	}
	if _, err := os.Stat(filepath.Dir(l.Path)); errors.Is(err, fs.ErrNotExist) {
		return l.Path, false, nil
	}
	f, err := safefile.CreateOwn(l.Path)
	if err != nil {
		return l.Path, false, err
	}
	text := &File{Location: l}
	_, err = f.WriteString(text.newFile(text.launcher(belay)))
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(l.Path) // half of it would be no settings
	}
	return l.Path, err == nil, err
}
