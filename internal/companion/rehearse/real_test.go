package rehearse_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/companion/rehearse"
	"github.com/belay-run/belay/internal/profile"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// ran is the outcome of a run of a real CLI.
type ran struct {
	t              *testing.T
	dir            string
	code           int
	stdout, stderr string
	api            *rehearse.API
}

// run runs a real CLI against a script, in an empty directory, and shows all of it if the test fails.
func run(t *testing.T, script, cli string, args ...string) *ran {
	t.Helper()
	api, err := rehearse.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return runWith(t, api, cli, args...)
}

// runWith is run against stand-ins that are there already.
func runWith(t *testing.T, api *rehearse.API, cli string, args ...string) *ran {
	t.Helper()
	r := &ran{t: t, dir: t.TempDir(), api: api}
	cmd := exec.Command(cli, args...)
	cmd.Dir, cmd.Env = r.dir, append(append(os.Environ(), api.Environ()...), "PWD="+r.dir) // opencode believes it
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	late := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Run()
	r.code, r.stdout, r.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	t.Logf("exit %d\nstdout: %.3000s\nstderr: %.2000s", r.code, r.stdout, r.stderr)
	for _, q := range api.Requests() {
		t.Logf("%s %s %q: %d, %s, gap %v, took %v", q.Method, q.Path, q.Step, q.Status, q.End, q.Gap, q.Took)
	}
	return r
}

// exits checks the exit code and what stdout contains.
func (r *ran) exits(code int, contains ...string) {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, part := range contains {
		if !strings.Contains(r.stdout, part) {
			r.t.Errorf("stdout has no %q", part)
		}
	}
}

// asked checks the steps that answered, in order.
func (r *ran) asked(steps ...string) []rehearse.Request {
	r.t.Helper()
	main := r.api.Main()
	var got []string
	for _, q := range main {
		got = append(got, q.Step)
	}
	if strings.Join(got, " | ") != strings.Join(steps, " | ") {
		r.t.Errorf("the steps that answered are %q, want %q", got, steps)
	}
	return main
}

// wrote checks a file that a tool has made.
func (r *ran) wrote(name, want string) {
	r.t.Helper()
	if got, err := os.ReadFile(filepath.Join(r.dir, name)); err != nil || string(got) != want {
		r.t.Errorf("%s: %q, %v", name, got, err)
	}
}

// atLeast checks that a client has waited: never less than it was told.
func atLeast(t *testing.T, q rehearse.Request, d time.Duration) {
	t.Helper()
	if q.Gap < d-20*time.Millisecond {
		t.Errorf("it came back after %v, told to wait %v", q.Gap, d)
	}
}

func claude(t *testing.T, script string, args ...string) *ran {
	t.Helper()
	t.Parallel()
	return run(t, script, clitest.Claude(t, ""), append([]string{"-p", "hi there"}, args...)...)
}

func codex(t *testing.T, script string, args ...string) *ran {
	t.Helper()
	t.Parallel()
	return run(t, script, clitest.Codex(t, ""), append([]string{"exec", "--skip-git-repo-check", "hi there"}, args...)...)
}

func TestClaude_Text(t *testing.T) {
	r := claude(t, "200")
	r.exits(0)
	if r.stdout != rehearse.DefaultText+"\n" {
		t.Errorf("stdout is %q", r.stdout)
	}
	q := r.asked("200")[0]
	if q.LastMessage != "hi there" || !q.Stream || q.API != "anthropic" || q.Model == "" || q.Session == "" || q.End != rehearse.Whole {
		t.Errorf("%+v", q)
	}
	if q.Header.Get("X-Api-Key") != rehearse.Key {
		t.Errorf("the key is %q", q.Header.Get("X-Api-Key"))
	}
}

