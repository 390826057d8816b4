//go:build linux

package upgrade_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

var makeHome = flag.Bool("make", false, "write testdata anew, with the executables of "+oldCommit[:7])

// TestMake writes testdata anew but for the clients' files before the install, which are ours. It needs the real CLIs and the
// history, and takes half a minute; the times are those of the machine.
func TestMake(t *testing.T) {
	if !*makeHome {
		t.Skip("only with -make")
	}
	m := newMaker(t)
	m.first()
	m.fold()
	m.second()
	for _, dir := range []string{"testdata/home", "testdata/answers", "testdata/clients/after"} {
		must.OK(t, os.RemoveAll(dir))
	}
	m.save()
	m.answers()
	m.install()
}

// maker is a stage on which the executables of oldCommit work, in bin.
type maker struct {
	*stage.Stage
	bin string
}

func newMaker(t *testing.T) *maker {
	t.Helper()
	m := &maker{stage.New(t, "200"), oldBin(t)}
	m.Leaves = true
	path := []string{m.bin, filepath.Dir(clitest.Claude(t, "")), filepath.Dir(clitest.Codex(t, "")), filepath.Dir(clitest.GH(t)), os.Getenv("PATH")}
	m.Env = []string{"PATH=" + strings.Join(path, ":"), "BELAY_FOLD=off"}
	return m
}

// command is `belay args` of the old version.
func (m *maker) command(args ...string) *exec.Cmd {
	cmd := m.Command("belay", args...)
	cmd.Path = filepath.Join(m.bin, "belay")
	return cmd
}

// belay runs it, and checks its exit code.
func (m *maker) belay(code int, args ...string) string {
	m.T.Helper()
	return m.with("", code, args...)
}

// with runs it with something on its stdin.
func (m *maker) with(stdin string, code int, args ...string) string {
	m.T.Helper()
	r := m.Start(m.command(args...), strings.NewReader(stdin)).Quietly()
	m.T.Logf("belay %q: exit code %d after %v\n%s%s", args, r.Code, r.Took.Round(time.Millisecond), r.Stdout, r.Stderr)
	if r.Code != code {
		m.T.Fatalf("exit code %d, want %d", r.Code, code)
	}
	return r.Stdout
}

// play runs a command against a stand-in that follows a script.
func (m *maker) play(script string, code int, args ...string) {
	m.T.Helper()
	m.Rehearse(script)
	m.belay(code, append([]string{"run"}, args...)...)
}

