package supervise_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// launch runs a script of the shell.
func launch(t *testing.T, limit time.Duration, script string) supervise.Launched {
	t.Helper()
	l, err := supervise.Launch(limit, t.TempDir(), "/bin/sh", []string{"sh", "-c", script})
	must.OK(t, err)
	return l
}

// What is launched has a session of its own, nothing to read and no mark of a run; what it says and how it ends is known.
func TestLaunch(t *testing.T) {
	t.Setenv(supervise.RunIDVar, "run")
	l := launch(t, testTimeout, `echo "$PWD:${`+supervise.RunIDVar+`-none}:$(cut -d " " -f 6 /proc/$$/stat):$$:$(cat)"; echo bad >&2; exit 3`)
	said := strings.Split(strings.TrimSuffix(string(l.Stdout), "\n"), ":")
	if len(said) != 5 || !strings.Contains(said[0], "TestLaunch") || said[1] != "none" || said[2] != said[3] || said[4] != "" || string(l.Stderr) != "bad\n" || l.Code != 3 {
		t.Errorf("exit code %d, %q, %s", l.Code, said, l.Stderr)
	}
	if l := launch(t, testTimeout, "head -c 1000000 /dev/zero"); l.Code != 0 || len(l.Stdout) != 64<<10 {
		t.Errorf("exit code %d, %d bytes", l.Code, len(l.Stdout))
	}
	if _, err := supervise.Launch(testTimeout, "", "/nowhere/sh", []string{"sh"}); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// What a launched program leaves running is left alone, also if it holds the output. A program that takes too long is killed.
func TestLaunch_WhatGoesOn(t *testing.T) {
	t.Parallel()
	l := launch(t, 5*time.Second, "sleep 300 & echo $!") // the time is that of the whole test: the output stays open
	pid, err := strconv.Atoi(strings.TrimSpace(string(l.Stdout)))
	if err != nil || l.Code != 0 || unix.Kill(pid, 0) != nil {
		t.Errorf("exit code %d, %s, %v", l.Code, l.Stdout, unix.Kill(pid, 0))
	}
	if pid > 1 {
		unix.Kill(pid, unix.SIGKILL)
	}
	if l := launch(t, 300*time.Millisecond, "exec sleep 300"); l.Code == 0 {
		t.Errorf("exit code %d, %s", l.Code, l.Stdout)
	}
}
