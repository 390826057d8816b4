//go:build linux

package upgrade_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// Gates that 52c78ef has closed stay closed: one held by hand, one opened by hand, one that failures have opened. The one
// that was reset is healthy, and a reset of the present version opens the others.
func TestGates(t *testing.T) {
	t.Parallel()
	s := home(t)
	for key, says := range map[string]string{
		"deploy":   "on hold until 2099-01-01 00:00 UTC (a freeze)",
		"payments": "an audit",
		"registry": "gate registry is blocked until ",
	} {
		r := s.Run("belay", "run", "--gate", key, "--no-wait", "--", "touch", key)
		r.Exits(75)
		r.Says(says)
		if s.Has(key) {
			t.Errorf("gate %s lets a run start", key)
		}
		s.Run("belay", "gates", "reset", key).Exits(0)
		s.Run("belay", "run", "--gate", key, "--no-wait", "--", "touch", key).Exits(0)
		if !s.Has(key) {
			t.Errorf("gate %s lets no run start after a reset", key)
		}
	}
	s.Run("belay", "run", "--gate", "mended", "--no-wait", "--", "true").Exits(0)
	for _, g := range ask(s, "gates", "--json") {
		if key := g["key"]; key == "deploy" || key == "payments" || key == "registry" || key == "mended" {
			t.Errorf("gate %v is still listed: %v", key, g)
		}
	}
}

// The user's settings mean what they meant.
func TestConfig(t *testing.T) {
	t.Parallel()
	s := home(t)
	text, err := os.ReadFile("testdata/answers/config.jsonl")
	must.OK(t, err)
	var want, got any
	must.OK(t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), placeDir, s.Dir)), &want))
	must.OK(t, json.Unmarshal([]byte(s.Run("belay", "config", "show", "--json").Stdout), &got))
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the settings are\n%v\nand were\n%v", got, want)
	}
	r := s.Run("belay", "run", "--output-format", "json", "--", "sh", "-c", "echo the registry is busy >&2; exit 9")
	r.Exits(9)
	if answer := lines(t, r.Stdout); len(answer) != 1 || answer[0]["error_type"] != "overloaded" {
		t.Errorf("the user's rule was not heard: %s", r.Stdout)
	}
}

// Doctor finds nothing wrong with what 52c78ef has left but the gates that are closed, before and after the database is
// migrated.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := home(t)
	for range 2 {
		r := s.Run("belay", "doctor", "--json")
		r.Exits(1)
		closed := 0
		for _, f := range lines(t, r.Stdout) {
			if f["status"] != "wrong" {
				continue
			}
			switch f["check"] {
			case "gates":
				closed++
			case "settings", "state", "record", "leftovers":
				t.Errorf("%v", f)
			}
		}
		if closed != 3 {
			t.Errorf("%d gates are closed, want 3:\n%s", closed, r.Stdout)
		}
		s.Run("belay", "stats").Exits(0)
	}
}