var (
	soon   = []string{"--base-delay", "0.05", "--max-delay", "0.1"}
	claude = []string{"--", "claude", "-p", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"}
	codex  = []string{"--", "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
)

// on is a command line with a prompt.
func on(cli []string, prompt string, flags ...string) []string {
	return slices.Concat(flags, cli, []string{prompt})
}

const config = `# The settings of the user whose home this is.
max_wait = "90s"

[alert]
command = ["true"]

[[rule]]
name  = "registry-busy"
match = "the registry is busy"
class = "overloaded"
`

// first is what has been folded into the database.
func (m *maker) first() {
	m.write("config/belay/config.toml", config)
	m.play("529, 200(in=130, out=16)", 0, on(claude, "say hi")...)
	m.play("429(retry-after=1), 200(in=140, out=17, cache-read=40)", 0, on(claude, "say hi")...)
	m.play("529x3, 200(in=150, out=18)", 0, on(claude, "say hi", append(soon, "--max-retries", "3")...)...)
	m.play(`401(message="invalid x-api-key")x*`, 78, on(claude, "say hi")...)
	m.play(`400(message="no")x*`, 1, on(codex, "say hi")...)
	m.play("200(in=120, out=15, text=noted)", 0, on(claude, "remember plum")...)
	m.play("200(in=200, out=20, text=noted)", 0, on(codex, "remember pear")...)
	m.play("502, 200", 0, append(slices.Clone(soon), "--", "gh", "api", "user")...)
	m.play("404x*", 1, "--", "gh", "api", "nothing")
	m.belay(0, "run", "--", "true")
	m.belay(3, "run", "--", "sh", "-c", "exit 3")
	m.belay(1, "run", "--max-retries", "2", "--base-delay", "0.05", "--", "sh", "-c", "exit 1")
	m.belay(127, "run", "--", "no-such-command")
	m.belay(124, "run", "--timeout", "0.3", "--", "sleep", "300")
	m.hook("guard")
	m.with(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n",
		0, "mcp", "--name", "files", "--", "sh", "-c", "echo broken >&2; exit 3")
	m.belay(0, "gates", "hold", "deploy", "--until", "2099-01-01T00:00:00Z", "--reason", "a freeze")
	m.belay(0, "gates", "hold", "mended", "--until", "1h")
	m.belay(0, "gates", "reset", "mended")
}

// fold has the log folded into the database, and alerts delivered.
func (m *maker) fold() {
	m.belay(0, "stats")
	m.belay(0, "alerts")
}

// second is what has not been folded.
func (m *maker) second() {
	m.play("200(in=300, out=30, text=again)", 0, on(claude, "go on", "--resume", "last")...)
	m.play(`tool(bash: "echo x", in=310, out=31), 200(in=320, out=32)`, 0, on(codex, "go on", "--resume", "last")...)
	m.play("429(retry-after=3600)x*", 75, on(claude, "say hi", "--max-wait", "1s")...)
	for range 5 {
		m.belay(9, "run", "--gate", "registry", "--max-retries", "0", "--", "sh", "-c", "echo the registry is busy >&2; exit 9")
	}
	m.hook("lint")
	m.belay(75, "run", "--gate", "deploy", "--max-wait", "1s", "--", "true")
	m.belay(0, "gates", "open", "payments", "--reason", "an audit")
	m.killed(on(claude, "remember quince"), on(codex, "remember medlar"), []string{"--", "sleep", "300"},
		[]string{"--max-retries", "1", "--base-delay", "60", "--jitter", "none", "--", "sh", "-c", "exit 1"})
}

// hook fails so often that there is an alert.
func (m *maker) hook(name string) {
	m.T.Helper()
	for range 5 {
		m.with(`{"hook_event_name":"PreToolUse","tool_name":"Bash","session_id":"s"}`, 0, "hook", "--name", name, "--", "sh", "-c", "echo no >&2; exit 1")
	}
}

// killed are runs whose belay is killed while the agents' second requests are under way; the last one waits. They are killed at the same time,
// because a run that begins takes the records of those before it away.
func (m *maker) killed(runs ...[]string) {
	m.T.Helper()
	m.Rehearse(`per-session: tool(bash: "echo x", in=1000, out=70), hang`)
	var all []*stage.Running
	for _, args := range runs {
		all = append(all, m.Start(m.command(append([]string{"run"}, args...)...), nil))
	}
	m.Eventually("they work", func() bool {
		now, _ := filepath.Glob(filepath.Join(m.State, "runs", "*"))
		waits := false
		for _, path := range now {
			data, _ := os.ReadFile(path)
			waits = waits || strings.Contains(string(data), `"state":"waiting"`)
		}
		return len(now) == len(runs) && m.Requests() == 4 && waits
	})
	time.Sleep(300 * time.Millisecond) // what was answered before has been taken note of
	for _, r := range all {
		r.Signal(syscall.SIGKILL)
	}
	for _, r := range all {
		r.Quietly()
	}
	for _, p := range m.Left() {
		p.Kill()
	}
	m.Mark.NobodyLeft(m.T, time.Minute)
}

// questions are those that the old version has answered, with all of its log folded.
var questions = map[string][]string{
	"log":      {"log", "--json", "-n", "0"},
	"attempts": {"log", "--json", "-n", "0", "--attempts"},
	"events":   {"events", "--json", "-n", "0"},
	"sessions": {"sessions", "--json", "-n", "0"},
	"alerts":   {"alerts", "--json", "-n", "0"},
	"audit":    {"audit", "--json", "-n", "0"},
	"day":      {"stats", "--json", "--by", "day"},
	"profile":  {"stats", "--json", "--by", "profile"},
	"model":    {"stats", "--json", "--by", "model"},
	"class":    {"stats", "--json", "--by", "class"},
	"config":   {"config", "show", "--json"},
}

// answers keeps what the old version says of it all.
func (m *maker) answers() {
	m.T.Helper()
	for name, args := range questions {
		text := strings.ReplaceAll(m.belay(0, args...), m.Dir, placeDir)
		must.OK(m.T, put(filepath.Join("testdata/answers", name+".jsonl"), []byte(text)))
	}
}

// install has the old version stand in front of the hooks and MCP servers of all clients, in all scopes.
func (m *maker) install() {
	m.T.Helper()
	c := newClients(m.T, "before")
	belay := filepath.Join(c.dir, "bin", "belay")
	if out, err := run("", "install", "-D", filepath.Join(m.bin, "belay"), belay); err != nil {
		m.T.Fatalf("%v\n%s", err, out)
	}
	for _, i := range installs {
		m.T.Logf("%v\n%s", i, c.belay(belay, i.kind, "install", "--client", i.client, "--scope", i.scope))
	}
	os.RemoveAll(filepath.Dir(belay))
	c.tree(c.dir, func(name, text string) {
		must.OK(m.T, put(filepath.Join("testdata/clients/after", stored(name)), []byte(strings.ReplaceAll(text, c.dir, placeDir))))
	})
}

func (m *maker) write(name, text string) {
	m.T.Helper()
	path := filepath.Join(m.Dir, name)
	must.OK(m.T, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(m.T, os.WriteFile(path, []byte(text), 0o600))
}
