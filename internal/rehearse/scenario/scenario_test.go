package scenario_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/test/must"
)

// write makes the files of a test, and returns the path of the first.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(files[i+1]), 0o700))
	}
	return filepath.Join(dir, files[0])
}

// run tries all scenarios of a file.
func run(t *testing.T, path string) scenario.Report {
	t.Helper()
	list, err := scenario.Read(false, path)
	must.OK(t, err)
	return scenario.Run(t.Context(), "/nonexistent/belay", list, 4, func(scenario.Outcome) {})
}

// ran ends a test whose scenario could not be tried.
func ran(t *testing.T, o scenario.Outcome) {
	t.Helper()
	if o.Error != nil {
		t.Fatal(*o.Error)
	}
}

// post is a client that posts once more whenever there is no good answer.
const post = `#!/bin/sh
for n in 1 2 3; do
  curl -sf -X POST -H 'content-type: application/json' -d '{"model":"claude-opus-4-5","messages":[{"role":"user","content":"'"${SAY:-hi}"'"}],"max_tokens":9,"tools":[{"name":"x","input_schema":{}}]}' "$ANTHROPIC_BASE_URL/v1/messages" && exit 0
done
exit 9
`

func TestRun_Expectations(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // beginnings of the failures
	}{
		{"passes", `script = "429(retry-after=1), 200(text=done)"
[expect]
exit = 0
requests = "exactly 2"
time = "at most 1m"
stdout = "contains done"
running = 0`, nil},
		{"fails", `script = "500x*"
[expect]
exit = 0
requests = "at most 2"
gap = "at least 1s"
stdout = "matches ^ok"`, []string{"exit: expected 0, got 9", "requests: expected at most 2, got 3", "gap: expected at least 1s, got", `stdout: expected "matches ^ok", got ""`}},
		{"effects", `script = "lost x*"
[expect.effects]
"POST /v1/messages" = "at most 1"`, []string{"effects POST /v1/messages: expected at most 1, got 3"}},
		{"tokens", `script = "200(in=100,out=20)"
[expect]
tokens = 120
cost = "at least 0.0001"`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "x.toml", "command = [\"./post\"]\ncopy = [\"post\"]\n"+test.text, "post", post)
			o := run(t, path)[0]
			ran(t, o)
			if len(o.Failures) != len(test.want) {
				t.Fatalf("failures: %v; stderr %s", o.Failures, o.Seen.Stderr)
			}
			for i, want := range test.want {
				if got := o.Failures[i].String(); !strings.HasPrefix(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// Each program has a directory of its own, with what the scenario says, and a repository where that is asked for.
func TestRun_Fixtures(t *testing.T) {
	path := write(t, "x.toml", `shell = "git log --format=%s; cat a/b.txt shared/c; echo new > made; cat"
stdin = "read"
git = true
copy = ["shared"]
files = { "a/b.txt" = "one\n" }
[expect]
stdout = "Start\none\ntwo\nread"
files = { made = "new", "a/b.txt" = "contains one" }`, "shared/c", "two\n")
	if o := run(t, path)[0]; !o.Passed {
		t.Errorf("%v %v %+v", o.Why(), o.Failures, o.Seen)
	}
}

// What a program leaves running is seen, and ended.
func TestRun_LeftRunning(t *testing.T) {
	t.Run("InASessionOfItsOwn", func(t *testing.T) {
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Skip("SKIPPED: needs setsid")
		}
		path := write(t, "x.toml", "shell = \"(setsid sleep 300 >/dev/null 2>&1 &); sleep 0.3\"\n[expect]\nrunning = 0")
		if o := run(t, path)[0]; len(o.Failures) != 1 || !strings.HasPrefix(o.Failures[0].Got, "1: ") {
			t.Errorf("%v", o.Failures)
		}
	})
	path := write(t, "x.toml", "shell = \"sleep 300 >/dev/null 2>&1 & echo $!; sleep 0.3\"\n[expect]\nrunning = 0")
	o := run(t, path)[0]
	if len(o.Failures) != 1 || !strings.Contains(o.Failures[0].Got, "sleep") {
		t.Fatalf("%v %v", o.Why(), o.Failures)
	}
	pid := strings.TrimSpace(o.Seen.Stdout)
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err == nil && !strings.Contains(string(status), "\nState:\tZ") { // it has ended, and its new parent has not asked yet
		t.Errorf("process %s is still running:\n%s", pid, status)
	}
}

// A program that does not come to its end has failed, whatever is expected of it.
func TestRun_TimeOut(t *testing.T) {
	t.Run("ExitIsNotAsked", func(t *testing.T) {
		path := write(t, "x.toml", "shell = \"sleep 300\"\ntimeout = \"300ms\"\n[expect]\nrequests = 0")
		if o := run(t, path)[0]; len(o.Failures) != 1 || o.Failures[0].What != "timeout" {
			t.Errorf("%v", o.Failures)
		}
	})
	path := write(t, "x.toml", "shell = \"sleep 300\"\ntimeout = \"300ms\"\n[expect]\nexit = 0")
	if o := run(t, path)[0]; len(o.Failures) != 1 || !strings.Contains(o.Failures[0].Got, "it was ended after") {
		t.Errorf("%v %v", o.Why(), o.Failures)
	}
}

func TestRead_Variations(t *testing.T) {
	path := write(t, "x.toml", `extends = "_base.toml"
[vary.day]
good = {}
bad = { script = "500", expect = { exit = 1 } }
[vary.program]
a = { shell = "exit 0" }
b = { shell = "exit 1", name = "unused" }`, "_base.toml", "name = \"base\"\nshell = \"true\"\n[expect]\nexit = 0\nrequests = 0\n[env]\nA = \"1\"")
	list, err := scenario.Read(false, path)
	must.OK(t, err)
	var names []string
	for _, s := range list {
		names = append(names, s.Name+": "+s.Shell+", "+s.Script+", "+s.Expect.Exit.String()+", "+s.Expect.Requests.String()+s.Env["A"])
	}
	want := "x, day bad, program a: exit 0, 500, 1, 01|x, day bad, program b: exit 1, 500, 1, 01|x, day good, program a: exit 0, , 0, 01|x, day good, program b: exit 1, , 0, 01"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A mistake is named with its file and line, and nothing is started.
func TestRead_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"shel = \"x\"": "x.toml:1: unknown key shel",
		"shell = \"x\"\n[expect]\nrequests = \"at mots 3\"":     "x.toml:3: ",
		"shell = \"x\"\n[expect]\nstdout = \"matches (\"":       "x.toml:3: missing closing )",
		"shell = \"x\"\n[expect]\nexit = true":                  "x.toml:3: ",
		"shell = \"x\"\ntimeout = \"soon\"\n[expect]\nexit = 0": "x.toml:2: ",
		"shell = \"x\"\n":    "x.toml: nothing is expected",
		"[expect]\nexit = 0": "x.toml: there is no program to test",
		"shell = \"x\"\nscript = \"200, nonsense\"\n[expect]\nexit=0":  "x.toml:2: script: ",
		"shell = \"x\"\nfiles = { \"../a\" = \"\" }\n[expect]\nexit=0": "x.toml:2: files: ",
		"shell = \"x\"\ncopy = [\"/etc/passwd\"]\n[expect]\nexit=0":    "x.toml:2: copy: ",
		"extends = \"x.toml\"\n": "x.toml: extends: ",
		"shell = \"x\"\n[expect]\nexit=0\n[vary.a]\nb = { vary = { c = { d = {} } } }": "x.toml: vary.a.b: ",
		"shell = \"x\"\n[expect]\nexit=0\n[vary.a]":                                    "x.toml: vary.a: ",
		"shell = \"x\"\n[expect]\nfiles = { \"../a\" = \"\" }":                         "x.toml: files: ",
		"shell = [": "x.toml:1: ",
	} {
		_, err := scenario.Read(false, write(t, "x.toml", text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// Many side by side do not see each other's requests, and nothing of them stays: no process, no port, no home.
func TestRun_SideBySide(t *testing.T) {
	n := 24
	if clitest.Full() {
		n = 200
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	// Each asks for a text of its own, and leaves a process behind.
	text := "command = [\"sh\", \"-c\", \"echo $ANTHROPIC_BASE_URL; (setsid sleep 300 >/dev/null 2>&1 &); exec ./post\"]\ncopy = [\"post\"]\nscript = \"429, 200\"\n[expect]\nrequests = 2\nexit = 0\n[vary.number]\n"
	for i := range n {
		text += fmt.Sprintf("%d = { env = { SAY = \"number %[1]d of %d\" } }\n", i, n)
	}
	list, err := scenario.Read(false, write(t, "x.toml", text, "post", post))
	must.OK(t, err)
	report := scenario.Run(t.Context(), "", list, 8, func(scenario.Outcome) {})
	if report.Failed() > 0 {
		t.Errorf("%d of %d failed: %v", report.Failed(), n, report[0].Failures)
	}
	for _, o := range report {
		if !o.Passed {
			t.Error(o.Why(), o.Seen)
		}
		ran(t, o)
		for _, r := range o.Seen.Requests {
			if r.LastMessage != o.Scenario.Env["SAY"] {
				t.Errorf("%s got a request of another one: %q", o.Name, r.LastMessage)
			}
		}
		address, _, _ := strings.Cut(strings.TrimPrefix(o.Seen.Stdout, "http://"), "\n")
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			t.Errorf("%s: %s still listens", o.Name, address)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("%d homes are left, %v", len(left), err)
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range processes {
		if env, _ := os.ReadFile(name); bytes.Contains(env, []byte("TMPDIR="+tmp)) {
			t.Errorf("%s is left", filepath.Dir(name))
		}
	}
	var junit bytes.Buffer
	must.OK(t, report.WriteJUnit(&junit, time.Second))
	must.OK(t, xml.Unmarshal(junit.Bytes(), new(struct{})))
}

func TestRun_Cancelled(t *testing.T) {
	path := write(t, "x.toml", "shell = \"sleep 300\"\n[expect]\nexit = 0")
	list, err := scenario.Read(false, path)
	must.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := list[0].Run(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The examples do as they say, with the real CLIs: what goes through belay passes, and the loop that pays and posts twice is found out.
func TestExamples(t *testing.T) {
	const dir = "../../../examples/scenarios"
	failures := map[string][]string{"naive/report-loop.toml": {"tokens: expected at most 2500, got 5000", "issues acme/shop: expected 1, got 2"}}
	bin := t.TempDir()
	must.OK(t, built.Into(bin, built.Belay))
	for _, d := range []*agent.Descriptor{&claude.Descriptor, &codex.Descriptor} {
		must.OK(t, os.Symlink(clitest.Find(t, d, clitest.Versions(d)[0]), filepath.Join(bin, d.Name)))
	}
	must.OK(t, os.Symlink(clitest.GH(t), filepath.Join(bin, "gh")))
	for _, kv := range append(slices.Clone(clitest.Lean), "PATH="+bin+":"+os.Getenv("PATH"), "SDK="+clitest.SDK(t), "CLAUDE="+filepath.Join(bin, "claude")) {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	all, err := scenario.Read(false, dir)
	must.OK(t, err)
	files := map[string][]*scenario.Scenario{}
	for _, s := range all {
		files[s.File] = append(files[s.File], s)
	}
	for path, list := range files {
		name, _ := filepath.Rel(dir, path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !clitest.Full() {
				list = list[:1]
			}
			for _, o := range scenario.Run(t.Context(), filepath.Join(bin, "belay"), list, 2, func(scenario.Outcome) {}) {
				ran(t, o)
				var got []string
				for _, f := range o.Failures {
					got = append(got, f.String())
				}
				if !slices.Equal(got, failures[filepath.ToSlash(name)]) {
					t.Errorf("%s: %q, want %q\n%s", o.Name, got, failures[name], o.Seen.Stderr)
				}
			}
		})
	}
}

// A client may give up at a limit that lasts for hours, and not at an error that passes.
func TestSeen_Advice(t *testing.T) {
	for step, advised := range map[string]bool{"529": true, "429(retry-after=1)": true, "usage-limit(resets=3h)": false} {
		seen := scenario.Seen{Exit: 75, Requests: []rehearse.Request{{API: "anthropic", Method: "POST", Step: step, Status: 529}}}
		if advice := seen.Advice(); strings.Contains(advice, "tries again") != advised {
			t.Errorf("%s: %q", step, advice)
		}
	}
}