// The runs whose belay was killed are put on record, each once, also if several find them at the same time; the next run
// can find them too.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, finders := range map[string][][]string{
		"Ps":    {{"ps"}, {"ps", "--reap"}, {"doctor"}},
		"Run":   {{"run", "--", "true"}},
		"Query": {{"log"}, {"stats"}, {"run", "--", "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := home(t)
			var wg sync.WaitGroup
			for _, args := range finders {
				wg.Go(func() { s.Start(s.Command("belay", args...), nil).Quietly() })
			}
			wg.Wait()
			for _, id := range killed(t) {
				found := ask(s, "log", "--json", id)
				if len(found) != 1 {
					t.Fatalf("%v", found)
				}
				run := found[0]
				how, times := "belay was killed while "+run["command"].(string)+" was running", 1
				switch run["command"] {
				case "sleep":
					how = "belay ended with the system while sleep was running"
				case "sh":
					how, times = "belay was killed while it waited to run sh: sh exited 1", 2
				}
				if run["status"] != "error" || run["class"] != "interrupted" || run["error"] != how || run["attempts"] != 1.0 || run["wait_ms"] != 0.0 {
					t.Errorf("%v", run)
				}
				log, _ := os.ReadFile(filepath.Join(s.State, "log.jsonl"))
				if n := strings.Count(string(log), id); n != times {
					t.Errorf("%s is in the log %d times, want %d", id, n, times)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(s.State, "runs", "*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// What is older than a time is forgotten, also what 52c78ef has written, and nothing else; what was not folded is folded first.
func TestPrune(t *testing.T) {
	t.Parallel()
	s := home(t)
	boundary := time.Time{} // between what 52c78ef has folded and what it has not
	for _, a := range answered(s, "audit") {
		if a["action"] == "gate_reset" {
			boundary = at(t, a).Add(time.Millisecond)
		}
	}
	var kept, keptSessions []string
	for _, run := range answered(s, "log") {
		if !at(t, run).Before(boundary) && !isKilled(t, run) {
			kept = append(kept, run["id"].(string))
		}
	}
	kept = append(kept, killed(t)...)
	for _, session := range answered(s, "sessions") {
		if !at(t, session).Before(boundary) {
			keptSessions = append(keptSessions, session["id"].(string))
		}
	}
	files := func() (n int) {
		list, _ := filepath.Glob(filepath.Join(s.State, "sessions", "*.json"))
		return len(list)
	}
	before := files()
	s.Run("belay", "prune", "--older-than", boundary.Format(time.RFC3339Nano)).Exits(0)
	same := func(what string, got []object, want []string) {
		t.Helper()
		var ids []string
		for _, o := range got {
			ids = append(ids, o["id"].(string))
		}
		slices.Sort(ids)
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Errorf("%s: %q, want %q", what, ids, want)
		}
	}
	same("runs", ask(s, questions["log"]...), kept)
	same("sessions", ask(s, questions["sessions"]...), keptSessions)
	if n := files(); n != len(keptSessions)+2 { // those of the killed runs
		t.Errorf("%d of %d session files are left, want %d", n, before, len(keptSessions)+2)
	}
	for name, want := range map[string]int{"events": 11, "alerts": 1, "audit": 7} {
		if got := ask(s, questions[name]...); len(got) != want {
			t.Errorf("%d %s are left, want %d", len(got), name, want)
		}
	}
	aside, _ := filepath.Glob(filepath.Join(s.State, "log.jsonl.*"))
	if len(aside) != 1 {
		t.Fatalf("moved aside: %v", aside)
	}
	// The rest goes once it is old enough.
	hourAgo := time.Now().Add(-time.Hour)
	os.Chtimes(aside[0], hourAgo, hourAgo)
	s.Run("belay", "prune", "--older-than", time.Now().Format(time.RFC3339)).Exits(0)
	if aside, _ := filepath.Glob(filepath.Join(s.State, "log.jsonl*")); len(aside) > 0 {
		t.Errorf("left: %v", aside)
	}
	same("runs in the end", ask(s, questions["log"]...), nil)
}

// at is the time of an answer.
func at(t *testing.T, o object) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, o["timestamp"].(string))
	must.OK(t, err)
	return when
}

// A session that 52c78ef has begun goes on: one that was done, by its id, and the last one of the directory, whose belay was
// killed.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cli           stage.CLI
		args          []string
		word          string
		last          bool
		status        string
		input, output int // that the session had used
	}{
		"Claude":     {stage.Claude, []string{"-p", "what was it?"}, "remember plum", false, "done", 420, 45},
		"ClaudeLast": {stage.Claude, []string{"-p", "what was it?"}, "remember quince", true, "running", 0, 0},
		"Codex":      {stage.Codex, []string{"exec", "--skip-git-repo-check", "what was it?"}, "remember pear", false, "done", 830, 83},
		"CodexLast":  {stage.Codex, []string{"exec", "--skip-git-repo-check", "what was it?"}, "remember medlar", true, "running", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "Codex" || name == "ClaudeLast" {
				stage.InFull(t) // every day each CLI has one of the two ways
			}
			t.Parallel()
			s := tt.cli.New(t, "", "200(in=50, out=5, text=gladly)")
			settle(s)
			id := sessionWith(s, tt.word)
			logged := ownLog(s)
			s.OnRecord(id, tt.status)
			which := id
			if tt.last {
				which = "last"
			}
			r := s.Belay([]string{"--resume", which}, tt.args)
			r.Exits(0)
			r.Is("", 1)
			r.Prints("gladly\n")
			r.Used(50, 5)
			if r.Result.SessionID != id || !r.Result.Resumed {
				t.Errorf("%+v, want session %s", r.Result, id)
			}
			s.ToldOnce(tt.word, "what was it?")
			if n := ownLog(s); tt.cli.Name == "claude" && n != logged+1 {
				t.Errorf("claude's log in the working directory had %d lines, now %d", logged, n)
			}
			s.OnRecord(id, "done")
			var session struct {
				Usage struct {
					Input  int `json:"input_tokens"`
					Output int `json:"output_tokens"`
				}
			}
			paths, _ := filepath.Glob(filepath.Join(s.State, "sessions", "*"+id+".json"))
			data, _ := os.ReadFile(paths[0])
			if err := json.Unmarshal(data, &session); err != nil || session.Usage.Input != tt.input+50 || session.Usage.Output != tt.output+5 {
				t.Errorf("the session has used %+v, want %d and %d more: %v", session.Usage, tt.input+50, tt.output+5, err)
			}
		})
	}
}

// ownLog is how many lines the log in the working directory has.
func ownLog(s *stage.Stage) int {
	data, _ := os.ReadFile(filepath.Join(s.Work, ".logs", "claude_invocations.jsonl"))
	return strings.Count(string(data), "\n")
}

// sessionWith finds the session in which something was said.
func sessionWith(s *stage.Stage, text string) string {
	s.T.Helper()
	for _, pattern := range []string{"api/home/.claude/projects/*/*.jsonl", "api/home/.codex/sessions/*/*/*/*.jsonl"} {
		paths, _ := filepath.Glob(filepath.Join(s.Dir, pattern))
		for _, path := range paths {
			if data, _ := os.ReadFile(path); strings.Contains(string(data), text) {
				name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
				return name[len(name)-36:]
			}
		}
	}
	s.T.Fatalf("no session says %q", text)
	return ""
}
