//go:build linux

package codex_test

import (
	"bytes"
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
	"testing"
	"time"

	"github.com/belay-run/belay/companion/rehearse"
	"github.com/belay-run/belay/internal/clitest"
)

// stage is where a test takes place: an API that follows a script, and a working directory, a home and a state
// directory of its own.
type stage struct {
	t       *testing.T
	version string
	api     *rehearse.API
	dir     string // holds all the others
	work    string // the working directory
	id      string
	env     []string // in addition
}

// newStage begins a rehearsal.
func newStage(t *testing.T, version, script string) *stage {
	t.Helper()
	clitest.Codex(t, version) // skips if it is not there
	s := &stage{t: t, version: version, dir: t.TempDir(), id: fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())}
	s.work = filepath.Join(s.dir, "work")
	for _, name := range []string{"work", ".tmp", "api"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.rehearse(script)
	t.Cleanup(s.cleanUp)
	return s
}

// rehearse puts an API with another script in the place of the one that was there. The homes stay.
func (s *stage) rehearse(script string) {
	s.t.Helper()
	if s.api != nil {
		s.api.Close()
	}
	api, err := rehearse.Options{Dir: filepath.Join(s.dir, "api")}.Start(script)
	if err != nil {
		s.t.Fatal(err)
	}
	s.api = api
}

// cleanUp says what the test has left: reports of the race detector, files of belay's, and processes, which it ends.
func (s *stage) cleanUp() {
	t := s.t
	s.api.Close()
	reports, _ := filepath.Glob(filepath.Join(s.dir, "race.*"))
	for i, path := range reports {
		if report, _ := os.ReadFile(path); i == 0 {
			t.Errorf("%d data races, the first is:\n%.4000s", len(reports), report)
		}
	}
	s.nobodyLeft()
	for _, p := range s.left() {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".tmp", "belay*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	if t.Failed() {
		for i, q := range s.api.Requests() {
			t.Logf("request %d: %s %s %q: %d, %s, gap %v, took %v, last message %.100q", i+1, q.Method, q.Path, q.Step, q.Status, q.End,
				q.Gap.Round(time.Millisecond), q.Took.Round(time.Millisecond), q.LastMessage)
		}
	}
	// What was killed may still have written.
	within(2*time.Second, func() bool { return os.RemoveAll(s.dir) == nil })
}

func (s *stage) left() []proc { return marked(idVar + "=" + s.id) }

// nobodyLeft checks that nothing of what was started lives.
func (s *stage) nobodyLeft() {
	s.t.Helper()
	// What was killed at the very end takes a moment to go.
	if within(3*time.Second, func() bool { return len(s.left()) == 0 }) {
		return
	}
	s.t.Errorf("left behind: %v", s.left())
}

// environ is what the commands of the test see: nothing of the machine but PATH.
func (s *stage) environ() []string {
	env := []string{
		"PATH=" + binDir + ":" + filepath.Dir(clitest.Codex(s.t, s.version)) + ":" + os.Getenv("PATH"),
		"XDG_CONFIG_HOME=" + filepath.Join(s.dir, "config"),
		"BELAY_STATE_DIR=" + filepath.Join(s.dir, "state"),
		"TMPDIR=" + filepath.Join(s.dir, ".tmp"),
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(s.dir, "race"),
		idVar + "=" + s.id,
	}
	return slices.Concat(env, s.api.Environ(), s.env)
}

// command is a command on this stage.
func (s *stage) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(binDir, name)
	if name == "codex" {
		path = clitest.Codex(s.t, s.version)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.work, s.environ()
	return cmd
}

// requests is how many the API has seen that are part of the work.
func (s *stage) requests() int { return len(s.api.Main()) }

// asked checks how many requests the API has seen.
func (s *stage) asked(want int) {
	s.t.Helper()
	if got := s.requests(); got != want {
		s.t.Errorf("%d requests, want %d", got, want)
	}
}

