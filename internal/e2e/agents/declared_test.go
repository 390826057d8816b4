//go:build linux

package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	known "github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// declared is a CLI that has no folder here: what is known of it is in the file that users copy.
type declared struct {
	stage.CLI
	ask []string // arguments with which it may use tools
	// shell is a step of a script that has it run a command.
	shell func(command string) string
	// env is what it wants in its environment; settings is a file of its own, below its home.
	env      func(url string) []string
	settings map[string]string
	// shipped says that the profile comes with the command.
	shipped bool
}

// pinned is a CLI at the version that the scripts install.
func pinned(name, version string) stage.CLI {
	return stage.CLI{Descriptor: &known.Descriptor{Name: name, Tested: known.Tested{version}}, Versions: []string{version}}
}

// qwen asks a service that fails seven times, and after a 429 more often.
var qwen = declared{
	CLI:     pinned("qwen", "0.24.4"),
	shipped: true,
	ask:     []string{"-y", "-p", "say hi"},
	shell: func(command string) string {
		return `tool(run_shell_command: {"command":"` + command + `","description":"x","is_background":false})`
	},
	env: func(string) []string { return nil },
	settings: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "gpt-5", "generationConfig": {"maxRetries": 0}},
		"memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false}}`},
}

var copilot = declared{
	CLI:     pinned("copilot", "1.0.102"),
	shipped: true,
	ask:     []string{"-p", "say hi", "--allow-all-tools"},
	shell:   func(command string) string { return "tool(bash: " + command + ")" },
	env:     func(string) []string { return nil },
}

// pi has a profile that comes with the command.
var pi = declared{
	CLI:     pinned("pi", "0.87.1"),
	shipped: true,
	ask:     []string{"-p", "say hi"},
	shell:   func(command string) string { return "tool(bash: " + command + ")" },
	env:     func(string) []string { return []string{"PI_OFFLINE=1"} },
}

// grok has one as well. It would ask a service that fails nine times, in minutes.
var grok = declared{
	CLI:     pinned("grok", "1.0.41"),
	shipped: true,
	ask:     []string{"-p", "say hi", "--always-approve"},
	shell: func(command string) string {
		return `tool(run_terminal_command: {"command":"` + command + `","description":"x"})`
	},
	env: func(string) []string { return []string{`GROK_CONFIG={"models":{"max_retries":1}}`} },
}

// kimi has one as well.
var kimi = declared{
	CLI:     pinned("kimi", "2.1.0"),
	shipped: true,
	ask:     []string{"-p", "say hi"},
	shell: func(command string) string {
		return `tool(Bash: {"command":"` + command + `","description":"x"})`
	},
	env: func(string) []string { return nil },
}

// droid asks a service that fails five times, in up to two minutes, and after a 5xx ten times.
var droid = declared{
	CLI:     pinned("droid", "0.225.2"),
	shipped: true,
	ask:     []string{"exec", "--auto", "high", "say hi"},
	shell: func(command string) string {
		return `tool(Execute: {"command":"` + command + `","riskLevel":"low","riskLevelReason":"x","summary":"x"})`
	},
	env: func(string) []string { return nil },
}

// cline asks a service that fails six times, in about a minute. In a rehearsal it runs no hub: that would be the user's.
var cline = declared{
	CLI:     pinned("cline", "3.0.65"),
	shipped: true,
	ask:     []string{"say hi"},
	shell:   func(command string) string { return `tool(run_commands: {"commands":["` + command + `"]})` },
	env:     func(string) []string { return nil },
}

// thorough are those of which each end is tried.
var thorough = []declared{qwen, copilot, pi, grok, kimi, droid, cline}

// new begins a rehearsal in which the user's file declares the CLI.
func (d declared) new(t *testing.T, script string) *stage.Stage {
	t.Helper()
	s := d.New(t, "", script)
	files := map[string]string{}
	if !d.shipped {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "profiles", d.Name+".toml"))
		must.OK(t, err)
		files[filepath.Join(s.Dir, "config", "belay", "config.toml")] = string(text)
	}
	for name, content := range d.settings {
		files[filepath.Join(s.Dir, "api", "home", name)] = content
	}
	for path, content := range files {
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(content), 0o600))
	}
	s.Env = append(s.Env, d.env(s.API.URL())...)
	return s
}

