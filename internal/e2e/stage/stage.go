//go:build linux

package stage

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// Answer is what an agent prints when the API has nothing particular to say.
const Answer = rehearse.DefaultText + "\n"

// Stage is where a test takes place: an API that follows a script, and a working directory, a home and a state directory
// of its own.
type Stage struct {
	T       *testing.T
	Version string // of the agent
	Agent   string // its path
	API     *rehearse.API
	Dir     string // holds all the others
	Work    string // the working directory
	State   string // the state directory
	Mark    Mark
	Env     []string      // in addition
	Longest time.Duration // how long a command may take; not long if it is zero
	Leaves  bool          // the test itself checks which processes may be left

	cli CLI
}

// New begins a rehearsal without an agent.
func New(t *testing.T, script string) *Stage {
	t.Helper()
	s := &Stage{T: t, Dir: t.TempDir(), Mark: NewMark(t)}
	s.Work, s.State = filepath.Join(s.Dir, "work"), filepath.Join(s.Dir, "state")
	for _, name := range []string{"work", ".tmp", "api"} {
		must.OK(t, os.Mkdir(filepath.Join(s.Dir, name), 0o700))
	}
	s.Rehearse(script)
	t.Cleanup(s.cleanUp)
	return s
}

// Rehearse puts an API with another script in the place of the one that was there. The homes stay.
func (s *Stage) Rehearse(script string) {
	s.T.Helper()
	if s.API != nil {
		s.API.Close()
	}
	api, err := rehearse.Options{Dir: filepath.Join(s.Dir, "api")}.Start(script)
	must.OK(s.T, err)
	s.API = api
}

// cleanUp says what the test has left: reports of the race detector, files of belay's, and processes, which it ends.
func (s *Stage) cleanUp() {
	t := s.T
	s.API.Close()
	reports, _ := filepath.Glob(filepath.Join(s.Dir, "race.*"))
	for i, path := range reports {
		if report, _ := os.ReadFile(path); i == 0 {
			t.Errorf("%d data races, the first is:\n%.4000s", len(reports), report)
		}
	}
	if s.Leaves {
		for _, p := range s.Left() {
			p.Kill()
		}
	}
	s.NobodyLeft()
	if left, _ := filepath.Glob(filepath.Join(s.Dir, ".tmp", "belay*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	if t.Failed() {
		for i, q := range s.API.Requests() {
			t.Logf("request %d: %s %s %q: %d, %s, gap %v, took %v, last message %.300q", i+1, q.Method, q.Path, q.Step, q.Status, q.End,
				q.Gap.Round(time.Millisecond), q.Took.Round(time.Millisecond), q.LastMessage)
		}
	}
	// claude ends before all that it does is done, and what was killed may still have written.
	Within(2*time.Second, func() bool { return os.RemoveAll(s.Dir) == nil })
}

// Left are the processes of the test that still run.
func (s *Stage) Left() []Proc { return s.Mark.Left() }

// NobodyLeft checks that nothing of what was started lives. What was killed at the very end takes a moment to go.
func (s *Stage) NobodyLeft() {
	s.T.Helper()
	s.Mark.NobodyLeft(s.T, time.Minute)
}

// Runs reports whether one of them has a command line that begins so.
func (s *Stage) Runs(line string) bool {
	return slices.ContainsFunc(s.Left(), func(p Proc) bool { return strings.HasPrefix(p.Args, line) })
}

// Environ is what the commands of the test see: nothing of the machine but PATH.
func (s *Stage) Environ() []string {
	env := []string{
		"PATH=" + bin + ":" + filepath.Dir(s.Agent) + ":" + os.Getenv("PATH"),
		"XDG_CONFIG_HOME=" + filepath.Join(s.Dir, "config"),
		"BELAY_STATE_DIR=" + s.State,
		"TMPDIR=" + filepath.Join(s.Dir, ".tmp"),
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(s.Dir, "race"),
		string(s.Mark),
	}
	if !clitest.Full() {
		// Gemini otherwise starts itself a second time, for more memory, which takes another second of CPU.
		env = append(env, "GEMINI_CLI_NO_RELAUNCH=true")
	}
	return append(rehearse.Over(append(env, clitest.Lean...), s.API.Environ()), s.Env...)
}

// Command is a command on this stage: the agent, or what [Main] has built.
func (s *Stage) Command(name string, args ...string) *exec.Cmd {
	path := Bin(name)
	if s.cli.Descriptor != nil && name == s.cli.Name {
		path = s.Agent
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.Work, s.Environ()
	return cmd
}

// Requests is how many the API has seen that are part of the work.
func (s *Stage) Requests() int { return len(s.API.Main()) }

// Asked checks how many requests the API has seen.
func (s *Stage) Asked(want int) {
	s.T.Helper()
	if got := s.Requests(); got != want {
		s.T.Errorf("%d requests, want %d", got, want)
	}
}

// Eventually waits for what must come.
func (s *Stage) Eventually(what string, ok func() bool) {
	s.T.Helper()
	if !Within(Patience, ok) {
		s.T.Fatalf("not within %v: %s", Patience, what)
	}
}

// File makes a file in the working directory, which may be a script, and returns its path.
func (s *Stage) File(name, content string) string {
	s.T.Helper()
	path := filepath.Join(s.Work, name)
	must.OK(s.T, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(s.T, built.WriteFile(path, []byte(content)))
	return path
}

// Has reports whether a file is in the working directory.
func (s *Stage) Has(name string) bool {
	_, err := os.Stat(filepath.Join(s.Work, name))
	return err == nil
}

// Wrote checks a file that a tool has made.
func (s *Stage) Wrote(name, want string) {
	s.T.Helper()
	if got, err := os.ReadFile(filepath.Join(s.Work, name)); err != nil || string(got) != want {
		s.T.Errorf("%s: %q, %v", name, got, err)
	}
}

// Log is what belay has on record, line by line.
func (s *Stage) Log() (list []journal.Entry) {
	s.T.Helper()
	f, err := os.Open(filepath.Join(s.State, "log.jsonl"))
	must.OK(s.T, err)
	defer f.Close()
	for e := range journal.Read(f, nil) {
		list = append(list, e)
	}
	return list
}

// OnRecord checks what belay has on record of a session of the agent's.
func (s *Stage) OnRecord(id, want string) {
	s.T.Helper()
	data, err := os.ReadFile(filepath.Join(s.State, "sessions", s.cli.Name+"-"+id+".json"))
	var session struct{ Status string }
	if err == nil {
		err = json.Unmarshal(data, &session)
	}
	if err != nil || !s.cli.IsSession(id) || session.Status != want {
		s.T.Errorf("session %q is on record as %q, %v; want %s", id, session.Status, err, want)
	}
}
