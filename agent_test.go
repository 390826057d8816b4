package belay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// rehearsal is a stand-in for the vendors' APIs, and the environment in which the real CLIs talk to it. The tests with real
// CLIs are left out of short runs.
func rehearsal(t *testing.T, script string) (*rehearse.API, []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: real CLIs take their time")
	}
	t.Parallel()
	api, err := rehearse.Start(script)
	must.OK(t, err)
	t.Cleanup(func() { api.Close() })
	return api, slices.Concat(os.Environ(), clitest.Lean, api.Environ())
}

func mainRequests(api *rehearse.API) (n int) {
	for _, r := range api.Requests() {
		if r.Main {
			n++
		}
	}
	return n
}

func TestClaude_Run(t *testing.T) {
	api, env := rehearsal(t, `500, 200(text="It is done.", in=100, out=20)`)
	state, dir := &belay.State{Dir: t.TempDir()}, t.TempDir()
	ask := func(prompt string, resume belay.Resume) (*belay.Result, error) {
		claude := belay.Claude(prompt)
		claude.Env, claude.Dir, claude.Path = env, dir, clitest.Claude(t, "")
		claude.Runner = belay.Runner{State: state, LogDir: belay.NoLogDir, Resume: resume}
		return claude.Run(t.Context())
	}
	res, err := ask("/is this a command?", belay.Resume{})
	must.OK(t, err)
	if got := res.Output.String(); got != "It is done." || res.Attempts != 1 || mainRequests(api) != 2 {
		t.Errorf("%q after %d attempts and %d requests", got, res.Attempts, mainRequests(api))
	}
	if u := res.Usage; u.InputTokens != 100 || u.OutputTokens != 20 || u.CostUSD == nil || *u.CostUSD <= 0 {
		t.Errorf("usage %+v", u)
	}
	if last := api.Requests()[len(api.Requests())-1].LastMessage; !strings.Contains(last, "/is this a command?") {
		t.Errorf("it was asked %q", last)
	}
	if res.Session == "" || res.Resumed {
		t.Errorf("session %q, resumed %v", res.Session, res.Resumed)
	}

	// The session goes on, and what it cost before is not counted again.
	again, err := ask("And now?", belay.Resume{Session: res.Session})
	if err != nil || !again.Resumed || again.Session != res.Session {
		t.Errorf("%v, session %q, resumed %v", err, again.Session, again.Resumed)
	}
	if u := again.Usage; u.InputTokens != 10 || u.CostUSD == nil || *u.CostUSD >= *res.Usage.CostUSD {
		t.Errorf("usage %+v", u)
	}
	if last, ok := state.LastSession("claude", dir); !ok || last.ID != res.Session || last.Status != "done" || last.Usage.InputTokens != 110 {
		t.Errorf("on record: %+v, %v", last, ok)
	}

	_, err = ask("And now?", belay.Resume{Session: "01234567-89ab-4def-8123-456789abcdef"})
	if failed, ok := errors.AsType[*belay.Error](err); !ok || failed.Verdict.Class != verdict.SessionNotFound {
		t.Errorf("an unknown session: %v", err)
	}
}

// A cancelled context ends the whole tree, and the error says so.
func TestCodex_Cancelled(t *testing.T) {
	_, env := rehearsal(t, `hang`)
	ctx, cancel := context.WithCancel(t.Context())
	codex := belay.Codex("Do it.", "--skip-git-repo-check")
	codex.Env, codex.Dir, codex.Path = env, t.TempDir(), clitest.Codex(t, "")
	inv, err := codex.Start(ctx)
	must.OK(t, err)
	for e := range inv.Events() {
		if _, begun := e.(belay.AgentEvent); begun {
			break
		}
	}
	cancel()
	res, err := inv.Wait()
	if !errors.Is(err, context.Canceled) || res.Verdict.Class != verdict.Interrupted || len(res.Left) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// What the constructors of the package make is an agent that is known.
func TestAgent_Constructors(t *testing.T) {
	for name, make := range map[string]func(string, ...string) *belay.Agent{"claude": belay.Claude, "codex": belay.Codex, "gemini": belay.Gemini, "opencode": belay.OpenCode} {
		if a := make("Do it.", "-m", "x"); a.Name != name || !slices.Contains(profile.Agents(), name) || a.Prompt != "Do it." || len(a.Options) != 2 {
			t.Errorf("%+v", a)
		}
	}
}

// Agents whose profiles are data are known to programs as well, by their names.
func TestAgent_AsData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pi")
	must.OK(t, os.WriteFile(path, []byte(`#!/bin/sh
echo '{"type":"session","id":"01a1f231-367d-70c1-9983-50b544bf6a65"}'
echo '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"It is done."}],"usage":{"input":10,"output":5}}}'
echo '{"type":"agent_end","willRetry":false}'
`), 0o700))
	pi := &belay.Agent{Name: "pi", Prompt: "Do it.", Path: path}
	res, err := pi.Run(t.Context())
	must.OK(t, err)
	if res.Output.String() != "It is done." || res.Session != "01a1f231-367d-70c1-9983-50b544bf6a65" || res.Usage.InputTokens != 10 {
		t.Errorf("%q, %+v", res.Output.String(), res)
	}
}

