//go:build linux

package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	known "github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// declared is a CLI that has no folder here: what is known of it is data.
type declared struct {
	stage.CLI
	ask []string // arguments with which it may use tools
	env []string // of its own
	// asks is how often it asks a service that breaks off, and limited how often one that refuses it for a while.
	asks, limited int
	// settings are files below its home. What begins with a blank line goes to the end of what the rehearsal has there.
	settings map[string]string
}

// pinned is a CLI at the version that the scripts install.
func pinned(name, version string) stage.CLI {
	return stage.CLI{Descriptor: &known.Descriptor{Name: name, Tested: known.Tested{version}}, Versions: []string{version}}
}

// qwen asks a service that fails seven times, and after a 429 more often.
var qwen = declared{
	asks: 4, limited: 9,
	CLI: pinned("qwen", "0.24.4"),
	ask: []string{"-y", "-p", "say hi"},
	settings: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "gpt-5", "generationConfig": {"maxRetries": 0}},
		"memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false}}`},
}

var copilot = declared{
	asks: 6, limited: 6,
	CLI: pinned("copilot", "1.0.102"),
	ask: []string{"-p", "say hi", "--allow-all-tools"},
}

var pi = declared{
	asks: 4, limited: 4,
	CLI: pinned("pi", "0.87.1"),
	ask: []string{"-p", "say hi"},
	env: []string{"PI_OFFLINE=1"},
}

// grok would ask a service that fails nine times, in minutes.
var grok = declared{
	asks: 4, limited: 1,
	CLI: pinned("grok", "1.0.41"),
	ask: []string{"-p", "say hi", "--always-approve"},
	env: []string{`GROK_CONFIG={"models":{"max_retries":1}}`},
}

// kimi asks ten times, in more than two minutes.
var kimi = declared{
	asks: 1, limited: 1,
	CLI:      pinned("kimi", "2.1.0"),
	ask:      []string{"-p", "say hi"},
	settings: map[string]string{".kimi-code/config.toml": "\n[loop_control]\nmax_attempts_per_step = 1\n"},
}

// droid asks a service that fails five times, in up to two minutes, and after a 5xx ten times.
var droid = declared{
	asks: 5, limited: 5,
	CLI: pinned("droid", "0.225.2"),
	ask: []string{"exec", "--auto", "high", "say hi"},
}

// cline asks a service that fails six times, in about a minute. In a rehearsal it runs no hub: that would be the user's.
var cline = declared{
	asks: 6, limited: 6,
	CLI: pinned("cline", "3.0.65"),
	ask: []string{"say hi"},
}

// thorough are those of which each end is tried.
var thorough = []declared{qwen, copilot, pi, grok, kimi, droid, cline}

// new begins a rehearsal of it.
func (d declared) new(t *testing.T, script string) *stage.Stage {
	t.Helper()
	s := d.New(t, "", script)
	for name, content := range d.settings {
		path := filepath.Join(s.Dir, "api", "home", name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if strings.HasPrefix(content, "\n") {
			before, err := os.ReadFile(path)
			must.OK(t, err)
			content = string(before) + content
		}
		must.OK(t, os.WriteFile(path, []byte(content), 0o600))
	}
	s.Env = append(s.Env, d.env...)
	s.Longest = 10 * time.Minute // qwen asks for a minute and a half before it says what is wrong, and that twice
	return s
}

// A CLI waits for its service's limit, and is asked again.
func TestDeclared_Throttled(t *testing.T) {
	stage.InFull(t) // every day the profile judges what each has printed: TestShipped_JudgeRealOutcomes
	t.Parallel()
	for _, d := range thorough {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			s := d.new(t, strings.Repeat("429(retry-after=1,message=Rate limit reached for requests. Please try again in 1s.), ", d.limited)+"200")
			r := s.Belay([]string{"--max-retries", "9"}, d.ask)
			r.Exits(0)
			r.Is("", 2)
			if r.Stdout != answer {
				t.Errorf("%q\n%s", r.Stdout, r.Stderr)
			}
			if entries := s.Log(); len(entries) != 2 || entries[0].ErrorType != "rate_limit" {
				t.Errorf("%+v", entries)
			}
		})
	}
}

// What is piped into a CLI that reads it reaches the model, with the prompt or as the prompt.
func TestDeclared_Stdin(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for _, d := range thorough {
		if d.Name == "kimi" || d.Name == "grok" {
			continue // which do not read it
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			s := d.new(t, "200")
			args := d.ask
			if d.Name == "copilot" || d.Name == "droid" { // which read it in the place of a prompt
				args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-p" || a == "say hi" })
			}
			const text = "the words of the pipe"
			r := s.StartBelay(nil, args, strings.NewReader(text)).Wait()
			r.Exits(0)
			if main := s.API.Main(); len(main) == 0 || !strings.Contains(string(main[0].Body), text) {
				t.Errorf("%d requests without it\n%s", len(main), r.Stderr)
			}
		})
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
			s := d.new(t, "tool(bash: echo hello >> f)"+strings.Repeat(", drop-mid", d.asks)+", 200")
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
				if r.Exits(want.code); r.Result == nil {
					return // it was killed
				}
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
				if r.Exits(want.code); r.Result == nil {
					return
				}
				if said := r.Stdout != "" && want.class != "network"; r.Result.ErrorType != want.class || said { // what came before a cut may be printed
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
			s := d.new(t, "tool(bash: touch begun; sleep 1000), hang x*")
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
