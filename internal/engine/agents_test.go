package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/companion/rehearse"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/verdict"
)

// rehearsal is a stand-in for the vendors' APIs, and the environment in which the real CLIs talk to it.
func rehearsal(t *testing.T, script string) (*rehearse.API, []string) {
	t.Helper()
	api, err := rehearse.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return api, append(os.Environ(), api.Environ()...)
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
	t.Parallel()
	api, env := rehearsal(t, `500, 200(text="It is done.", in=100, out=20)`)
	state, dir := t.TempDir(), t.TempDir()
	res, err := engine.Claude{Prompt: "/is this a command?", Env: env, Dir: dir, Path: clitest.Claude(t, ""),
		Runner: engine.Runner{StateDir: state, LogDir: state}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	again, err := engine.Claude{Prompt: "And now?", Env: env, Dir: dir, Path: clitest.Claude(t, ""),
		Runner: engine.Runner{StateDir: state, LogDir: state, Resume: engine.Resume{Session: res.Session}}}.Run(t.Context())
	if err != nil || !again.Resumed || again.Session != res.Session {
		t.Errorf("%v, session %q, resumed %v", err, again.Session, again.Resumed)
	}
	if u := again.Usage; u.InputTokens != 10 || u.CostUSD == nil || *u.CostUSD >= *res.Usage.CostUSD {
		t.Errorf("usage %+v", u)
	}

	_, err = engine.Claude{Prompt: "And now?", Env: env, Dir: dir, Path: clitest.Claude(t, ""),
		Runner: engine.Runner{StateDir: state, LogDir: state, Resume: engine.Resume{Session: "01234567-89ab-4def-8123-456789abcdef"}}}.Run(t.Context())
	var failed *engine.Error
	if !errors.As(err, &failed) || failed.Verdict.Class != verdict.SessionNotFound {
		t.Errorf("a session that nobody knows: %v", err)
	}
}

func TestClaude_Start(t *testing.T) {
	t.Parallel()
	_, env := rehearsal(t, `tool(bash: echo from-the-tool), 200(text="It is done.")`)
	state := t.TempDir()
	inv, err := engine.Claude{Prompt: "Do it.", Options: []string{"--allowedTools", "Bash"}, Env: env, Dir: t.TempDir(), Path: clitest.Claude(t, ""),
		Runner: engine.Runner{StateDir: state, LogDir: state}}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for line := range inv.Events() {
		var e struct{ Type string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		types = append(types, e.Type)
	}
	res, err := inv.Wait()
	if err != nil || res.Output.String() != "It is done." {
		t.Errorf("%q, %v", res.Output, err)
	}
	if all := strings.Join(types, " "); !strings.HasPrefix(all, "system ") || !strings.Contains(all, " user ") || !strings.HasSuffix(all, " result") {
		t.Errorf("events: %s", all)
	}
}

func TestCodex_Run(t *testing.T) {
	t.Parallel()
	api, env := rehearsal(t, `503x2, 200(text="It is done.", in=100, out=20)`)
	res, err := engine.Codex{Prompt: "-do it", Options: []string{"--skip-git-repo-check"}, Env: env, Dir: t.TempDir(), Path: clitest.Codex(t, ""),
		Runner: engine.Runner{StateDir: t.TempDir()}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Output.String(); got != "It is done." || mainRequests(api) != 3 {
		t.Errorf("%q after %d requests", got, mainRequests(api))
	}
	if u := res.Usage; u.InputTokens != 100 || u.OutputTokens != 20 || u.CostUSD != nil {
		t.Errorf("usage %+v", u)
	}
}

// Whoever cancels the context gets the whole tree ended, and an error that says so.
func TestCodex_Cancelled(t *testing.T) {
	t.Parallel()
	_, env := rehearsal(t, `hang`)
	ctx, cancel := context.WithCancel(t.Context())
	inv, err := engine.Codex{Prompt: "Do it.", Options: []string{"--skip-git-repo-check"}, Env: env, Dir: t.TempDir(), Path: clitest.Codex(t, ""),
		Runner: engine.Runner{StateDir: t.TempDir()}}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range inv.Events() { // it has begun
		break
	}
	cancel()
	res, err := inv.Wait()
	if !errors.Is(err, context.Canceled) || res.Verdict.Class != verdict.Interrupted || len(res.Left) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

func ExampleClaude_Run() {
	res, err := engine.Claude{
		Prompt:  "What does this repository do? One sentence.",
		Options: []string{"--model", "sonnet"},
		Runner:  engine.Runner{MaxCost: 0.50},
	}.Run(context.Background())
	var failed *engine.Error
	switch {
	case err == nil:
		fmt.Println(res.Output)
	case errors.As(err, &failed) && !failed.RetryAt.IsZero():
		fmt.Println("come back at", failed.RetryAt)
	default:
		fmt.Println(err) // a wrong key, say, or no claude
	}
}

func ExampleClaude_Start() {
	inv, err := engine.Claude{Prompt: "Run the tests and mend what is broken.", Dir: "service",
		Options: []string{"--permission-mode", "acceptEdits"}}.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for event := range inv.Events() {
		fmt.Printf("%s %.80s\n", time.Now().Format(time.TimeOnly), event)
	}
	res, err := inv.Wait()
	fmt.Println(res.Session, res.Usage.OutputTokens, err)
}
