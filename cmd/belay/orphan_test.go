//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
)

// orphan is the beginning of a script: it leaves a process whose parent has ended, in a session of its own, with nothing
// in its environment. So do daemons behind sudo.
const orphan = `(setsid env -i sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &)
	while [ ! -e orphan ]; do sleep 0.01; done; rm orphan; `

// orphans are the living processes in the run's directory once belay has ended.
func (r *run) orphans(want int) {
	r.t.Helper()
	left := inside(r.dir)
	if len(left) != want {
		r.t.Errorf("left are %v, want %d\n%s", left, want, r.said())
	}
	for _, p := range left {
		unix.Kill(p.pid, unix.SIGKILL)
	}
}

// belay cancel stops a run, wherever it is.
func TestOrphan_Cancelled(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"Plain": nil, "Retries": {"--max-retries", "3", "--stream"}, "Timeout": {"--timeout", "1m"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.start("belay", append(append([]string{"run"}, flags...), "--", "sh", "-c", orphan+"echo ready; sleep 300")...)
			r.line("ready")
			out, err := r.command("belay", "ps", "--json").Output()
			var ps struct{ ID string }
			if err == nil {
				err = json.Unmarshal(out, &ps)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := r.command("belay", "cancel", ps.ID).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			r.ends(143)
			r.orphans(0)
		})
	}
}

// What a command that ends by itself leaves is reported and stays, unless it failed and more was asked of belay than to run
// it, or --reap was.
func TestOrphan_Left(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flags  string
		end    string
		code   int
		stay   int
		killed int
	}{
		"Success":        {"--timeout 1m", "exit 0", 0, 1, 0},
		"SuccessPlain":   {"", "exit 0", 0, 1, 0},
		"SuccessRetried": {"--max-retries 3 --base-delay 0", "echo x >> tries; [ $(wc -l < tries) -eq 3 ]", 0, 1, 0},
		"Reap":           {"--reap", "exit 0", 0, 0, 1},
		"ReapTimeout":    {"--reap --timeout 1m --max-retries 1", "exit 0", 0, 0, 1},
		"Failure":        {"--timeout 1m", "exit 3", 3, 0, 1},
		"FailurePlain":   {"", "exit 3", 3, 1, 0},
		"FailureRetried": {"--max-retries 3 --base-delay 0", "exit 3", 3, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			flags := append(strings.Fields(tt.flags), "--output-format", "json")
			r.start("belay", append(append([]string{"run"}, flags...), "--", "sh", "-c", orphan+tt.end)...)
			out, _ := io.ReadAll(r.out)
			r.ends(tt.code)
			var result struct {
				Left   []int `json:"left_running"`
				Killed int   `json:"orphans_killed"`
			}
			if err := json.Unmarshal(out, &result); err != nil {
				t.Fatalf("%v: %s\n%s", err, out, r.said())
			}
			if len(result.Left) != tt.stay || result.Killed != tt.killed {
				t.Errorf("%s", out)
			}
			for _, p := range inside(r.dir) {
				if tt.stay == 1 && p.pid != result.Left[0] {
					t.Errorf("%v is left, and not reported: %s", p, out)
				}
			}
			r.orphans(tt.stay)
		})
	}
}

// The shell that executes belay may have children, and those are not belay's to end; nor do they save an orphan of the run.
func TestOrphan_BesideStrangers(t *testing.T) {
	t.Parallel()
	for name, strangers := range map[string]string{
		"One":         `sleep 300 &`,
		"SetsidWiped": `setsid env -i sleep 300 &`,
		"WithChild":   `sh -c 'sleep 300 & wait' &`,
		"Several":     `sleep 300 & setsid sleep 300 & sh -c 'exec sleep 300' &`,
	} {
		for _, flags := range []string{"--timeout 400ms", "--timeout 400ms --retry-timeouts 2 --base-delay 0", "--stall-timeout 400ms"} {
			t.Run(name+"/"+flags, func(t *testing.T) {
				t.Parallel()
				r := newRun(t, 0)
				aside := filepath.Join(r.dir, "aside")
				if err := os.Mkdir(aside, 0o700); err != nil {
					t.Fatal(err)
				}
				r.start("bash", "-c", `cd aside; { `+strangers+` } > /dev/null 2>&1; cd ..; exec belay run `+flags+` -- sh -c "$0"`,
					orphan+`sleep 300`)
				r.ends(124)
				r.orphans(0)
				left := inside(aside)
				if len(left) == 0 {
					t.Error("the stranger was ended")
				}
				for _, p := range left {
					unix.Kill(p.pid, unix.SIGKILL)
				}
			})
		}
	}
}

// What a hook leaves is ended with it, however it ends, unless it is to stay.
func TestOrphan_Hook(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flags string
		end   string
		sig   syscall.Signal
		code  int
		stay  int
	}{
		"Timeout":               {"--timeout 1s", "sleep 300", 0, 0, 0},
		"TimeoutFailClosed":     {"--timeout 1s --fail-closed", "sleep 300", 0, 2, 0},
		"TimeoutKeepBackground": {"--timeout 1s --keep-background", "sleep 300", 0, 0, 0},
		"SIGTERM":               {"", ": > ready; sleep 300", syscall.SIGTERM, 0, 0},
		"SIGINT":                {"", ": > ready; sleep 300", syscall.SIGINT, 0, 0},
		"Success":               {"", "exit 0", 0, 0, 0},
		"Blocks":                {"", "exit 2", 0, 2, 0},
		"Fails":                 {"", "exit 5", 0, 0, 0},
		"KeepBackground":        {"--keep-background", "exit 0", 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.start("belay", append(append([]string{"hook"}, strings.Fields(tt.flags)...), "--", "sh", "-c", orphan+tt.end)...)
			if tt.sig != 0 {
				eventually(t, "the hook is under way", func() bool { _, err := os.Stat(filepath.Join(r.dir, "ready")); return err == nil })
				r.cmd.Process.Signal(tt.sig)
				r.cmd.Wait()
			} else {
				r.ends(tt.code)
			}
			r.orphans(tt.stay)
		})
	}
}

