//go:build linux

package supervise_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func TestRun_Exit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		script string
		code   int
		signal syscall.Signal
		shell  int
	}{
		{"exit 0", 0, 0, 0},
		{"exit 1", 1, 0, 1},
		{"exit 255", 255, 0, 255},
		{"exit 256", 0, 0, 0},
		{"kill -TERM $$", -1, syscall.SIGTERM, 143},
		{"kill -KILL $$", -1, syscall.SIGKILL, 137},
		{"kill -INT $$", -1, syscall.SIGINT, 130},
	} {
		t.Run(tt.script, func(t *testing.T) {
			t.Parallel()
			exit := run(t, shell(tt.script), nil)
			if exit.Code != tt.code || exit.Signal != tt.signal || exit.ShellCode() != tt.shell {
				t.Errorf("code %d, signal %d, for a shell %d; want %d, %d, %d",
					exit.Code, exit.Signal, exit.ShellCode(), tt.code, tt.signal, tt.shell)
			}
			if exit.Reason != supervise.Exited || exit.Left != nil || exit.Killed != 0 {
				t.Errorf("%+v", exit)
			}
		})
	}
}

func TestRun_Times(t *testing.T) {
	t.Parallel()
	before := time.Now()
	exit := run(t, shell(`i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done`), nil)
	if exit.Started.Before(before) || exit.Duration <= 0 || exit.Duration > time.Since(before) {
		t.Errorf("started %v, took %v", exit.Started, exit.Duration)
	}
	if exit.CPU <= 0 || exit.CPU > time.Minute {
		t.Errorf("it used %v of CPU time", exit.CPU)
	}
}

// What has not started is an error that says what the system had against it, and nothing is left of it.
func TestRun_CannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	for name, tt := range map[string]struct {
		spec supervise.Spec
		want error
	}{
		"NotFound":           {supervise.Spec{Path: filepath.Join(dir, "none")}, fs.ErrNotExist},
		"NotExecutable":      {supervise.Spec{Path: file("plain", "#!/bin/sh\n", 0o600)}, fs.ErrPermission},
		"InterpreterMissing": {supervise.Spec{Path: file("alien", "#!/no/such\n", 0o700)}, fs.ErrNotExist},
		"NoProgram":          {supervise.Spec{Path: file("alien.bin", "\x7fELF of another machine", 0o700)}, syscall.ENOEXEC},
		"NoDirectory":        {supervise.Spec{Path: "/bin/sh", Dir: filepath.Join(dir, "none")}, fs.ErrNotExist},
		"TooLong":            {supervise.Spec{Path: "/bin/sh", Args: []string{"sh", strings.Repeat("x", 1<<20)}}, syscall.E2BIG},
		"NUL":                {supervise.Spec{Path: "/bin/sh", Args: []string{"sh\x00"}}, syscall.EINVAL},
	} {
		t.Run(name, func(t *testing.T) {
			tt.spec.Stdout, tt.spec.Stderr = io.Discard, io.Discard
			exit, err := (&supervise.Supervisor{}).Run(tt.spec, func(*supervise.Process) { t.Error("started") })
			if !errors.Is(err, tt.want) || exit.Code != 0 {
				t.Errorf("%v, %+v; want %v", err, exit, tt.want)
			}
		})
	}
}

// A script without a first line that names its interpreter works in every shell and behind env, nice and timeout.
func TestRun_ScriptWithoutInterpreter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script")
	must.OK(t, built.WriteFile(path, []byte("echo \"$0\" \"$#\" \"$1\"\nexit 6\n")))
	var out bytes.Buffer
	spec := supervise.Spec{Path: path, Args: []string{"script", "a  $(b)"}, Stdout: &out}
	if exit := run(t, spec, nil); exit.Code != 6 || out.String() != path+" 1 a  $(b)\n" {
		t.Errorf("%+v, %q", exit, &out)
	}
}

func TestRun_Marker(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  []string
		id   string
		want string
	}{
		"First":       {[]string{"A=1"}, "inner", "inner"},
		"Nested":      {[]string{"BELAY_RUN_ID=outer,middle", "A=1"}, "inner", "outer,middle,inner"},
		"NestedEmpty": {[]string{"BELAY_RUN_ID="}, "inner", "inner"},
		"Similar":     {[]string{"BELAY_RUN_IDS=x"}, "inner", "inner"},
		"None":        {[]string{"BELAY_RUN_ID=outer"}, "", "outer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := shell(`echo "$BELAY_RUN_ID"`)
			var out bytes.Buffer
			spec.Env, spec.RunID, spec.Stdout = tt.env, tt.id, &out
			before := slices.Clone(tt.env)
			run(t, spec, nil)
			if got := strings.TrimSpace(out.String()); got != tt.want {
				t.Errorf("the marker is %q, want %q", got, tt.want)
			}
			if !slices.Equal(tt.env, before) {
				t.Errorf("the caller's environment has become %q", tt.env)
			}
		})
	}
}

func TestRun_Environment(t *testing.T) {
	t.Setenv("SUPERVISE_TEST", "ours")
	for name, tt := range map[string]struct {
		env  []string
		want string
	}{
		"Inherited": {nil, "ours"},
		"Given":     {[]string{"SUPERVISE_TEST=given"}, "given"},
		"Empty":     {[]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := shell(`echo "$SUPERVISE_TEST"`)
			var out bytes.Buffer
			spec.Env, spec.Stdout = tt.env, &out
			run(t, spec, nil)
			if got := strings.TrimSpace(out.String()); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestRun_Directory(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	spec := shell("pwd")
	var out bytes.Buffer
	spec.Dir, spec.Stdout = dir, &out
	run(t, spec, nil)
	if got := strings.TrimSpace(out.String()); got != dir {
		t.Errorf("it ran in %q, want %q", got, dir)
	}
}

func TestRun_Stdin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in")
	must.OK(t, os.WriteFile(path, []byte("hello"), 0o600))
	in, err := os.Open(path)
	must.OK(t, err)
	defer in.Close()
	for name, tt := range map[string]struct {
		stdin *os.File
		want  string
	}{
		"None": {nil, "/dev/null "},
		"File": {in, path + " hello"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := shell(`printf '%s %s' "$(readlink /proc/$$/fd/0)" "$(cat)"`)
			var out bytes.Buffer
			spec.Stdin, spec.Stdout = tt.stdin, &out
			run(t, spec, nil)
			if out.String() != tt.want {
				t.Errorf("%q, want %q", &out, tt.want)
			}
		})
	}
}

// A child gets its three files and nothing else of ours, also when others start children at the same time. (What the
// tests themselves have inherited it gets too.)
func TestRun_NoStrayDescriptors(t *testing.T) {
	list := func() string {
		spec := shell(`cd /proc/$$/fd; echo *`)
		var out bytes.Buffer
		spec.Stdout, spec.Stderr = &out, io.Discard
		run(t, spec, nil)
		return out.String()
	}
	alone := list()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if among := list(); among != alone {
				t.Errorf("it has %s, alone it has %s", among, alone)
			}
		})
	}
	wg.Wait()
}

func TestReason_String(t *testing.T) {
	t.Parallel()
	for reason, want := range map[supervise.Reason]string{supervise.Exited: "exited", supervise.Deadline: "deadline",
		supervise.Stalled: "stalled", supervise.Lingered: "lingered", supervise.Stopped: "stopped"} {
		if got := reason.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (supervise.Proc{PID: 7, Name: "cat"}).String(); got != "7 (cat)" {
		t.Errorf("%q", got)
	}
}
