//go:build linux

package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// wreck is what becomes of a record: its lines, with the numbers of those of the first call, its result, and the last answer.
type wreck struct {
	name   string
	change func(lines []string, call, result, answer int) []string
}

func doubled(lines []string, i int) []string { return slices.Insert(lines, i+1, lines[i]) }

// wrecks are 12 kinds of damage. What one of the CLIs mends by itself goes on as it is; where nothing can be repaired, a new session does.
var wrecks = []wreck{
	{"call twice", func(l []string, call, _, _ int) []string { return doubled(l, call) }},
	{"invalid ids", func(l []string, _, _, _ int) []string {
		for i := range l {
			l[i] = strings.ReplaceAll(l[i], "_rehearsal0001", "_rehearsal!0001")
		}
		return l
	}},
	{"result twice", func(l []string, _, result, _ int) []string { return doubled(l, result) }},
	{"nothing left", func([]string, int, int, int) []string { return []string{"{"} }},
	{"result before its call", func(l []string, call, result, _ int) []string {
		l[call], l[result] = l[result], l[call]
		return l
	}},
	{"no first line", func(l []string, _, _, _ int) []string { return l[1:] }},
	{"no result", func(l []string, _, result, _ int) []string { return slices.Delete(l, result, result+1) }},
	{"no call", func(l []string, call, _, _ int) []string { return slices.Delete(l, call, call+1) }},
	{"cut", func(l []string, call, _, _ int) []string {
		return append(l[:call+1:call+1], l[call+1][:len(l[call+1])/2])
	}},
	{"torn in the middle", func(l []string, _, result, _ int) []string {
		l[result] = l[result][:len(l[result])/2]
		return l
	}},
	{"zeros", func(l []string, _, result, _ int) []string {
		return slices.Insert(l, result, strings.Repeat("\x00", 4096))
	}},
	{"unknown kind", func(l []string, _, _, answer int) []string {
		l[answer] = strings.NewReplacer(`[{"type":"text","text":`, `[{"type":"foo"},{"type":"text","text":`, `[{"text":`, `[{"type":"foo"},{"text":`, `"payload":{"type":"message"`, `"payload":{"type":"massage"`).Replace(l[answer])
		return l
	}},
}

// With --hand-over, the real CLI finishes whatever has become of the record of its session, against a service that looks at histories as the real ones do. What was asked before
// is in what it then sends, and the record is as it was.
func TestSession_Broken(t *testing.T) {
	for n, of := range []struct {
		agent              *agent
		records            string
		call, told, answer string
	}{
		{claude, ".claude/projects/*/%s.jsonl", `"type":"tool_use"`, `"type":"tool_result"`, `"all done"`},
		{codex, ".codex/sessions/*/*/*/rollout-*%s.jsonl", `"type":"function_call"`, `"type":"function_call_output"`, `"all done"`},
	} {
		t.Run(of.agent.Name, func(t *testing.T) {
			t.Parallel()
			s := of.agent.New(t, "", `strict: tool(bash: echo one), 200(text="all done")`)
			first := s.Belay(nil, of.agent.work("do it"))
			first.Exits(0)
			id := first.Result.SessionID
			paths, _ := filepath.Glob(filepath.Join(s.Dir, "api", "home", fmt.Sprintf(of.records, id)))
			if len(paths) != 1 {
				t.Fatalf("%q", paths)
			}
			whole, err := os.ReadFile(paths[0])
			must.OK(t, err)
			lines := strings.Split(strings.TrimSpace(string(whole)), "\n")
			with := func(text string) int {
				return slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) && !strings.Contains(l, `"type":"event_msg"`) })
			}
			call, told, answer := with(of.call), with(of.told), with(of.answer)
			for i, w := range wrecks {
				if !clitest.OneOf(len(wrecks), i+n*len(wrecks)/2) { // every day each CLI has one
					continue
				}
				t.Run(w.name, func(t *testing.T) {
					session := fmt.Sprintf("%s%012x", id[:24], i+1)
					path := strings.ReplaceAll(paths[0], id, session)
					text := strings.Join(w.change(slices.Clone(lines), call, told, answer), "\n") + "\n"
					must.OK(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, id, session)), 0o600))
					before := len(s.API.Main())
					r := s.Belay([]string{"--hand-over", "--resume", session}, of.agent.work("go on"))
					if r.Code != 0 || !r.Result.Success {
						t.Fatalf("exit code %d: %s", r.Code, r.Stderr)
					}
					after, err := os.ReadFile(path)
					must.OK(t, err)
					if r.Result.SessionID != session && !bytes.Equal(after[:min(len(after), len(text))], []byte(strings.ReplaceAll(text, id, session))) {
						t.Error("the record has changed")
					}
					requests := s.API.Main()
					last := requests[len(requests)-1]
					if !json.Valid(last.Body) || w.name != "nothing left" && !bytes.Contains(last.Body, []byte("do it")) {
						t.Errorf("what was done is not in the last of %d requests", len(requests)-before)
					}
				})
			}
		})
	}
}

// With --hand-over the real CLI finishes after an answer for which the service rejects its history, in a run and in a batch. Nothing of what was said comes to rest outside of the
// CLI's own directory, and there only for its user.
func TestSession_Poisoned(t *testing.T) {
	for i, test := range []struct {
		agent *agent
		step  string
	}{{codex, "image(too-large)"}, {codex, "orphan-tool"}, {claude, "orphan-tool"}, {claude, "image(too-large)"}} {
		if !clitest.OneOf(4, i) {
			continue
		}
		t.Run(test.agent.Name+" "+test.step, func(t *testing.T) {
			t.Parallel()
			const secret = "marmalade-47"
			script := "tool(bash: echo " + secret + "-one), " + test.step + ", 200(text=fine)"
			s := test.agent.New(t, "", script+", "+script)
			r := s.Belay([]string{"--hand-over"}, test.agent.work(secret+"-asked"))
			r.Exits(0)
			r.Prints("fine\n")
			line := batchOf(s, 1, 1, test.agent.work()...)
			s.Run("belay", slices.Insert(line, 1, "--hand-over")...).Exits(0)
			batchResults(s, 1)

			secrets := func(dir string) (found []string) {
				filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
					if err != nil || !d.Type().IsRegular() {
						return nil
					}
					if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(secret)) {
						found = append(found, path)
					}
					return nil
				})
				return found
			}
			if found := append(secrets(s.State), secrets(filepath.Join(s.Dir, ".tmp"))...); len(found) > 0 {
				t.Errorf("what was said is in %q", found)
			}
			for _, path := range secrets(filepath.Join(s.Dir, "api", "home")) {
				if info, err := os.Stat(path); strings.Contains(path, r.Result.SessionID) && (err != nil || info.Mode().Perm() != 0o600) {
					t.Errorf("%s: %v, %v", path, info, err)
				}
			}
		})
	}
}
