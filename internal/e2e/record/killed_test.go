//go:build linux

package record_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// kill is a run of an agent that is killed, and what is to be on record of it.
type kill struct {
	script string
	args   []string
	when   func(s *stage.Stage) bool
	want   usage // without the cost
	dies   bool  // the agent dies with belay
}

// kill -9 of belay while its agent works: the next belay puts the run on record as interrupted, once, with the tokens that
// the CLI's own files tell of, and its session does not stay running. What the next run of the session uses is its own.
func TestKilled_UsageIsFound(t *testing.T) {
	begun := func(s *stage.Stage) bool { return s.Has("begun") }
	// claude writes its own file a moment after it has begun with a tool: before that, nothing can be found.
	written := func(s *stage.Stage) bool {
		for _, v := range s.Environ() {
			if home, ok := strings.CutPrefix(v, "CLAUDE_CONFIG_DIR="); ok {
				paths, _ := filepath.Glob(filepath.Join(home, "projects", "*", "*.jsonl"))
				for _, path := range paths {
					if data, _ := os.ReadFile(path); bytes.Contains(data, []byte(`"tool_use"`)) {
						return begun(s)
					}
				}
			}
		}
		return false
	}
	asked := func(n int) func(*stage.Stage) bool {
		return func(s *stage.Stage) bool { return s.Requests() >= n }
	}
	claude := []string{"-p", "remember plum", "--allowedTools", "Bash"}
	codex := func(prompt string) []string {
		return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt}
	}
	for name, tt := range map[string]struct {
		cli   stage.CLI
		kills []kill
		find  [][]string // the commands that find it, all at the same time
	}{
		"Claude": {stage.Claude, []kill{
			{script: `tool(bash: "echo hello", in=1000, out=70, cache-read=30), tool(bash: "touch begun; tail -f /dev/null", in=100, out=10)`,
				args: claude, when: begun, want: usage{In: 1100, Out: 80, Read: 30}},
			{script: `tool(bash: "echo hello", in=500, out=50), hang-mid(in=200, out=20)`,
				args: []string{"-p", "go on", "--allowedTools", "Bash"}, when: asked(2), want: usage{In: 500, Out: 50}},
		}, [][]string{{"log"}, {"ps"}, {"doctor"}, {"stats"}}},
		"ClaudeAtOnce": {stage.Claude, []kill{{script: `tool(bash: "touch begun; tail -f /dev/null", in=100, out=10)`, args: claude, when: written,
			want: usage{In: 100, Out: 10}, dies: true}}, [][]string{{"ps", "--reap"}, {"run", "--", "true"}}},
		"Codex": {stage.Codex, []kill{
			{script: `tool(bash: "echo hello", in=1000, out=70), tool(bash: "touch begun; sleep 300", in=100, out=10)`,
				args: codex("remember plum"), when: begun, want: usage{In: 1100, Out: 80}},
			{script: `tool(bash: "touch begun2; sleep 300", in=300, out=30)`, args: codex("go on"),
				when: func(s *stage.Stage) bool { return s.Has("begun2") }, want: usage{In: 300, Out: 30}, dies: true},
		}, [][]string{{"sessions"}, {"run", "--", "true"}, {"ps"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tt.cli.New(t, "", tt.kills[0].script)
			for n, k := range tt.kills {
				var flags []string
				if n > 0 {
					s.Rehearse(k.script)
					flags = []string{"--resume", "last"}
				}
				run := s.StartBelay(flags, k.args, nil)
				s.Eventually("it works", func() bool { return k.when(s) && running(s) != "" })
				id := running(s)
				run.Cmd.Process.Kill()
				if k.dies {
					for _, p := range s.Left() {
						p.Kill()
					}
				}
				run.Quietly()
				finders(s, tt.find)
				check(s, id, k.want)
			}
			var sum usage
			for _, k := range tt.kills {
				sum.add(k.want)
			}
			var total struct{ Total figures }
			json.Unmarshal(ask(s, "stats", "--json", "--by", "profile"), &total)
			total.Total.Usage.Cost = nil
			if total.Total.Usage.String() != sum.String() {
				t.Errorf("the statistics have %v, want %v", total.Total.Usage, sum)
			}
			s.Run("belay", "ps", "--reap")
			if left, _ := filepath.Glob(filepath.Join(s.State, "runs", "*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// running is the id of the run whose session is known; empty if there is none.
func running(s *stage.Stage) string {
	paths, _ := filepath.Glob(filepath.Join(s.State, "runs", "*"))
	for _, path := range paths {
		var rec struct {
			ID      string `json:"id"`
			Session string `json:"session_id"`
		}
		if data, _ := os.ReadFile(path); json.Unmarshal(data, &rec) == nil && rec.Session != "" && !strings.Contains(string(data), `"reported"`) {
			return rec.ID
		}
	}
	return ""
}

// finders run all at once.
func finders(s *stage.Stage, all [][]string) {
	var wg sync.WaitGroup
	for _, args := range all {
		wg.Go(func() { s.Start(s.Command("belay", args...), nil).Quietly() })
	}
	wg.Wait()
}

func ask(s *stage.Stage, args ...string) []byte {
	s.T.Helper()
	r := s.Run("belay", args...)
	r.Exits(0)
	return []byte(r.Stdout)
}

// check looks at what is on record of a run that was killed.
func check(s *stage.Stage, id string, want usage) {
	s.T.Helper()
	var run struct {
		Status, Class string
		Session       string `json:"session_id"`
		Attempts      int
		Usage         usage
		Error         string
		List          []struct{ Rule string } `json:"attempt_list"`
	}
	must.OK(s.T, json.Unmarshal(ask(s, "log", "--json", id), &run))
	run.Usage.Cost = nil
	if run.Status != "error" || run.Class != "interrupted" || run.Attempts != 1 || len(run.List) != 1 || run.List[0].Rule != "killed" || run.Session == "" ||
		!strings.Contains(run.Error, "belay was killed while") {
		s.T.Errorf("%+v", run)
	}
	if run.Usage.String() != want.String() {
		s.T.Errorf("on record are %v, want %v", run.Usage, want)
	}
	log, _ := os.ReadFile(filepath.Join(s.State, "log.jsonl"))
	if n := bytes.Count(log, []byte(`"invocation":"`+id)); n != 1 {
		s.T.Errorf("%d lines in the log", n)
	}
	var session struct{ ID, Status string }
	json.Unmarshal(ask(s, "sessions", "--json", run.Session), &session)
	paths, _ := filepath.Glob(filepath.Join(s.State, "sessions", "*-"+run.Session+".json"))
	if len(paths) != 1 {
		s.T.Fatalf("files of the session: %v", paths)
	}
	file, _ := os.ReadFile(paths[0])
	if session.Status != "interrupted" || !bytes.Contains(file, []byte(`"status":"interrupted"`)) {
		s.T.Errorf("the session is %s, its file says %s", session.Status, file)
	}
}
