//go:build linux

package hooks_test

import (
	"bytes"
	"context"
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

	"github.com/belay-run/belay/companion/rehearse"
)

// stage is where a test takes place: an API that makes the agent call tools, and a working directory, homes and a state
// directory of its own.
type stage struct {
	t    *testing.T
	cli  string // the path of the agent
	api  *rehearse.API
	dir  string
	work string
	id   string
}

func newStage(t *testing.T, cli, script string) *stage {
	t.Helper()
	s := &stage{t: t, cli: cli, dir: t.TempDir(), id: fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())}
	s.work = filepath.Join(s.dir, "work")
	for _, name := range []string{"work", "api"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.api, err = (rehearse.Options{Dir: filepath.Join(s.dir, "api")}).Start(script); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cleanUp)
	return s
}

// cleanUp says what the test has left, and ends it.
func (s *stage) cleanUp() {
	s.api.Close()
	reports, _ := filepath.Glob(filepath.Join(s.dir, "race.*"))
	for i, path := range reports {
		if report, _ := os.ReadFile(path); i == 0 {
			s.t.Errorf("%d data races, the first is:\n%.4000s", len(reports), report)
		}
	}
	for _, line := range s.left() {
		syscall.Kill(pidOf(line), syscall.SIGKILL)
	}
	if s.t.Failed() {
		for i, q := range s.api.Requests() {
			s.t.Logf("request %d: %s %s %q: %d, last message %.300q", i+1, q.Method, q.Path, q.Step, q.Status, q.LastMessage)
		}
	}
	// claude ends before all that it does is done.
	within(2*time.Second, func() bool { return os.RemoveAll(s.dir) == nil })
}

// left are the processes that still run.
func (s *stage) left() []string { return marked(idVar + "=" + s.id) }

func (s *stage) environ() []string {
	env := []string{
		"PATH=" + binDir + ":" + os.Getenv("PATH"),
		"BELAY_STATE_DIR=" + filepath.Join(s.dir, "state"),
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(s.dir, "race"),
		idVar + "=" + s.id,
	}
	if os.Getuid() == 0 {
		env = append(env, "IS_SANDBOX=1") // else claude refuses to skip permissions
	}
	return slices.Concat(env, s.api.Environ())
}

// file writes a file in the working directory and returns its path.
func (s *stage) file(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// exists reports whether a file of the working directory is there.
func (s *stage) exists(name string) bool {
	_, err := os.Stat(filepath.Join(s.work, name))
	return err == nil
}

// ran is an agent, or belay, that has ended.
type ran struct {
	*stage
	code           int
	stdout, stderr string
	took           time.Duration
}

// run runs a command on this stage.
func (s *stage) run(path string, args ...string) *ran {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = s.work, s.environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	begin := time.Now()
	err := cmd.Run()
	r := &ran{stage: s, code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String(), took: time.Since(begin)}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("%.300q\nexit %d (%v) after %v\nstdout: %.6000s\nstderr: %.3000s", cmd.Args, r.code, err, r.took.Round(time.Millisecond), r.stdout, r.stderr)
		}
	})
	return r
}

// belay runs belay.
func (s *stage) belay(args ...string) *ran { return s.run(filepath.Join(binDir, "belay"), args...) }

// claude lets claude work, with the settings that are in the project.
func (s *stage) claude(prompt string) *ran {
	return s.run(s.cli, "-p", prompt, "--dangerously-skip-permissions", "--output-format", "stream-json", "--verbose")
}

// codex lets codex work. Hooks that nobody has looked at do not run, unless one says so.
func (s *stage) codex(prompt string) *ran {
	return s.run(s.cli, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", prompt)
}

// codexFile is a file of codex's home.
func (s *stage) codexFile(name string) string {
	return filepath.Join(s.api.Dir(), "home", ".codex", name)
}

// entry is a line of the log.
type entry struct {
	Profile   string
	Kind      string
	Event     string
	Status    string
	ErrorType string `json:"error_type"`
	Error     string
	ExitCode  int    `json:"exit_code"`
	Session   string `json:"session_id"`
	Detail    struct {
		Name    string `json:"hook_name"`
		Action  string `json:"event_action"`
		Session string `json:"session_key"`
		Error   string
	}
}

// log are the failures on record.
func (s *stage) log() []entry {
	s.t.Helper()
	return slices.DeleteFunc(s.wholeLog(), func(e entry) bool { return e.Kind == "alert" })
}

// wholeLog is what is on record, alerts included.
func (s *stage) wholeLog() (entries []entry) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "state", "log.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Errorf("the log: %v\n%s", err, line)
		}
		entries = append(entries, e)
	}
	return entries
}

// nobodyLeft checks that nothing of what was started lives.
func (s *stage) nobodyLeft() {
	s.t.Helper()
	// What was killed at the very end takes a moment to go.
	if !within(3*time.Second, func() bool { return len(s.left()) == 0 }) {
		s.t.Errorf("left behind: %v", s.left())
	}
}