// file makes a file in the working directory and returns its path.
func (s *stage) file(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// eventually waits for what must come.
func (s *stage) eventually(what string, ok func() bool) {
	s.t.Helper()
	if !within(patience, ok) {
		s.t.Fatalf("not within %v: %s", patience, what)
	}
}

// result is what --result-file says.
type result struct {
	Success   bool
	Result    string
	Errors    []string
	Error     string
	ErrorType string `json:"error_type"`
	Retryable bool
	RetryAt   string `json:"retry_at"`
	SessionID string `json:"session_id"`
	Resumed   bool
	Usage     struct {
		Input  int      `json:"input_tokens"`
		Output int      `json:"output_tokens"`
		Cost   *float64 `json:"total_cost_usd"`
	}
	Attempts int
	Waited   float64 `json:"total_wait_time"`
	ExitCode int     `json:"exit_code"`
	Killed   int     `json:"orphans_killed"`
	Log      string
}

// ran is a command that has ended.
type ran struct {
	*stage
	code           int
	stdout, stderr string
	result         *result // nil if there is no result file
	took           time.Duration
}

// running is one that may not have.
type running struct {
	*stage
	cmd            *exec.Cmd
	stdout, stderr *lockedBuffer
	begun          time.Time
	resultFile     string
	done           chan error
	late           *time.Timer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// belay runs `belay run flags -- codex args`.
func (s *stage) belay(flags, args []string) *ran {
	s.t.Helper()
	return s.startBelay(flags, args, nil).wait()
}

// startBelay is belay that does not wait for the end.
func (s *stage) startBelay(flags, args []string, stdin io.Reader) *running {
	s.t.Helper()
	f, err := os.CreateTemp(s.dir, "result-*.json")
	if err != nil {
		s.t.Fatal(err)
	}
	f.Close()
	os.Remove(f.Name())
	line := slices.Concat([]string{"run", "--result-file", f.Name()}, flags, []string{"--", "codex"}, args)
	r := s.start(s.command("belay", line...), stdin)
	r.resultFile = f.Name()
	return r
}

// start starts a command. Its stdout is collected.
func (s *stage) start(cmd *exec.Cmd, stdin io.Reader) *running {
	s.t.Helper()
	r := &running{stage: s, cmd: cmd, stdout: &lockedBuffer{}, stderr: &lockedBuffer{}, begun: time.Now(), done: make(chan error, 1)}
	if cmd.Stdout == nil {
		cmd.Stdout = r.stdout
	}
	cmd.Stdin, cmd.Stderr = stdin, r.stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { r.done <- cmd.Wait() }()
	r.late = time.AfterFunc(patience, func() { cmd.Process.Kill() })
	return r
}

// wait waits for its end.
func (r *running) wait() *ran {
	r.t.Helper()
	err := <-r.done
	r.late.Stop()
	e := &ran{stage: r.stage, stdout: r.stdout.String(), stderr: r.stderr.String(), took: time.Since(r.begun)}
	if errors.Is(err, exec.ErrWaitDelay) {
		r.t.Errorf("somebody holds the output open: %v", r.left())
	}
	e.code = r.cmd.ProcessState.ExitCode()
	if status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.code = 128 + int(status.Signal())
	}
	if r.resultFile != "" {
		if data, err := os.ReadFile(r.resultFile); err == nil {
			e.result = &result{}
			if err := json.Unmarshal(data, e.result); err != nil {
				r.t.Errorf("the result file: %v\n%s", err, data)
			}
		}
	}
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("%.300q\nexit %d after %v, %+v\nstdout: %.3000s\nstderr: %.3000s", r.cmd.Args, e.code, e.took.Round(time.Millisecond), e.result, e.stdout, e.stderr)
		}
	})
	return e
}

// exits checks the exit code.
func (r *ran) exits(code int) {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("exit code %d, want %d", r.code, code)
	}
	if r.result != nil && r.result.ExitCode != code {
		r.t.Errorf("the result says exit code %d, want %d", r.result.ExitCode, code)
	}
}

// is checks what the result says: the class (empty for a success) and the number of attempts.
func (r *ran) is(class string, attempts int) {
	r.t.Helper()
	if r.result == nil {
		r.t.Fatalf("there is no result file\n%s", r.stderr)
	}
	if r.result.ErrorType != class || r.result.Success != (class == "") {
		r.t.Errorf("%q, success %v; want %q", r.result.ErrorType, r.result.Success, class)
	}
	if r.result.Attempts != attempts {
		r.t.Errorf("%d attempts, want %d", r.result.Attempts, attempts)
	}
}

// prints checks the whole of stdout.
func (r *ran) prints(want string) {
	r.t.Helper()
	if r.stdout != want {
		r.t.Errorf("stdout is %.500q, want %.500q", r.stdout, want)
	}
}

// says checks that stderr has these words.
func (r *ran) says(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			r.t.Errorf("stderr has no %q", w)
		}
	}
}

// used checks the tokens in the result.
func (r *ran) used(input, output int) {
	r.t.Helper()
	if u := r.result.Usage; u.Input != input || u.Output != output {
		r.t.Errorf("%d tokens in, %d out; want %d, %d", u.Input, u.Output, input, output)
	}
}