// A server's orphans end with the session, whichever side ends it and however the server reacts.
func TestOrphan_MCP(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server string
		end    func(stdin io.Closer, belay *exec.Cmd)
	}{
		"ClientLeaves":             {`exec cat > /dev/null`, func(stdin io.Closer, _ *exec.Cmd) { stdin.Close() }},
		"ClientLeavesServerStays":  {`exec sleep 300`, func(stdin io.Closer, _ *exec.Cmd) { stdin.Close() }},
		"ClientLeavesAfterACrash":  {`[ -e crashed ] && exec cat > /dev/null; : > crashed; exit 3`, func(stdin io.Closer, _ *exec.Cmd) { stdin.Close() }},
		"SIGTERM":                  {`exec cat > /dev/null`, func(_ io.Closer, belay *exec.Cmd) { belay.Process.Signal(syscall.SIGTERM) }},
		"SIGINT":                   {`exec sleep 300`, func(_ io.Closer, belay *exec.Cmd) { belay.Process.Signal(syscall.SIGINT) }},
		"ServerHasClosedItsStdout": {`exec sleep 300 >&-`, func(stdin io.Closer, _ *exec.Cmd) { time.Sleep(time.Second); stdin.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := r.command("belay", "mcp", "--", "sh", "-c", orphan+`: > ready; `+tt.server)
			cmd.Stdin = in
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in.Close()
			late := time.AfterFunc(testTimeout, func() { cmd.Process.Kill() })
			defer late.Stop()
			eventually(t, "the server runs", func() bool { _, err := os.Stat(filepath.Join(r.dir, "ready")); return err == nil })
			tt.end(out, cmd)
			cmd.Wait()
			out.Close()
			r.orphans(0)
		})
	}
}

// What gh has left when it answered a question on the side is not ended when a later attempt is stopped, and does not save
// what that has left.
func TestOrphan_SideQuestion(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"Wiped":  `(setsid env -i sleep 300 > /dev/null 2>&1 &)`,
		"Marked": `setsid sleep 300 > /dev/null 2>&1 &`,
		"Busy":   `(setsid sh -c 'while sleep 0.1; do (sleep 1 &); done' > /dev/null 2>&1 &)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			for _, dir := range []string{"aside", "bin"} {
				if err := os.Mkdir(filepath.Join(r.dir, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			gh := fmt.Sprintf(`#!/bin/sh
case "$*" in
*rate_limit)
	cd aside; %s
	: > ../asked
	echo '{"resources":{"core":{"limit":60,"remaining":0,"reset":'$(date +%%s)'}}}'
	exit 0 ;;
esac
if [ ! -e asked ]; then echo 'HTTP 403: API rate limit exceeded for user ID 1.' >&2; exit 1; fi
%s
: > again
sleep 300
`, left, orphan)
			path := filepath.Join(r.dir, "bin", "gh")
			if err := built.WriteFile(path, []byte(gh)); err != nil {
				t.Fatal(err)
			}
			r.start("belay", "run", "--max-retries", "1", "--base-delay", "0", "--rate-limit-buffer", "0", "--timeout", "10s", "--", path, "issue", "list")
			r.ends(124)
			if _, err := os.Stat(filepath.Join(r.dir, "again")); err != nil {
				t.Fatalf("there was no second attempt\n%s", r.said())
			}
			r.orphans(0)
			aside := inside(filepath.Join(r.dir, "aside"))
			if len(aside) == 0 {
				t.Errorf("what gh had left on the side was ended\n%s", r.said())
			}
			for len(aside) > 0 {
				for _, p := range aside {
					unix.Kill(p.pid, unix.SIGKILL)
				}
				aside = inside(filepath.Join(r.dir, "aside"))
			}
		})
	}
}

// A question on the side that fails leaves nothing.
func TestOrphan_FailedSideQuestion(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"Wiped":  `(setsid env -i sleep 300 > /dev/null 2>&1 &)`,
		"Marked": `setsid sleep 300 > /dev/null 2>&1 &`,
		"Silent": `sleep 300 &`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			path := filepath.Join(r.dir, "gh")
			gh := fmt.Sprintf(`#!/bin/sh
case "$*" in
*rate_limit) : > asked; %s
	exit 1 ;;
esac
echo 'HTTP 403: API rate limit exceeded for user ID 1.' >&2
exit 1
`, left)
			if err := built.WriteFile(path, []byte(gh)); err != nil {
				t.Fatal(err)
			}
			r.start("belay", "run", "--max-retries", "1", "--base-delay", "1h", "--max-delay", "1h", "--max-wait", "1s", "--", path, "issue", "list")
			io.Copy(io.Discard, r.out)
			r.cmd.Wait()
			if _, err := os.Stat(filepath.Join(r.dir, "asked")); err != nil {
				t.Fatalf("nothing was asked on the side\n%s", r.said())
			}
			r.orphans(0)
		})
	}
}