// The agents that take long to start answer through the library as the others do, and their sessions go on.
func TestAgent_SlowOnes(t *testing.T) {
	if !clitest.Full() {
		t.Skip("only with BELAY_TEST_FULL=1; internal/e2e/agents has them every day")
	}
	for name, ask := range map[string]func(string, ...string) *belay.Agent{"gemini": belay.Gemini, "opencode": belay.OpenCode} {
		t.Run(name, func(t *testing.T) {
			api, env := rehearsal(t, `429(retry-after=1), 200(text="It is done.", in=100, out=20), 200(text="It still is.")`)
			run := func(prompt string, resume belay.Resume, dir string) *belay.Result {
				t.Helper()
				a := ask(prompt)
				a.Env, a.Dir, a.Path = env, dir, clitest.Find(t, profile.Find(name), "")
				a.Runner = belay.Runner{Resume: resume}
				res, err := a.Run(t.Context())
				must.OK(t, err)
				return res
			}
			dir := t.TempDir()
			res := run("-do it", belay.Resume{}, dir)
			if got := res.Output.String(); got != "It is done." || mainRequests(api) != 2 || res.Usage.InputTokens != 100 || res.Usage.OutputTokens != 20 {
				t.Errorf("%q after %d requests, %+v", got, mainRequests(api), res.Usage)
			}
			again := run("And now?", belay.Resume{Session: res.Session}, dir)
			if again.Output.String() != "It still is." || !again.Resumed || again.Session != res.Session {
				t.Errorf("%+v", again)
			}
		})
	}
}

func ExampleGemini() {
	gemini := belay.Gemini("Summarize the changes since the last tag.", "-m", "gemini-2.5-flash")
	gemini.Runner.Policy.MaxWait = 10 * time.Minute // of throttles; a daily quota is not waited for
	res, err := gemini.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Output, res.Usage.OutputTokens)
}

func ExampleOpenCode() {
	first, err := belay.OpenCode("Find the slowest test.", "-m", "openai/gpt-5").Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	next := belay.OpenCode("Make it faster.")
	next.Runner.Resume.Session = first.Session
	res, err := next.Run(context.Background())
	fmt.Println(res.Output, err)
}

func ExampleAgent_Run() {
	claude := belay.Claude("What does this repository do? One sentence.", "--model", "sonnet")
	claude.Runner.MaxCost = 0.50
	res, err := claude.Run(context.Background())
	failed, _ := errors.AsType[*belay.Error](err)
	switch {
	case err == nil:
		fmt.Println(res.Output)
	case failed != nil && !failed.RetryAt.IsZero():
		fmt.Println("come back at", failed.RetryAt)
	default:
		fmt.Println(err) // a wrong key, say, or no claude
	}
}

func ExampleAgent_Start() {
	claude := belay.Claude("Run the tests and mend what is broken.", "--permission-mode", "acceptEdits")
	claude.Dir = "service"
	inv, err := claude.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range inv.Events() {
		switch e := e.(type) {
		case belay.AgentEvent:
			fmt.Printf("%.80s\n", e.Line)
		case belay.Waiting:
			fmt.Println("retrying in", e.Wait, "because", e.Message)
		}
	}
	res, err := inv.Wait()
	fmt.Println(res.Session, res.Usage.OutputTokens, err)
}

// A request that another agent cannot be given is refused with what is wrong, before anything starts.
func TestAgent_FallbackRefused(t *testing.T) {
	a := belay.Claude("hi", "--disallowedTools", "Bash")
	a.Runner.Fallbacks = []belay.Fallback{{Agent: "codex"}}
	result, err := a.Run(t.Context())
	refused, ok := errors.AsType[*belay.FallbackRefused](err)
	if !ok || refused.Fallback != "codex" || !refused.Args || result.ExitCode != 2 || result.Attempts != 0 {
		t.Errorf("%v, %+v", err, result)
	}
	if !strings.Contains(refused.Why, "claude's --disallowedTools has no exact equivalent in codex") {
		t.Error(refused.Why)
	}
}

// All that a CLI reports of its usage is in the result and in the log, where credentials are taken out of it.
func TestAgent_UsageKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-ant-api03-" + "Zk3vQ9xT1mB7wY5nR2cJ8hL4pD6sF0gA"
	claude := scripted(t, begins+answers+event(`"type":"result","subtype":"success","is_error":false,"result":"It is done.","num_turns":1,"total_cost_usd":0.25,`+
		`"usage":{"input_tokens":100,"output_tokens":20,"service_tier":"standard","server_tool_use":{"web_search_requests":3},"owner":"`+key+`"}`))
	claude.Runner.State, claude.Runner.LogDir = &belay.State{Dir: t.TempDir()}, belay.NoLogDir
	res, err := claude.Run(t.Context())
	must.OK(t, err)
	result, _ := json.Marshal(res)
	log, err := os.ReadFile(res.Log)
	if err != nil || strings.Contains(string(log), key) {
		t.Errorf("%v, %s", err, log)
	}
	for _, want := range []string{`"service_tier":"standard"`, `"server_tool_use":{"web_search_requests":3}`, `"input_tokens":100`, `"total_cost_usd":0.25`} {
		if !strings.Contains(string(result), want) || !strings.Contains(string(log), want) {
			t.Errorf("%s is not in %s and %s", want, result, log)
		}
	}
}
