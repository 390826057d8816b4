//go:build unix

package shim_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/test/must"
)

// place makes directories with executables of these names, "a/claude", and puts the directories on PATH in their order.
func place(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var path []string
	for _, name := range names {
		file := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.OK(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700))
		path = append(path, filepath.Dir(file))
	}
	t.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))
	t.Setenv(shim.MarkVar, "")
	return dir
}

func link(t *testing.T, to, at string) {
	t.Helper()
	os.Remove(at)
	must.OK(t, os.Symlink(to, at))
}

func TestFind(t *testing.T) {
	self, err := os.Executable()
	must.OK(t, err)
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
		again  bool
		err    error
	}{
		"First":         {want: "a/claude"},
		"BehindItself":  {change: func(t *testing.T, dir string) { link(t, self, dir+"/a/claude") }, want: "b/claude"},
		"HardLink":      {change: func(t *testing.T, dir string) { os.Remove(dir + "/a/claude"); os.Link(self, dir+"/a/claude") }, want: "b/claude"},
		"BehindAnother": {change: func(t *testing.T, dir string) { link(t, dir+"/c/belay", dir+"/a/claude") }, want: "b/claude"},
		"LinkOfALink": {change: func(t *testing.T, dir string) {
			link(t, dir+"/c/belay", dir+"/a/other")
			link(t, dir+"/a/other", dir+"/a/claude")
		}, want: "b/claude"},
		"Dangling":        {change: func(t *testing.T, dir string) { link(t, dir+"/nowhere/belay", dir+"/a/claude") }, want: "b/claude"},
		"Directory":       {change: func(t *testing.T, dir string) { os.Remove(dir + "/a/claude"); os.Mkdir(dir+"/a/claude", 0o700) }, want: "b/claude"},
		"NotExecutable":   {change: func(t *testing.T, dir string) { os.Chmod(dir+"/a/claude", 0o600) }, want: "b/claude"},
		"OneOfLinksNamed": {change: func(t *testing.T, dir string) { link(t, dir+"/b/claude", dir+"/a/claude") }, want: "a/claude"},
		"Relative":        {change: func(t *testing.T, dir string) { t.Chdir(dir); t.Setenv("PATH", "a") }, want: "a/claude"},
		"CurrentDirectory": {change: func(t *testing.T, dir string) {
			t.Chdir(dir + "/a")
			t.Setenv("PATH", string(filepath.ListSeparator)+"/nowhere")
		}, want: "a/claude"},
		"Again":           {change: func(t *testing.T, dir string) { mark(t, "claude", os.Getppid(), 1, "claude") }, want: "a/claude", again: true},
		"AgainByAWrapper": {change: func(t *testing.T, dir string) { mark(t, "claude", os.Getpid(), 1, dir+"/a/claude") }, want: "b/claude", again: true},
		"AnotherCLI":      {change: func(t *testing.T, dir string) { mark(t, "codex", os.Getppid(), 1, dir+"/a/claude") }, want: "a/claude"},
		"AgentInAnAgent":  {change: func(t *testing.T, dir string) { mark(t, "claude", 1<<30, 1, dir+"/a/claude") }, want: "a/claude"},
		"Loop":            {change: func(t *testing.T, dir string) { mark(t, "claude", 1<<30, 10, dir+"/a/claude") }, want: "b/claude", again: true},
		"LoopToNothing":   {change: func(t *testing.T, dir string) { mark(t, "claude", 1<<30, 10, dir+"/b/claude") }, err: fs.ErrNotExist},
		"None":            {change: func(t *testing.T, dir string) { t.Setenv("PATH", dir) }, err: fs.ErrNotExist},
		"NoneExecutable": {change: func(t *testing.T, dir string) {
			os.Chmod(dir+"/a/claude", 0o600)
			os.Chmod(dir+"/b/claude", 0o600)
		}, err: fs.ErrPermission},
	} {
		t.Run(name, func(t *testing.T) {
			dir := place(t, "a/claude", "b/claude", "c/belay")
			if test.change != nil {
				test.change(t, dir)
			}
			found, err := shim.Find("claude")
			if test.err != nil {
				if !errors.Is(err, test.err) {
					t.Errorf("%+v, %v", found, err)
				}
				return
			}
			if rel, _ := filepath.Rel(dir, found.Path); err != nil || rel != test.want || found.Again != test.again {
				t.Errorf("%s, again %v, %v; want %s, %v", rel, found.Again, err, test.want, test.again)
			}
		})
	}
}

