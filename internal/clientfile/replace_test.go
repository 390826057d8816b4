package clientfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/test/must"
)

// A change that a client makes after the file was read is neither lost nor mixed with ours, and nothing is left beside the file.
func TestFile_Replace_Changed(t *testing.T) {
	const settings, theirs = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}`, `{"edits": 1}`
	for name, change := range map[string]func(path string) error{
		"InPlace": func(path string) error { return os.WriteFile(path, []byte(theirs), 0o600) },
		"Rename": func(path string) error {
			return errors.Join(os.WriteFile(path+".tmp", []byte(theirs), 0o600), os.Rename(path+".tmp", path))
		},
		"Removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			l := at(t, "claude", clientfile.Hooks, clientfile.User)
			must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(l.Path), 0o700), os.WriteFile(l.Path, []byte(settings), 0o600)))
			f, err := clientfile.Read(l)
			must.OK(t, err)
			edit, err := f.Install("belay")
			if err = errors.Join(err, change(l.Path)); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Replace(edit.After); !errors.Is(err, clientfile.ErrChanged) && name != "Removed" || err == nil {
				t.Errorf("it is replaced: %v", err)
			}
			if text, _ := os.ReadFile(l.Path); name != "Removed" && string(text) != theirs {
				t.Errorf("it holds %q", text)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(l.Path), ".settings.json.*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}
