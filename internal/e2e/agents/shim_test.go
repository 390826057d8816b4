//go:build linux

package agents_test

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// shimLink makes a directory of links, by belay shim itself, and returns the path of the one for the agent.
func shimLink(s *stage.Stage, name string) string {
	s.T.Helper()
	dir := filepath.Join(s.Dir, "shims")
	cmd := s.Command("belay", "shim", "install", "--dir", dir, name)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.T.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, name)
}

// sdkScene is what a program does with an SDK, and the API does meanwhile.
type sdkScene struct {
	script string // of the API
	plan   string // of the program; it can wait for the file HANGS
	hangs  int    // the request at which the file is made
	env    []string
	want   []string // in what the SDK hands out
	asked  int      // requests
	leaves bool     // without belay, processes stay behind
	rarely bool     // it is compared only in full
}

// play has the SDK start the agent by that path and returns what it hands out.
func (scene sdkScene) play(t *testing.T, a *agent, module, driver string, path func(*stage.Stage) string) (*stage.Stage, string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err) // the SDK has come by npm
	}
	s := a.New(t, "", scene.script)
	s.Longest, s.Env = 10*time.Minute, scene.env
	driver, err = filepath.Abs(filepath.Join("testdata", driver))
	must.OK(t, err)
	hangs := filepath.Join(s.Dir, "hangs")
	if scene.hangs > 0 {
		go func() {
			for t.Context().Err() == nil && len(s.API.Main()) < scene.hangs {
				time.Sleep(10 * time.Millisecond)
			}
			os.WriteFile(hangs, nil, 0o600)
		}()
	}
	cmd := exec.Command(node, "--no-warnings", driver, module, path(s), strings.ReplaceAll(scene.plan, "HANGS", hangs))
	cmd.Dir, cmd.Env = s.Work, s.Environ()
	r := s.Start(cmd, nil).Quietly()
	if r.Code != 0 || r.Stderr != "" {
		t.Errorf("exit code %d, and at the end of stderr %s", r.Code, r.Stderr[max(0, len(r.Stderr)-2000):])
	}
	s.Asked(scene.asked)
	return s, conversationAlike(s, r.Stdout)
}

// compare plays a scene without belay and through the shim, and finds the first line that differs. check, if not nil, looks at
// what belay has put on record.
func (scene sdkScene) compare(t *testing.T, a *agent, module, driver string, check func(*testing.T, *stage.Stage)) {
	t.Helper()
	var once sync.Once
	var withoutBelay string
	bare := func(t *testing.T) string { // whichever subtest comes first: each can be run alone
		once.Do(func() {
			_, withoutBelay = scene.play(t, a, module, driver, func(s *stage.Stage) string {
				s.Leaves = scene.leaves
				return s.Agent
			})
		})
		return withoutBelay
	}
	compared := full || !scene.rarely
	if compared {
		t.Run("Bare", func(t *testing.T) {
			t.Parallel()
			bare(t)
		})
	}
	t.Run("Shim", func(t *testing.T) {
		t.Parallel()
		s, said := scene.play(t, a, module, driver, func(s *stage.Stage) string { return shimLink(s, a.Name) })
		if compared {
			callbacks, messages := parted(said)
			bareCallbacks, bareMessages := parted(bare(t))
			sameLines(t, "the SDK hands out", messages, bareMessages)
			sameLines(t, "the SDK calls", callbacks, bareCallbacks)
		}
		for _, must := range scene.want {
			if !strings.Contains(said, must) {
				t.Errorf("no %s in what the SDK hands out:\n%s", must, said)
			}
		}
		if check != nil {
			check(t, s)
		}
	})
}

// parted parts what a program prints: of what its callbacks print, and the messages that it is handed, the SDK keeps only each in order.
func parted(said string) (callbacks, messages string) {
	var parts [2]strings.Builder
	for line := range strings.Lines(said) {
		at := 1
		for _, kind := range []string{"asked", "called", "hook", "interrupted"} {
			if strings.HasPrefix(line, `{"type":"`+kind+`"`) {
				at = 0
			}
		}
		parts[at].WriteString(line)
	}
	return parts[0].String(), parts[1].String()
}

