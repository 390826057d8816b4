//go:build unix

package flock_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/test/must"
)

// roleVar makes the test binary another process, which locks the file that it names.
const roleVar = "FLOCK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "exclusive":
		hold(os.Args[1], flock.Exclusive)
	case "shared":
		hold(os.Args[1], flock.Shared)
	}
}

// hold says when it waits for the lock and when it has it, and keeps it until its stdin ends.
func hold(path string, mode flock.Mode) {
	f, err := flock.OpenAll(path)
	if err == nil {
		fmt.Println("waiting")
		err = flock.Lock(f, mode)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("locked")
	io.Copy(io.Discard, os.Stdin)
}

// process is another process that wants the lock.
type process struct {
	*exec.Cmd
	stdin io.Closer
	said  *bufio.Scanner
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], path)}
	p.Env = append(os.Environ(), roleVar+"="+role)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err == nil {
		p.stdin, err = p.StdinPipe()
	}
	if err == nil {
		err = p.Start()
	}
	must.OK(t, err)
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	p.said = bufio.NewScanner(out)
	p.expect(t, "waiting")
	return p
}

// expect waits for the next line of the process.
func (p *process) expect(t *testing.T, want string) {
	t.Helper()
	if p.said.Scan(); p.said.Text() != want {
		t.Fatalf("the process said %q, want %q", p.said.Text(), want)
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := flock.OpenAll(path)
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// try opens the file and tries to lock it.
func try(t *testing.T, path string, mode flock.Mode) bool {
	t.Helper()
	f := open(t, path)
	defer f.Close()
	held, err := flock.Try(f, mode)
	must.OK(t, err)
	return held
}

func TestTry_Modes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		holder string
		mode   flock.Mode
		want   bool
	}{
		{"exclusive", flock.Exclusive, false},
		{"exclusive", flock.Shared, false},
		{"shared", flock.Exclusive, false},
		{"shared", flock.Shared, true},
	} {
		path := filepath.Join(t.TempDir(), "lock")
		start(t, tt.holder, path).expect(t, "locked")
		if got := try(t, path, tt.mode); got != tt.want {
			t.Errorf("held %s by another process, mode %d: %v", tt.holder, tt.mode, got)
		}
	}
}

// Two opens in one process exclude each other, and to close one that has no lock frees nothing.
func TestTry_WithinAProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f := open(t, path)
	if held, err := flock.Try(f, flock.Exclusive); !held || err != nil {
		t.Fatal(held, err)
	}
	for range 2 {
		if try(t, path, flock.Exclusive) {
			t.Fatal("locked twice")
		}
	}
	f.Close()
	if !try(t, path, flock.Exclusive) {
		t.Error("still locked after Close")
	}
}

func TestTry_ClosedFile(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "lock"))
	f.Close()
	if held, err := flock.Try(f, flock.Exclusive); held || err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Error(held, err)
	}
}

// A process that waits gets the lock when the holder is done, or is killed with SIGKILL.
func TestLock_Waits(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process) error{
		"Done":   func(p *process) error { return p.stdin.Close() },
		"Killed": func(p *process) error { return p.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "lock")
			holder := start(t, "exclusive", path)
			holder.expect(t, "locked")
			waiter := start(t, "exclusive", path)
			if try(t, path, flock.Shared) {
				t.Fatal("not locked while one process holds it and another waits")
			}
			must.OK(t, end(holder))
			waiter.expect(t, "locked")
			if try(t, path, flock.Shared) {
				t.Error("not locked by the process that waited")
			}
		})
	}
}

// The lock of a process that was killed is free as soon as the process is gone.
func TestTry_HolderKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	for range 20 {
		p := start(t, "exclusive", path)
		p.expect(t, "locked")
		p.Process.Kill()
		p.Wait()
		if !try(t, path, flock.Exclusive) {
			t.Fatal("the lock outlived its process")
		}
	}
}

// Wait gets a lock of another process that is freed meanwhile.
func TestWait_Freed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	p := start(t, "exclusive", path)
	p.expect(t, "locked")
	f, tries := open(t, path), 0
	err := flock.Wait(func() (bool, error) {
		if tries++; tries == 3 {
			p.Process.Kill()
		}
		return flock.Try(f, flock.Exclusive)
	}, func(waited time.Duration) error {
		if waited > time.Minute {
			return errors.New("timeout")
		}
		return nil
	})
	if err != nil || tries < 3 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestWait_GivesUp(t *testing.T) {
	errTimeout := errors.New("timeout")
	synctest.Test(t, func(t *testing.T) {
		begun, tries := time.Now(), 0
		err := flock.Wait(func() (bool, error) { tries++; return false, nil }, func(waited time.Duration) error {
			if waited > time.Second {
				return errTimeout
			}
			return nil
		})
		// 125 tries a second once the pauses are 8 ms long, and a few more before.
		if took := time.Since(begun); err != errTimeout || took > 1010*time.Millisecond || tries < 125 || tries > 140 {
			t.Errorf("%v after %v and %d tries", err, took, tries)
		}
	})
}

func TestWait_Error(t *testing.T) {
	for _, want := range []error{errors.ErrUnsupported, os.ErrPermission} {
		err := flock.Wait(func() (bool, error) { return false, want }, func(time.Duration) error {
			t.Error("asked whether to give up")
			return nil
		})
		if err != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "lock")
	if _, err := flock.Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open made the directory: %v", err)
	}
	open(t, path)
	for path, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
