//go:build linux

package agents_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// entry is a line of a log of attempts.
type entry struct {
	Timestamp    string
	PromptHash   string `json:"prompt_hash"`
	Attempt      int
	Status       string
	ErrorType    *string  `json:"error_type"`
	WaitTime     *float64 `json:"wait_time"`
	ResponseTime *float64 `json:"response_time"`
}

// entries reads a log.
func entries(t *testing.T, path string) (list []entry) {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e entry
		var keys map[string]any
		if err := errors.Join(json.Unmarshal(lines.Bytes(), &e), json.Unmarshal(lines.Bytes(), &keys)); err != nil {
			t.Fatalf("%v in %s", err, lines.Bytes())
		}
		for _, key := range []string{"timestamp", "prompt_hash", "attempt", "status", "error_type", "wait_time", "response_time"} {
			if _, ok := keys[key]; !ok {
				t.Errorf("%s is not in %s", key, lines.Bytes())
			}
		}
		list = append(list, e)
	}
	return list
}

var sessionID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// tree are the files below a directory.
func tree(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[strings.TrimPrefix(path, dir+"/")] = true
		}
		return err
	})
	must.OK(t, err)
	return files
}

// ownLog is where claude's attempts are on record in the working directory.
func ownLog(s *stage.Stage) string { return filepath.Join(s.Work, ".logs", "claude_invocations.jsonl") }

// hostilePrompt is one that a shell would make something of.
const hostilePrompt = "$(touch made) `touch made`; touch made & | > made \"quoted\" 'single' \\ * ~ $HOME\nline"

