//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// tight runs belay in a bash with these limits and returns how it ended and what it said.
func (r *run) tight(limits, line string) (code int, said string) {
	r.t.Helper()
	cmd := r.command("bash", "-c", "ulimit -c 0; "+limits+"; exec belay-plain "+line)
	return ended(cmd)
}

func ended(cmd *exec.Cmd) (code int, said string) {
	late := time.AfterFunc(testTimeout, func() { cmd.Process.Kill() })
	defer late.Stop()
	out, err := cmd.CombinedOutput()
	return shellCode(err), string(out)
}

// mainHadBegun says that a report of the Go runtime is about a process whose main had begun.
func mainHadBegun(said string) bool { return strings.Contains(said, "main.main()") }

// With too few files Belay works, or says in one line why it cannot, or dies by SIGABRT. It never ends with 2, which a client of hooks
// takes for a decision to block, and which says of a run that its command line was wrong.
func TestOwnFailure_NoFiles(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	limits := []string{"ulimit -n 200; for ((fd = 3; fd < 196; fd++)); do eval \"exec $fd</dev/null\"; done"} // which leaves too few of many
	for n := 3; n <= 12; n++ {
		limits = append(limits, fmt.Sprint("ulimit -n ", n))
	}
	codes := map[int]int{}
	for _, limit := range limits {
		for _, line := range []string{"hook -- true", "hook -- false", "run -- true", "run --max-retries 1 -- true", "log", "ps", "mcp -- true"} {
			code, said := r.tight(limit, line)
			codes[code]++
			switch first, _, _ := strings.Cut(said, "\n"); {
			case !slices.Contains([]int{0, 1, 125, 134}, code), code == 1 && !strings.HasPrefix(line, "hook"):
				t.Errorf("%s: belay %s ends with %d\n%.500s", limit, line, code, said)
			case code == 125 && (!strings.HasPrefix(first, "belay: ") || strings.Count(said, "\n") > 1 || !strings.Contains(first, "open")):
				t.Errorf("%s: belay %s says\n%.500s", limit, line, said)
			}
		}
	}
	if code, said := r.tight("ulimit -n 6", "hook --fail-closed -- true"); code != 2 || !strings.Contains(said, "ulimit -n") {
		t.Errorf("with --fail-closed: %d\n%s", code, said)
	}
	t.Logf("exit codes: %v", codes)
}

// A settings file that cannot be read for lack of files is no mistake in it.
func TestOwnFailure_NoFilesForSettings(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	os.MkdirAll(filepath.Join(r.dir, "config", "belay"), 0o700)
	r.write("config/belay/config.toml", "")
	code, said := r.tight("ulimit -n 20; for ((fd = 3; fd < 20; fd++)); do eval \"exec $fd</dev/null\"; done", "run -- true")
	if code != 125 || !strings.Contains(said, "config.toml: cannot be read") || !strings.Contains(said, "too many open files") {
		t.Errorf("%d\n%s", code, said)
	}
}

// Belay dies by SIGABRT when its Go runtime does, and what it has written is whole.
func TestOwnFailure_Crash(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	for _, sig := range []string{"SEGV", "FPE"} {
		for _, command := range []string{"run", "hook"} {
			code, said := r.tight(":", command+" -- sh -c 'kill -"+sig+" $PPID; exec sleep 300'")
			if code != 128+int(syscall.SIGABRT) || !strings.Contains(said, "SIG"+sig) {
				t.Errorf("belay %s hit by SIG%s ends with %d\n%.1000s", command, sig, code, said)
			}
		}
	}
	if code, said := r.tight(":", "log"); code != 0 || strings.Count(said, "belay was killed while sh was running") != 2 {
		t.Errorf("belay log ends with %d and says\n%s", code, said)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "state", "log.jsonl"))
	must.OK(t, err)
	for line := range strings.Lines(string(text)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("half a line: %s", line)
		}
	}
}

// With too little memory the Go runtime fails before main, where nothing can be done about its exit code (docs/hooks.md); once main has
// begun it is not 2.
func TestOwnFailure_NoMemory(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	before := 0
	for _, kilobytes := range []int{600_000, 700_000, 740_000, 745_000, 750_000, 760_000, 1_200_000, 1_400_000} {
		for _, line := range []string{"hook -- true", "run -- true"} {
			code, said := r.tight(fmt.Sprint("ulimit -v ", kilobytes), line)
			switch {
			case code == 2 && !mainHadBegun(said) && strings.Contains(said, "runtime"):
				before++
			case !slices.Contains([]int{0, 125, 134}, code):
				t.Errorf("ulimit -v %d: belay %s ends with %d\n%.2000s", kilobytes, line, code, said)
			}
		}
	}
	t.Logf("%d of 16 ended before main", before)
}

// The same with too few threads. The limit does not hold for root.
func TestOwnFailure_NoThreads(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	r := newRun(t, 0)
	dir, err := os.MkdirTemp("", "belay-threads-") // t.TempDir is closed to others
	must.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, err := os.ReadFile(filepath.Join(binDir, "belay-plain"))
	must.OK(t, err)
	const nobody = 65534
	for _, err := range []error{os.Chmod(dir, 0o755), built.WriteFile(filepath.Join(dir, "belay"), data), os.Mkdir(filepath.Join(dir, "home"), 0o700),
		os.Chown(filepath.Join(dir, "home"), nobody, nobody)} {
		must.OK(t, err)
	}
	codes := map[int]int{}
	for _, threads := range []int{1, 3, 4, 5, 6, 8, 12} {
		for _, line := range []string{"hook -- true", "run -- true"} {
			cmd := r.command("bash", "-c", fmt.Sprintf("ulimit -c 0; ulimit -u %d; exec %s/belay %s", threads, dir, line))
			home := filepath.Join(dir, "home")
			cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, idVar + "=" + r.id, "BELAY_FOLD=off"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			code, said := ended(cmd)
			codes[code]++
			if !slices.Contains([]int{0, 125, 134}, code) && (code != 2 || mainHadBegun(said) || !strings.Contains(said, "runtime")) {
				t.Errorf("ulimit -u %d: belay %s ends with %d\n%.2000s", threads, line, code, said)
			}
		}
	}
	t.Logf("exit codes: %v", codes)
}