// A CLI that a file declares waits for its service's limit, and is asked again.
func TestDeclared_Throttled(t *testing.T) {
	t.Parallel()
	stage.InFull(t) // every day the profile judges what qwen has printed: TestShipped_JudgeRealOutcomes
	s := qwen.new(t, "error-mid(code=429,message=Rate limit reached for requests. Please try again in 1s.), 200")
	r := s.Belay(nil, qwen.ask)
	r.Exits(0)
	r.Is("", 2)
	if r.Stdout != answer {
		t.Errorf("%q\n%s", r.Stdout, r.Stderr)
	}
	if entries := s.Log(); len(entries) != 2 || entries[0].ErrorType != "rate_limit" || entries[1].Usage == nil {
		t.Errorf("%+v", entries)
	}
}

// After a tool has run, the session goes on: the tool does not run again.
func TestDeclared_ResumesAfterACut(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for _, d := range thorough {
		if d.Name == "cline" || d.Name == "kimi" {
			continue // a run that fails does not name its session
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			cuts := map[string]int{"qwen": 4, "copilot": 6, "pi": 4, "grok": 4, "droid": 5}[d.Name] // so often each asks by itself, which counts if it says so
			s := d.new(t, d.shell("echo hello >> f")+strings.Repeat(", drop-mid", cuts)+", 200")
			r := s.Belay(append([]string{"--max-retries", "9"}, soon...), d.ask)
			r.Exits(0)
			r.Is("", 2)
			if !r.Result.Resumed || r.Stdout != answer {
				t.Errorf("resumed %v, %q\n%s", r.Result.Resumed, r.Stdout, r.Stderr)
			}
			s.Wrote("f", "hello\n")
		})
	}
}

// Failures end as those of other agents do.
func TestDeclared_Failures(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for _, d := range thorough {
		for script, want := range map[string]struct {
			code  int
			class string
		}{"401x*": {78, "auth"}, "404x*": {1, "not_found"}, "refuse": {75, "network"}} {
			t.Run(d.Name+"/"+want.class, func(t *testing.T) {
				t.Parallel()
				s := d.new(t, script)
				r := s.Belay(append([]string{"--max-retries", "1"}, soon...), d.ask)
				r.Exits(want.code)
				if r.Result.ErrorType != want.class || r.Stdout != "" {
					t.Errorf("%s, %q\n%s", r.Result.ErrorType, r.Stdout, r.Stderr)
				}
			})
		}
	}
}

// A plan that is used up, a service that is overloaded, one that breaks off and one that says nothing end as with other agents.
func TestDeclared_Ends(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	resets := time.Now().Add(3 * time.Hour).UTC().Format("2006-01-02 15:04:05 UTC")
	for _, d := range thorough {
		for script, want := range map[string]struct {
			code  int
			class string
			flags []string
		}{
			"429(body=`" + `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at ` + resets + `"}}` + "`)x*": {75, "usage_limit", []string{"--max-wait", "1m"}},
			"overloadedx*": {1, "overloaded", []string{"--max-retries", "0"}},
			"drop-midx*":   {1, "network", []string{"--max-retries", "0"}},
			"hangx*":       {124, "stalled", []string{"--max-retries", "0", "--stall-timeout", "20s"}},
		} {
			t.Run(d.Name+"/"+want.class, func(t *testing.T) {
				t.Parallel()
				if d.Name == "droid" && want.class == "overloaded" {
					script = "overloaded-midx*" // it asks ten times after a 5xx, in four minutes
				}
				s := d.new(t, script)
				r := s.Belay(append(want.flags, soon...), d.ask)
				r.Exits(want.code)
				if r.Result.ErrorType != want.class || r.Stdout != "" {
					t.Errorf("%s, %q\n%s", r.Result.ErrorType, r.Stdout, r.Stderr)
				}
				s.NobodyLeft()
			})
		}
	}
}

// A tool is stopped with the CLI, and what it has started.
func TestDeclared_StopWhileAToolRuns(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for _, d := range thorough {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			s := d.new(t, d.shell("touch begun; sleep 1000")+", hang x*")
			run := s.StartBelay(nil, d.ask, nil)
			s.Eventually("the tool runs", func() bool { return s.Has("begun") })
			run.Signal(syscall.SIGTERM)
			r := run.Wait()
			r.Exits(128 + int(syscall.SIGTERM))
			r.Is("interrupted", 1)
			s.NobodyLeft()
		})
	}
}