// Seed000 are the twelve scenarios of the design that asked for a client of the Claude CLI, by their numbers.
func TestSeed000(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *stage.Stage){
		"010_HappyPath": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("200(in=100, out=7)")
			r := s.Belay(nil, []string{"-p", hostilePrompt})
			r.Exits(0)
			r.Is("", 1)
			r.Prints(answer)
			r.Used(100, 7)
			readByNoShell(t, s)
			s.Asked(1)
			if r.Result.Usage.Cost == nil || *r.Result.Usage.Cost <= 0 || r.Result.Waited != 0 || r.Stderr != "" {
				t.Errorf("%+v\n%s", r.Result, r.Stderr)
			}
		},
		"030_MaxRetriesExhausted": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("429x*")
			s.Env = []string{"CLAUDE_MAX_RETRIES=2"}
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(75)
			s.Asked(2)
			if r.Result.ErrorType != "rate_limit" || r.Result.Success || r.Result.Result != "" || !strings.HasSuffix(r.Result.Error, "retry later") {
				t.Errorf("%+v", r.Result)
			}
			if log := entries(t, ownLog(s)); log[len(log)-1].Status != "exhausted" {
				t.Errorf("%+v", log)
			}
		},
		"040_AuthError": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("401x*")
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(78)
			r.Is("auth", 1)
			r.Says("its key was rejected")
			r.Prints("")
			if n := s.Requests(); n < 1 || n >= 11 { // claude alone asks 11 times; on a busy machine it does some of it before it is stopped
				t.Errorf("%d requests", n)
			}
		},
		"050_Timeout_100_NothingElseStartsIt": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("hang x*")
			run := s.StartBelay([]string{"--timeout", "30s"}, []string{"-p", "say hi"}, nil)
			s.Eventually("it asks", func() bool { return s.Requests() == 1 })
			for _, p := range s.Left() {
				if strings.Contains(p.Args, "stream-json") && !strings.Contains(p.Args, "belay run") && parent(p.PID) != run.Cmd.Process.Pid {
					t.Errorf("%v was started by %d, not by belay, %d", p, parent(p.PID), run.Cmd.Process.Pid)
				}
			}
			started(run)
			r := run.Wait()
			r.Exits(124)
			r.Is("timeout", 1)
			s.Asked(1)
		},
		"060_Backoff": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("500x*")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_MAX_RETRIES=3", "CLAUDE_BASE_DELAY=0.2", "CLAUDE_MAX_DELAY=0.3", "CLAUDE_JITTER_FACTOR=0"}
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(75)
			r.Is("server_error", 3)
			s.Asked(3)
			var waits []string
			for _, e := range entries(t, ownLog(s)) {
				if e.WaitTime != nil {
					waits = append(waits, fmt.Sprintf("%g", *e.WaitTime))
				}
			}
			if got := strings.Join(waits, " "); !strings.HasPrefix(got, "0.2 0.3") {
				t.Errorf("it waited %s s", got)
			}
		},
		"070_Jitter": func(t *testing.T, s *stage.Stage) {
			stage.InFull(t) // every day TestAgent_FromEnv (the root package) has the variable, and package retry what it does
			s.Rehearse("500x*")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_MAX_RETRIES=3", "CLAUDE_BASE_DELAY=0.5", "CLAUDE_MAX_DELAY=0.5", "CLAUDE_JITTER_FACTOR=0.2"}
			s.Belay(nil, []string{"-p", "say hi"}).Exits(75)
			different := map[float64]bool{}
			for _, e := range entries(t, ownLog(s))[:2] {
				different[*e.WaitTime] = true
				if math.Abs(*e.WaitTime-0.5) > 0.1001 {
					t.Errorf("it waited %v s", *e.WaitTime)
				}
			}
			if len(different) < 2 {
				t.Errorf("it always waited %v s", different)
			}
		},
		"020_RetryOn429_080_Logging": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("429, 200")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"} // so that the retry is not claude's own
			r := s.Belay(nil, []string{"-p", "a secret prompt"})
			r.Exits(0)
			r.Is("", 2)
			s.Asked(2)
			if r.Result.Waited <= 0 {
				t.Errorf("waited %v", r.Result.Waited)
			}
			log := entries(t, ownLog(s))
			if len(log) != 2 || log[0].Status != "retry" || log[0].ErrorType == nil || *log[0].ErrorType != "rate_limit" || log[1].Status != "success" || log[1].Attempt != 2 {
				t.Fatalf("%+v", log)
			}
			sum := sha256.Sum256([]byte("a secret prompt"))
			for _, e := range log {
				if _, err := time.Parse(time.RFC3339, e.Timestamp); err != nil || e.PromptHash != hex.EncodeToString(sum[:]) || e.ResponseTime == nil || *e.ResponseTime <= 0 {
					t.Errorf("%v: %+v", err, e)
				}
			}
			for _, path := range []string{ownLog(s), filepath.Join(s.State, "log.jsonl")} {
				info, err := os.Stat(path)
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v", err, info)
				}
				if data, _ := os.ReadFile(path); strings.Contains(string(data), "secret prompt") {
					t.Errorf("the prompt is in %s", path)
				}
			}
		},
		"090_Environment": func(t *testing.T, s *stage.Stage) {
			// What its variables set is in 030 and 060.
			for _, bad := range []string{"CLAUDE_MAX_RETRIES=0", "CLAUDE_MAX_RETRIES=many", "CLAUDE_BASE_DELAY=soon", "CLAUDE_JITTER_FACTOR=x"} {
				s.Env = []string{bad}
				r := s.Belay(nil, []string{"-p", "say hi"})
				r.Exits(2)
				r.Says(strings.SplitN(bad, "=", 2)[0])
			}
			s.Asked(0)
		},
		"110_LogDir_120_NoShell": func(t *testing.T, s *stage.Stage) {
			dir := filepath.Join(s.Dir, "elsewhere")
			s.Env, s.State = []string{"CLAUDE_LOG_DIR=" + dir}, filepath.Join(dir, "state")
			before := tree(t, s.Dir)
			s.Belay([]string{"--prompt", hostilePrompt}, []string{"-p"}).Exits(0)
			s.Asked(1)
			readByNoShell(t, s)
			if log := entries(t, filepath.Join(dir, "claude_invocations.jsonl")); len(log) != 1 {
				t.Errorf("%+v", log)
			}
			var written []string
			for path := range tree(t, s.Dir) {
				// claude itself writes to its home and to its temporary directory, and the result is where the test has asked for it.
				if !before[path] && !strings.HasPrefix(path, "api/") && !strings.HasPrefix(path, "result-") {
					written = append(written, sessionID.ReplaceAllString(path, "ID"))
				}
			}
			slices.Sort(written)
			if want := "elsewhere/claude_invocations.jsonl elsewhere/state/.swept elsewhere/state/log.jsonl elsewhere/state/sessions/claude-ID.json"; strings.Join(written, " ") != want {
				t.Errorf("written: %q, want %s", written, want)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, claude.New(t, "", "200"))
		})
	}
}

// readByNoShell checks that the hostile prompt has come as it is, once with each request.
func readByNoShell(t *testing.T, s *stage.Stage) {
	t.Helper()
	for _, q := range s.API.Main() {
		if texts := s.Told(q); stage.Count(texts, hostilePrompt) != 1 {
			t.Errorf("it has become %q", texts)
		}
	}
	if s.Has("made") {
		t.Error("a shell has read the prompt")
	}
}
