//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// detach starts a detached run and returns its id.
func (r *run) detach(stdin string, args ...string) (id string) {
	r.t.Helper()
	cmd := r.command("belay", args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	id = strings.TrimSuffix(string(out), "\n")
	if err != nil || len(id) != 36 || !strings.Contains(stderr.String(), "belay attach "+id[28:]) {
		r.t.Fatalf("%v: %q\n%s", err, out, stderr.String())
	}
	return id
}

// attach shows a detached run to its end.
func (r *run) attach(id string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	cmd := r.command("belay", "attach", id)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return out.String(), errs.String(), shellCode(err)
}

// spooled are the files of detached runs.
func (r *run) spooled() (paths []string) {
	paths, _ = filepath.Glob(filepath.Join(r.dir, "state", "spool", "*"))
	return paths
}

// owner is the process of the only run.
func (r *run) owner() (pid int, state string) {
	out, _ := r.command("belay", "ps", "--json").Output()
	var line struct {
		PID   int
		State string
	}
	json.Unmarshal(out, &line)
	return line.PID, line.State
}

// A detached run has read its stdin, prints its id and nothing else, and goes on in a session of its own; each attach shows all of its output and ends with its exit code.
func TestDetach_Attach(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	id := r.detach("what to do\n", "run", "--detach", "--", "sh", "-c", `cat; echo err >&2; ps -o sid= -p $PPID; while [ ! -e go ]; do sleep 0.02; done; echo end; exit 7`)
	for _, path := range r.spooled() {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	pid, state := r.owner()
	if state != "running" {
		t.Errorf("it is %q", state)
	}
	ps, _ := r.command("belay", "ps").Output()
	if !strings.Contains(string(ps), "running (detached)") {
		t.Errorf("%s", ps)
	}
	shown := func(name, id string) *exec.Cmd {
		cmd := r.command("belay", "attach", id)
		stdout, err := os.Create(filepath.Join(r.dir, name+".out"))
		must.OK(t, err)
		defer stdout.Close()
		stderr, err := os.Create(filepath.Join(r.dir, name+".err"))
		must.OK(t, err)
		defer stderr.Close()
		cmd.Stdout, cmd.Stderr = stdout, stderr
		must.OK(t, cmd.Start())
		eventually(t, "the beginning is shown", func() bool { return strings.Contains(r.file(name+".out"), "what to do\n") })
		return cmd
	}
	killed := shown("killed", id[:18])
	killed.Process.Kill()
	killed.Wait()
	left := shown("left", id[28:])
	left.Process.Signal(syscall.SIGINT)
	if code := shellCode(left.Wait()); code != 130 || !strings.Contains(r.file("left.err"), "the run continues") {
		t.Errorf("exit code %d: %s", code, r.file("left.err"))
	}
	one, other := shown("one", id), shown("other", id)
	r.write("go", "")
	for name, cmd := range map[string]*exec.Cmd{"one": one, "other": other} {
		code, stdout, stderr := shellCode(cmd.Wait()), r.file(name+".out"), r.file(name+".err")
		lines := strings.Split(stdout, "\n")
		if code != 7 || stderr != "err\n" || len(lines) != 4 || lines[0] != "what to do" || lines[2] != "end" {
			t.Errorf("%s: exit code %d, %q, %q", name, code, stdout, stderr)
		} else if sid := strings.TrimSpace(lines[1]); sid != strconv.Itoa(pid) {
			t.Errorf("session %s of process %d", sid, pid)
		}
	}
	if left := r.spooled(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, stderr, code := r.attach(id); code != 2 || !strings.Contains(stderr, " is not kept: it was shown already, ") || !strings.Contains(stderr, "See how it ended: belay log ") {
		t.Errorf("delivered: exit code %d: %s", code, stderr)
	}
}

// It goes on when its terminal is closed, and with it the session that it was started in.
func TestDetach_HangUp(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	s.run("belay run --detach --quiet -- sh -c 'while [ ! -e go ]; do sleep 0.02; done; echo sur''vived' > id")
	s.pty.Close()
	<-s.done
	r := &run{t: t, dir: s.dir, id: s.id}
	r.write("go", "")
	if stdout, stderr, code := r.attach(strings.TrimSpace(r.file("id"))); code != 0 || stdout != "survived\n" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// What can be refused at once is refused in the foreground, with the exit code that it has there, and leaves nothing behind.
func TestDetach_Refused(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.write("bad.jsonl", "{\"id\": 1,\n")
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"run --detach -- no-such-command":          {127, "not found"},
		"run --detach --at 03:00 -- no-such-thing": {127, "not found"},
		"run --detach --cwd nowhere -- true":       {2, "nowhere"},
		"run --detach --at yesterday -- true":      {2, "--at"},
		"run --at= -- true":                        {2, "--at"},
		"batch --at= - -o x -- true":               {2, "--at"},
		"run --at 2020-01-01T03:00 -- true":        {2, "in the past"},
		"batch --detach bad.jsonl -- true":         {2, "bad.jsonl:1"},
		"batch --detach missing.jsonl -- true":     {2, "missing.jsonl"},
	} {
		cmd := r.command("belay", strings.Fields(line)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if code := shellCode(cmd.Run()); code != want.code || stdout.Len() > 0 || !strings.Contains(stderr.String(), want.says) {
			t.Errorf("%s: exit code %d, %q, %q", line, code, stdout.String(), stderr.String())
		}
	}
	if left := r.spooled(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A detached belay that is killed is said to be: what it has written is shown, and the exit code is that of a killed process.
func TestDetach_Killed(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	id := r.detach("", "run", "--detach", "--", "sh", "-c", "echo begun; : > ready; exec sleep 300")
	r.waitFor("ready")
	eventually(t, "what it has said is kept", func() bool { // until then it is in a pipe, and lost with belay
		return slices.ContainsFunc(r.spooled(), func(path string) bool {
			data, _ := os.ReadFile(path)
			return strings.Contains(string(data), "begun")
		})
	})
	pid, _ := r.owner()
	syscall.Kill(pid, syscall.SIGKILL)
	stdout, stderr, code := r.attach(id)
	if code != 137 || stdout != "begun\n" || !strings.Contains(stderr, "was killed") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if left := r.spooled(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// While a detached run waits for its time, others see that, its input is nowhere on disk, and it can be cancelled.
func TestDetach_Waiting(t *testing.T) {
	t.Parallel()
	want := map[string]string{"Run": "belay cancel", "Batch": "stopped by SIGTERM"}
	for name, args := range map[string][]string{
		"Run":   {"run", "--detach", "--at", "2h", "--", "cat"},
		"Batch": {"batch", "--detach", "--at", "2h", "tasks.jsonl", "-o", "results.jsonl", "--", "cat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.numbered("tasks.jsonl", 2)
			const prompt = "a prompt that stays in memory"
			id := r.detach(prompt, args...)
			// It is on record from the moment that --detach returns, and a moment later as one that waits.
			eventually(t, "belay ps says what it waits for", func() bool {
				ps, _ := r.command("belay", "ps").Output()
				return strings.Contains(string(ps), ": its start time (detached)")
			})
			filepath.WalkDir(r.dir, func(path string, _ fs.DirEntry, _ error) error {
				if data, _ := os.ReadFile(path); bytes.Contains(data, []byte(prompt)) {
					t.Errorf("%s holds it", path)
				}
				return nil
			})
			if out, err := r.command("belay", "cancel", id).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if stdout, stderr, code := r.attach(id); code != 143 || stdout != "" || !strings.Contains(stderr, want[name]) {
				t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
			}
		})
	}
}

// A detached batch shows its progress to attach, which ends with its exit code, and its results are where they always are.
func TestDetach_Batch(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	id := r.detach("one\ntwo\nthree\n", "batch", "--detach", "--at", "1s", "-", "-o", "results.jsonl", "--", "sh", "-c", `[ "$0" != two ]`, "{}")
	stdout, stderr, code := r.attach(id)
	if code != 1 || stdout != "" || !strings.Contains(stderr, "2 of 3 done") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if got := len(r.batchResults("results.jsonl")); got != 3 {
		t.Errorf("%d results", got)
	}
}

// The time of day counts, also if it is another one after the machine was suspended: a timer of eight hours would start it in eight hours.
func TestDetach_Suspended(t *testing.T) {
	if testing.Short() {
		t.Skip("builds belay with the clock seam")
	}
	t.Parallel()
	r := newRun(t, 0)
	r.write("offset", "0s")
	r.env = []string{"BELAY_TEST_CLOCK=" + filepath.Join(r.dir, "offset")}
	cmd := exec.Command(seamedBelay(t), "run", "--at", "8h", "--", "echo", "started")
	cmd.Dir, cmd.Env = r.dir, append(environment(programs(t), r.dir, r.id), r.env...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	must.OK(t, cmd.Start())
	eventually(t, "it waits", func() bool { _, state := r.owner(); return state == "waiting" })
	r.write("offset", "8h")
	defer time.AfterFunc(testTimeout, func() { cmd.Process.Kill() }).Stop()
	if err := cmd.Wait(); err != nil || stdout.String() != "started\n" {
		t.Errorf("%v, %q", err, stdout.String())
	}
}

// A disk that is full while the output is spooled does not disturb the run: what could not be kept is told.
func TestDetach_DiskFull(t *testing.T) {
	need(t, "unshare")
	t.Parallel()
	r := newRun(t, 0)
	if exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", r.dir+"/.tmp").Run() != nil {
		t.Skip("no file systems can be mounted here")
	}
	out, err := r.command("unshare", "-rm", "sh", "-c", `mkdir -p state && chmod 700 state && mount -t tmpfs -o size=256k,mode=700 none state &&
		id=$(belay run --detach -- sh -c 'head -c 1000000 /dev/zero && echo written && : > done') || exit
		while [ ! -e done ]; do sleep 0.02; done
		belay attach $id > shown; echo code $?; ls state/spool`).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "bytes of its output could not be kept: no space left on device") || !strings.HasSuffix(string(out), "code 125\n") {
		t.Errorf("%v: %s", err, out)
	}
	if shown := len(r.file("shown")); shown < 100_000 || shown > 256<<10 {
		t.Errorf("%d bytes were kept", shown)
	}
}

// What an attach could not show because its stream is closed stays, and one that finds the output deleted by another says so.
func TestDetach_NotShown(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	ids := map[string]string{}
	for _, name := range []string{"stdout", "stderr", "both", "taken", "half taken"} {
		ids[name] = r.detach("", "run", "--detach", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
	}
	for name, streams := range map[string]string{"stdout": ">&-", "stderr": "2>&-", "both": ">&- 2>&-"} {
		if code := shellCode(r.command("sh", "-c", "belay attach "+ids[name]+" "+streams).Run()); code != 3 {
			t.Errorf("%s: exit code %d", name, code)
		}
		if stdout, stderr, code := r.attach(ids[name]); stdout != "out\n" || stderr != "err\n" || code != 3 {
			t.Errorf("%s: %q, %q, %d", name, stdout, stderr, code)
		}
	}
	for name, gone := range map[string][]string{"taken": {".out", ".err"}, "half taken": {".err"}} {
		id := ids[name]
		if code := shellCode(r.command("sh", "-c", "until belay ps --json | grep -q '"+id+".*\"ended\"'; do sleep 0.05; done").Run()); code != 0 {
			t.Fatal(code)
		}
		for _, ext := range gone {
			must.OK(t, os.Remove(filepath.Join(r.dir, "state", "spool", id+ext)))
		}
		if stdout, stderr, code := r.attach(id); stdout != "" || !strings.Contains(stderr, "has been shown by another belay attach") || code != 2 {
			t.Errorf("%s: %q, %q, %d", name, stdout, stderr, code)
		}
	}
}
