//go:build linux

package supervise_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func TestLook(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	for name, mode := range map[string]os.FileMode{
		"bin/tool": 0o755, "bin/both": 0o644, "late/both": 0o755, "late/plain": 0o644, "here/tool": 0o755, "alien": 0o755,
	} {
		path := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		must.OK(t, os.WriteFile(path, []byte("#!/no/such/interpreter\n"), mode))
	}
	os.MkdirAll(filepath.Join(root, "bin/folder"), 0o755)
	t.Chdir(root)
	t.Setenv("PATH", strings.Join([]string{filepath.Join(root, "bin"), "late", filepath.Join(root, "none")}, ":"))
	for name, tt := range map[string]struct {
		name, dir string
		want      string // below root
		err       error
		text      string
	}{
		"OnPath":             {name: "tool", want: "bin/tool"},
		"OnPathWithDir":      {name: "tool", dir: "here", want: "bin/tool"},
		"NotExecutableFirst": {name: "both", want: "late/both"},
		"RelativePathEntry":  {name: "both", dir: "here", want: "late/both"},
		"OnlyNotExecutable":  {name: "plain", err: fs.ErrPermission, text: "plain is not executable"},
		"FolderOnPath":       {name: "folder", err: fs.ErrNotExist, text: "folder: command not found"},
		"NotFound":           {name: "nothing", err: fs.ErrNotExist, text: "nothing: command not found"},
		"Empty":              {name: "", err: fs.ErrNotExist, text: "no command given"},
		"Absolute":           {name: "$ROOT/here/tool", want: "here/tool"},
		"AbsoluteWithDir":    {name: "$ROOT/here/tool", dir: "bin", want: "here/tool"},
		"Relative":           {name: "here/tool", want: "here/tool"},
		"RelativeWithDir":    {name: "./tool", dir: "here", want: "here/tool"},
		"RelativeToNoDir":    {name: "./tool", err: fs.ErrNotExist, text: "./tool: command not found"},
		"PathNotExecutable":  {name: "late/plain", err: fs.ErrPermission, text: "late/plain is not executable"},
		"PathIsFolder":       {name: "./bin", err: fs.ErrPermission, text: "./bin cannot be executed: is a directory"},
		"PathThroughFile":    {name: "alien/x", err: fs.ErrPermission, text: "alien/x cannot be executed: not a directory"},
		"InterpreterMissing": {name: "./alien", want: "alien"}, // the start will fail
	} {
		t.Run(name, func(t *testing.T) {
			got, err := supervise.Look(strings.ReplaceAll(tt.name, "$ROOT", root), tt.dir)
			if tt.err != nil {
				if !errors.Is(err, tt.err) || err.Error() != tt.text {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			must.OK(t, err)
			if tt.dir != "" && !filepath.IsAbs(got) {
				t.Errorf("%q depends on where we are, and the command is elsewhere", got)
			}
			if abs, _ := filepath.Abs(got); abs != filepath.Join(root, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Without PATH there are still the places that every system has.
func TestLook_NoPath(t *testing.T) {
	t.Setenv("PATH", "") // to be set back
	os.Unsetenv("PATH")
	if got, err := supervise.Look("sh", ""); err != nil || !strings.HasSuffix(got, "/bin/sh") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := supervise.Look("no-such-command", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