func mark(t *testing.T, name string, pid, depth int, path string) {
	t.Setenv(shim.MarkVar, fmt.Sprintf("%s:%d:%d:%s", name, pid, depth, path))
}

// The mark names who has set it and counts those around it; nothing that another program has put there does any harm.
func TestMark(t *testing.T) {
	env := []string{"A=1", shim.Setting([]string{"A=1"}, "claude", "/usr/bin/claude")}
	if m := shim.ReadMark(env); m != (shim.Mark{Name: "claude", PID: os.Getpid(), Depth: 1, Path: "/usr/bin/claude"}) {
		t.Errorf("%+v", m)
	}
	env[1] = shim.Setting(env, "codex", "/opt/a:b/codex")
	if m := shim.ReadMark(env); m.Depth != 2 || m.Path != "/opt/a:b/codex" || len(env) != 2 {
		t.Errorf("%+v of %q", m, env)
	}
	for _, value := range []string{"", "x", "claude", "claude:1", "claude:1:2", "::::", "claude:-1:x:y"} {
		if m := shim.ReadMark([]string{shim.MarkVar + "=" + value}); m.Depth != 0 {
			t.Errorf("%q: %+v", value, m)
		}
	}
	if set := shim.Setting([]string{shim.MarkVar + "=" + shim.Off}, "claude", "/usr/bin/claude"); set != shim.MarkVar+"="+shim.Off {
		t.Errorf("%q", set)
	}
}

func TestLinks(t *testing.T) {
	dir := place(t, "bin/belay", "old/belay", "shims/other")
	belay, shims := dir+"/bin/belay", dir+"/shims"
	if changed, err := shim.Install(shims, "claude", belay); !changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	if changed, err := shim.Install(shims, "claude", belay); changed || err != nil {
		t.Errorf("a second time: %v, %v", changed, err)
	}
	link(t, dir+"/old/belay", shims+"/codex")
	if changed, err := shim.Install(shims, "codex", belay); !changed || err != nil || shim.Look(shims, "codex").Target != belay {
		t.Errorf("a link to another: %v, %v", changed, err)
	}
	for _, name := range []string{"claude", "codex"} {
		if l := shim.Look(shims, name); l.State != shim.Linked {
			t.Errorf("%+v", l)
		}
	}
	if _, err := shim.Install(shims, "other", belay); !errors.Is(err, shim.ErrOther) {
		t.Errorf("over a file: %v", err)
	}
	link(t, dir+"/elsewhere", shims+"/gemini")
	if _, err := shim.Install(shims, "gemini", belay); !errors.Is(err, shim.ErrOther) {
		t.Errorf("over a link: %v", err)
	}
	if _, err := shim.Remove(shims, "gemini"); !errors.Is(err, shim.ErrOther) {
		t.Errorf("a link that is not ours: %v", err)
	}
	os.Remove(belay)
	if l := shim.Look(shims, "claude"); l.State != shim.Broken {
		t.Errorf("%+v", l)
	}
	for _, name := range []string{"claude", "codex"} {
		if removed, err := shim.Remove(shims, name); !removed || err != nil {
			t.Errorf("%s: %v, %v", name, removed, err)
		}
	}
	if removed, err := shim.Remove(shims, "claude"); removed || err != nil {
		t.Errorf("one that is not there: %v, %v", removed, err)
	}
	if shim.RemoveDir(shims); shim.Look(shims, "other").State != shim.Other {
		t.Error("what is not ours is gone")
	}
}

func TestStartable(t *testing.T) {
	dir := t.TempDir()
	self, _ := os.Executable()
	for content, want := range map[string]bool{"#!/bin/sh\n": true, "echo\n": false, "": true} {
		path := filepath.Join(dir, "script")
		must.OK(t, os.WriteFile(path, []byte(content), 0o700))
		if got := shim.Startable(path); got != want {
			t.Errorf("%q: %v", content, got)
		}
	}
	if !shim.Startable(self) || !shim.Startable(filepath.Join(dir, "nowhere")) {
		t.Error("a program, or none")
	}
}
