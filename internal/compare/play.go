//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// callTimeout is how long a call of belay may take.
const callTimeout = 40 * time.Second

// theatre holds the directories that scripts are played in.
type theatre struct {
	root   string // everything is below it
	actors string // the directory of the scripted programs
}

// callResult is what came of one call of belay.
type callResult struct {
	code           int
	stdout, stderr []byte
	result         []byte // the result file, if there is one
	late           bool   // it did not end in time
}

// play runs a script with the executables in bin, in a directory of its own, and returns what came of it. Directories of the
// same length keep tables of the same width.
func (t *theatre) play(ctx context.Context, s *script, bin, name string) (outcome, error) {
	dir := filepath.Join(t.root, name)
	defer os.RemoveAll(dir)
	if err := t.makeDir(s, dir); err != nil {
		return nil, err
	}
	env := t.environment(dir, bin)
	defer endProcesses(dir)
	var ended []callResult
	wait := make([]func() callResult, 0, len(s.Steps))
	for i := range s.Steps {
		begun, err := begin(ctx, &s.Steps[i], dir, bin, append(slices.Clone(env), fmt.Sprint(stepVar, "=", i)))
		if err != nil {
			return nil, err
		}
		if s.Steps[i].Background {
			wait = append(wait, begun)
			continue
		}
		h := begun()
		wait = append(wait, func() callResult { return h })
	}
	os.WriteFile(filepath.Join(dir, "release"), nil, 0o600)
	for _, w := range wait {
		ended = append(ended, w())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return read(s, dir, bin, ended), nil
}

// makeDir makes the directory of a script.
func (t *theatre) makeDir(s *script, dir string) error {
	for _, sub := range []string{"home", "work/below", "config", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	for path, content := range s.Files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "script.json"), data, 0o600)
}

// environment is what belay sees: nothing of the machine but the PATH.
func (t *theatre) environment(dir, bin string) []string {
	return []string{
		"PATH=" + bin + ":" + t.actors + ":" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "xdg-state"),
		"BELAY_STATE_DIR=" + filepath.Join(dir, "state"),
		"BELAY_FOLD=off", // belayd would go on after the end
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		dirVar + "=" + dir,
	}
}

// begin starts a step, and returns what waits for its end. It returns when the step is ready for what comes next.
func begin(ctx context.Context, s *step, dir, bin string, env []string) (func() callResult, error) {
	var stdout, stderr bytes.Buffer
	taken := make(chan struct{})
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "belay"), s.Args...)
	cmd.Args[0] = "belay"
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = append(env, s.Env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if s.Seen {
		cmd.Stdout = &marking{to: &stdout, file: filepath.Join(dir, "seen")}
	}
	cmd.WaitDelay = 100 * time.Millisecond // what it leaves running may keep them open
	if s.Stdin != nil {
		cmd.Stdin = strings.NewReader(*s.Stdin)
	}
	var closers []io.Closer
	if s.Silent {
		r, w, err := os.Pipe()
		if err != nil {
			cancel()
			return nil, err
		}
		cmd.Stdin, closers = r, []io.Closer{r, w}
	}
	if s.Takes > 0 {
		cmd.Stdout = nil
		out, err := cmd.StdoutPipe()
		if err != nil {
			cancel()
			return nil, err
		}
		go func() {
			io.CopyN(&stdout, out, int64(s.Takes))
			out.Close()
			close(taken)
		}()
	} else {
		close(taken)
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		<-taken
		err := cmd.Wait()
		for _, c := range closers {
			c.Close()
		}
		done <- err
	}()
	end := func() callResult {
		defer cancel()
		err := <-done
		h := callResult{code: shellCode(cmd.ProcessState), stdout: stdout.Bytes(), stderr: stderr.Bytes(), late: errors.Is(ctx.Err(), context.DeadlineExceeded)}
		if err != nil && cmd.ProcessState == nil {
			h.stderr = fmt.Appendln(h.stderr, err)
		}
		for _, path := range []string{"work/" + resultFile, "work/below/" + resultFile} {
			if data, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
				h.result = data
				os.Remove(filepath.Join(dir, path)) // the next call may write none
			}
		}
		return h
	}
	if s.Ready == "" {
		return end, nil
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, s.Ready)); err == nil {
			if s.Signal != "" {
				time.Sleep(time.Duration(s.After) * time.Millisecond)
				cmd.Process.Signal(unix.SignalNum("SIG" + s.Signal))
			}
			return end, nil
		}
		select {
		case err := <-done: // without having been ready
			done <- err
			return end, nil
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// marking makes a file at the first write.
type marking struct {
	to   io.Writer
	file string
	once sync.Once
}

func (m *marking) Write(p []byte) (int, error) {
	m.once.Do(func() { os.WriteFile(m.file, nil, 0o600) })
	return m.to.Write(p)
}

// shellCode is what a shell shows of how a process ended.
func shellCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// left are the processes of a script that still run, by name. What was killed takes a moment to go.
func left(dir string) (names []string) {
	for range 30 {
		names = nil
		for _, p := range processes(dir) {
			names = append(names, p.Name)
		}
		if len(names) == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	slices.Sort(names)
	return names
}

// processes are the processes of the script that still run.
func processes(dir string) (list []process) {
	for _, line := range lines(filepath.Join(dir, "processes")) {
		var p process
		if json.Unmarshal(line, &p) == nil && isOurs(p.PID, dir) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// isOurs reports whether a process lives and belongs to the script in dir: its id may be another's by now.
func isOurs(pid int, dir string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // that of a zombie is empty
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), dirVar+"="+dir)
}

// endProcesses ends what a script has left.
func endProcesses(dir string) {
	for _, p := range processes(dir) {
		unix.Kill(p.PID, unix.SIGKILL)
	}
}

// lines are the lines of a file that need not be there.
func lines(path string) (list [][]byte) {
	data, _ := os.ReadFile(path)
	for line := range bytes.Lines(data) {
		list = append(list, bytes.TrimSuffix(line, []byte("\n")))
	}
	return list
}
