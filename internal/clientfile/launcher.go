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
	e.After = f.Text
	root, _, err := f.format.parse(f.Text, f.Client.TrailingCommas)
	if err != nil || !isLauncher(root.string(f.Client.Launcher)) {
		return e, err
	}
	i := slices.IndexFunc(root.members, func(m member) bool { return isLauncher(m.value.text) })
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

// noSettings is a file that belay makes for a launcher where the client has none. Others are not written like that.
const noSettings = "{\n \n}\n"

// SetLauncher has a client put belay in front of what it starts in the background; belay is empty to undo that. changed is false where there is nothing to do: it is
// so already, or the client has not been used.
func (c *Client) SetLauncher(belay string, dryRun bool) (path string, changed bool, err error) {
	l, err := c.Location(Hooks, User)
	if err != nil {
		return "", false, err
	}
	if belay != "" && !dryRun {
		if err := l.begin(); err != nil {
			return l.Path, false, err
		}
	}
	a, err := Apply(l, dryRun, func(f *File) (Edit, error) {
		if belay != "" {
			return f.InstallLauncher(belay)
		}
		return f.UninstallLauncher()
	})
	if err != nil || a.File == nil || bytes.Equal(a.File.Text, a.After) {
		return l.Path, false, err
	}
	if info, lerr := os.Lstat(l.Path); !dryRun && lerr == nil && info.Mode().IsRegular() && string(a.After) == noSettings {
		err = os.Remove(l.Path)
	}
	return l.Path, true, err
}

// begin makes the file if there is none, and the client has been used.
func (l Location) begin() error {
	if _, err := os.Stat(filepath.Dir(l.Path)); err != nil {
		return nil
	}
	f, err := safefile.CreateOwn(l.Path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	_, err = f.WriteString(noSettings)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(l.Path) // half of it would be no settings
	}
	return err
}
