package supervise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// bash is an interactive shell with a helper at hand: $H FILE WHO PLACEMENT SCRIPT.
func bash(t *testing.T) *screen {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\n" + helperVar + "=terminal exec '" + os.Args[0] + "' \"$@\"\n"
	must.OK(t, built.WriteFile(filepath.Join(dir, "h"), []byte(script)))
	cmd := exec.Command(path, "--norc", "--noediting", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "HISTFILE=", "PATH="+dir+":"+os.Getenv("PATH"))
	s := newScreen(t, cmd)
	s.expect("$ ")
	return s
}

// waits makes a file whose reader waits for release. (A shell that waits in a loop can be caught in vfork: as long as its
// child is stopped it is not.)
func waits(t *testing.T, file string) (release func()) {
	t.Helper()
	must.OK(t, syscall.Mkfifo(file, 0o600))
	return func() {
		f, err := os.OpenFile(file, os.O_RDWR, 0) // does not wait for a reader
		must.OK(t, err)
		t.Cleanup(func() { f.Close() })
		f.WriteString("go\n")
	}
}

func TestForeground_CtrlZInShell(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s := bash(t)
		s.send("h " + file + " " + who + ` found 'echo u""p; read x; echo got $x; ` + groups + `exit 5'` + "\n")
		s.expect("up\r\n")
		inFront(t, file)
		for range 3 {
			s.send(ctrlZ)
			s.expect("Stopped")
			eventually(t, "both are stopped", func() bool { return states(file) == "TT" })
			s.send("echo shell $((40+2))\n")
			s.expect("shell 42")
			s.send("fg\n")
			inFront(t, file)
		}
		s.send("hello\n")
		s.expect("got hello")
		s.expect("infront")
		if r := reported(t, file); r.Code != 5 || r.Placement != supervise.Foreground || !r.Front {
			t.Errorf("%+v", r)
		}
		s.send("echo again $((40+2))\n")
		s.expect("again 42")
	})
}

// In the background it goes on without the terminal, and does not take it from the shell: neither when it wants to read
// from it nor at its end.
func TestForeground_Background(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s, release := bash(t), waits(t, file+".go")
		s.send("h " + file + " " + who + ` found 'echo u""p; read x < "$0.go"; ` + groups + `read x; echo got $x; exit 5'` + "\n")
		s.expect("up\r\n")
		inFront(t, file)
		s.send(ctrlZ)
		s.expect("Stopped")
		s.send("bg\n")
		eventually(t, "both go on", func() bool { return !strings.Contains(states(file), "T") })
		release()
		s.expect("behind")
		eventually(t, "it is stopped because it reads", func() bool { return strings.HasPrefix(states(file), "TT") })
		s.send("echo shell $((40+2))\n")
		s.expect("shell 42")
		s.send("fg\n")
		s.send("hello\n")
		s.expect("got hello")
		if r := reported(t, file); r.Code != 5 {
			t.Errorf("%+v", r)
		}
	})
}

func TestForeground_EndsInBackground(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s, release := bash(t), waits(t, file+".go")
		s.send("h " + file + " " + who + ` found 'stty -echo; echo u""p; read x < "$0.go"; kill -KILL $$'` + "\n")
		s.expect("up\r\n")
		inFront(t, file)
		s.send(ctrlZ)
		s.expect("Stopped")
		s.send("bg\n")
		eventually(t, "both go on", func() bool { return !strings.Contains(states(file), "T") })
		release()
		if r := reported(t, file); r.Signal != int(syscall.SIGKILL) || r.Front {
			t.Errorf("%+v", r)
		}
		s.send("echo shell $((40+2))\n")
		s.expect("shell 42")
	})
}

// In a pipeline we share the group, and the kernel does all of it.
func TestSharedGroup_Pipeline(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s := bash(t)
		s.send("h " + file + " " + who + ` found 'echo u""p; read x; echo got $x; read y; exit 5' | cat` + "\n")
		s.expect("up\r\n")
		inFront(t, file)
		s.send(ctrlZ)
		s.expect("Stopped")
		eventually(t, "both are stopped", func() bool { return states(file) == "TT" })
		s.send("fg\n")
		eventually(t, "both go on", func() bool { return !strings.Contains(states(file), "T") })
		s.send("hello\n")
		s.expect("got hello")
		s.send(ctrlC)
		r := reported(t, file)
		if r.Placement != supervise.SharedGroup || !r.Shares || !r.Interrupted || r.Signal != int(syscall.SIGINT) {
			t.Errorf("%+v", r)
		}
	})
}

func TestTerminalPlacement_InShell(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		line   string
		want   supervise.Placement
		shares bool
	}{
		"Alone":      {"h F", supervise.Foreground, true},
		"OutputFile": {"h F > /dev/null", supervise.SharedGroup, true},
		"Piped":      {"h F | cat", supervise.SharedGroup, true},
		"PipedTo":    {"echo x | h F", supervise.SharedGroup, true},
		"Background": {"h F < /dev/null &", supervise.SharedGroup, false},
		"Subshell":   {"(h F; :)", supervise.SharedGroup, true},
		"Script":     {`sh -c "h F; :"`, supervise.SharedGroup, true},
		"Session":    {"setsid h F < /dev/null", supervise.SharedGroup, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, file := bash(t), filepath.Join(t.TempDir(), "f")
			s.send(strings.ReplaceAll(tt.line, "F", file+" library found :") + "\n")
			if r := reported(t, file); r.Placement != tt.want || r.Shares != tt.shares || r.Code != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}