// claude reports the tokens that the script charges, and waits as it is told.
func TestClaude_ThrottledThenJSON(t *testing.T) {
	r := claude(t, `429(retry-after=1)x2, 200(text="hello \"you\"", in=100, out=7, cache-read=3)`, "--output-format", "json")
	r.exits(0)
	var result struct {
		Result string
		Usage  struct {
			In        int `json:"input_tokens"`
			Out       int `json:"output_tokens"`
			CacheRead int `json:"cache_read_input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		t.Fatal(err)
	}
	if u := result.Usage; result.Result != `hello "you"` || u.In != 100 || u.Out != 7 || u.CacheRead != 3 {
		t.Errorf("%+v", result)
	}
	main := r.asked("429(retry-after=1)", "429(retry-after=1)", `200(text="hello \"you\"", in=100, out=7, cache-read=3)`)
	for _, q := range main[1:] {
		atLeast(t, q, time.Second)
	}
	if main[2].Usage != (rehearse.Usage{Input: 100, Output: 7, CacheRead: 3}) || main[0].Usage != (rehearse.Usage{}) {
		t.Errorf("charged: %+v, %+v", main[0].Usage, main[2].Usage)
	}
}

func TestClaude_ToolIsRun(t *testing.T) {
	r := claude(t, `tool(bash: echo made > f; cat f), 200`, "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose")
	r.exits(0, `"type":"tool_use"`, rehearse.DefaultText)
	r.wrote("f", "made\n")
	if main := r.asked("tool(bash: echo made > f; cat f)", "200"); main[1].LastMessage != "made" {
		t.Errorf("the tool's result is %q", main[1].LastMessage)
	}
}

// Only a subscriber has usage limits; the script makes claude one.
func TestClaude_UsageLimit(t *testing.T) {
	r := claude(t, "usage-limit(resets=3h)", "--output-format", "stream-json", "--verbose")
	r.exits(1, `"rate_limit_event"`, `"resetsAt":`, `"rateLimitType":"five_hour"`, "hit your 5-hour limit")
	r.asked("usage-limit(resets=3h)")
}

func TestCodex_Text(t *testing.T) {
	r := codex(t, "200")
	r.exits(0)
	if r.stdout != rehearse.DefaultText+"\n" {
		t.Errorf("stdout is %q", r.stdout)
	}
	q := r.asked("200")[0]
	if q.LastMessage != "hi there" || !q.Stream || q.API != "openai" || q.Model == "" || q.Session == "" {
		t.Errorf("%+v", q)
	}
	if q.Header.Get("Authorization") != "Bearer "+rehearse.Key {
		t.Errorf("the key is %q", q.Header.Get("Authorization"))
	}
}

func TestCodex_ThrottledThenJSON(t *testing.T) {
	r := codex(t, `429(retry-after=1)x2, 200(in=100, out=7)`, "--json")
	r.exits(0, `"type":"turn.completed"`, `"input_tokens":100`, `"output_tokens":7`)
	for _, q := range r.asked("429(retry-after=1)", "429(retry-after=1)", "200(in=100, out=7)")[1:] {
		atLeast(t, q, time.Second)
	}
}

func TestCodex_ToolIsRun(t *testing.T) {
	r := codex(t, `tool(bash: echo made > f; cat f), 200`, "--json", "--dangerously-bypass-approvals-and-sandbox")
	r.exits(0, `"type":"command_execution"`, `"aggregated_output":"made\n"`, rehearse.DefaultText)
	r.wrote("f", "made\n")
}

func TestCodex_UsageLimit(t *testing.T) {
	r := codex(t, "usage-limit(resets=3h)", "--json")
	r.exits(1, "hit your usage limit", "try again at")
	r.asked("usage-limit(resets=3h)")
}

// codex has a code for each of these.
func TestCodex_FailedInside(t *testing.T) {
	r := codex(t, "error-mid(code=context_length_exceeded)", "--json")
	r.exits(1, "ran out of room in the model's context window")
	r.asked("error-mid(code=context_length_exceeded)")
}

func opencode(t *testing.T, script string, args ...string) *ran {
	t.Helper()
	t.Parallel()
	return run(t, script, clitest.Find(t, profile.Find("opencode"), ""), append([]string{"run", "hi there"}, args...)...)
}

// opencode runs the tool, waits as it is told, and reports the tokens that the script charges.
func TestOpencode_ToolThrottledThenJSON(t *testing.T) {
	if !clitest.Full() {
		t.Skip("only in make test-full: it takes seconds of CPU, and the suite of the agents has it")
	}
	r := opencode(t, `tool(bash: echo made > f; cat f), 429(retry-after=1), 200(in=100, out=7, cache-read=3)`, "--format", "json")
	r.exits(0, `"type":"tool_use"`, rehearse.DefaultText, `"input":100`, `"output":7`, `"read":3`)
	r.wrote("f", "made\n")
	main := r.asked("tool(bash: echo made > f; cat f)", "429(retry-after=1)", "200(in=100, out=7, cache-read=3)")
	atLeast(t, main[2], time.Second)
	if q := main[0]; q.API != "chat" || q.Model != "gpt-5" || q.Session == "" || !q.Stream || q.Header.Get("Authorization") != "Bearer "+rehearse.Key {
		t.Errorf("%+v", q)
	}
}

// Older versions talk to the stand-ins too, and side requests of theirs take no step.
func TestOlder(t *testing.T) {
	if !clitest.Full() {
		t.Skip("only in make test-full")
	}
	const script = "tool(bash: echo made > f; cat f), 200"
	check := func(r *ran) {
		r.exits(0, rehearse.DefaultText)
		r.wrote("f", "made\n")
		for _, q := range r.asked("tool(bash: echo made > f; cat f)", "200") {
			if q.Session == "" {
				t.Errorf("%s says no session", q.Path)
			}
		}
	}
	for _, version := range profile.Find("claude").Tested[1:] {
		t.Run("claude "+version, func(t *testing.T) {
			t.Parallel()
			check(run(t, script, clitest.Claude(t, version), "-p", "hi there", "--allowedTools", "Bash"))
		})
	}
	for _, version := range profile.Find("codex").Tested[1:] {
		t.Run("codex "+version, func(t *testing.T) {
			t.Parallel()
			check(run(t, script, clitest.Codex(t, version), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "hi there"))
		})
	}
}