// What the Agent SDK hands out is line for line as without belay: partial messages, hooks and an MCP server of the program's own, a
// permission that it takes longer to give than a claude may be silent, a turn that is throttled, one that is interrupted, one after an idle time
// longer than claude may be silent, and a session that goes on in another process.
func TestShim_ClaudeSDK(t *testing.T) {
	t.Parallel()
	scene := sdkScene{
		script: `200(text="one", used=5h:42%,7d:17%), tool(bash: "echo made > made"), 200(text="two"), tool(mcp__lab__echo: {}), 200(text="three"), 429x2, hang, 200(text="six"), 200(text="seven")`,
		plan: `[{"use":{"partial":true,"hooks":true,"mcp":true,"slow":21000}},{"models":true},{"say":"first"},{"say":"second"},{"say":"third"},{"say":"fourth"},
			{"say":"fifth","interrupt":"HANGS"},{"idle":21000},{"say":"sixth"},{"resume":true},{"say":"seventh"}]`,
		env:   []string{"CLAUDE_CODE_MAX_RETRIES=1", "BELAY_STALL_TIMEOUT=20s"},
		want:  []string{`"models"`, `"asked"`, `"called"`, `"hook"`, `"stream_event"`, `"interrupted"`, `"one"`, `"two"`, `"three"`, `"six"`, `"seven"`, `"is_error":true`},
		asked: 10,
		hangs: 8,
	}
	turns := []string{"turn ok", "turn ok", "turn ok", "turn rate_limit", "turn interrupted", "turn ok", "turn ok"}
	if !full { // every day TestShim_CodexSDK has a session that goes on in another process
		scene.plan = strings.Replace(scene.plan, `,{"resume":true},{"say":"seventh"}`, "", 1)
		scene.want = slices.DeleteFunc(scene.want, func(text string) bool { return text == `"seven"` })
		scene.asked, turns = 9, turns[:6]
	}
	scene.compare(t, claude, clitest.SDK(t), "converse.mjs", func(t *testing.T, s *stage.Stage) {
		// Each turn is on record with its own verdict and usage, and the line of the process has all of it.
		var got []string
		var told, all verdict.Usage
		for _, e := range s.Log() {
			var used verdict.Usage
			json.Unmarshal(e.Usage, &used)
			if e.Kind == "" {
				all = all.Add(used)
				continue
			}
			told = told.Add(used)
			got = append(got, string(e.Kind)+" "+string(cmp.Or(e.ErrorType, "ok")))
		}
		if !slices.Equal(got, turns) {
			t.Errorf("%q are on record, want %q", got, turns)
		}
		if known := quotaKnown(s); known != usedSaid {
			t.Errorf("known of its limits: %q", known)
		}
		if told.InputTokens != all.InputTokens || told.OutputTokens != all.OutputTokens || told.InputTokens == 0 {
			t.Errorf("the turns have used %+v and all %+v", told, all)
		}
	})
}

// What the Codex SDK hands out is line for line as without belay: a tool, a failure that codex gets over by itself, a thread that goes on
// with another process, and a request that is refused.
func TestShim_CodexSDK(t *testing.T) {
	t.Parallel()
	sdkScene{
		script: `tool(bash: "echo made > made"), 200(text="one"), 200(text="two"), 503(retry-after=1), 200(text="three"), 401x*`,
		plan:   `[{"say":"first"},{"say":"second"},{"resume":true},{"say":"third"},{"say":"fourth"}]`,
		want:   []string{`"thread.started"`, `"command_execution"`, `"one"`, `"two"`, `"three"`, `"turn.failed"`, `"thrown"`},
		asked:  11,
	}.compare(t, codex, clitest.CodexSDK(t), "codexsdk.mjs", nil)
}

// A program that gives up is left in peace, and nothing of the agent stays behind, whether it asks the agent to end or kills it. That the SDKs are handed the
// same as without belay is shown every day by the two tests above.
func TestShim_GivenUp(t *testing.T) {
	t.Parallel()
	t.Run("Claude", func(t *testing.T) {
		t.Parallel()
		sdkScene{
			script: `tool(bash: "while true; do sleep 1; done"), 200`, plan: `[{"say":"first","abort":"task_started"}]`,
			want: []string{`"task_started"`, `"thrown"`}, asked: 1, leaves: true, rarely: true,
		}.compare(t, claude, clitest.SDK(t), "converse.mjs", nil)
	})
	t.Run("Codex", func(t *testing.T) {
		t.Parallel()
		sdkScene{
			script: `tool(bash: "sleep 4711"), 200`, plan: `[{"say":"first","abort":"item.started"}]`,
			want: []string{`"item.started"`, `"thrown"`}, asked: 1, rarely: true,
		}.compare(t, codex, clitest.CodexSDK(t), "codexsdk.mjs", nil)
	})
}
