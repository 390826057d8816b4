//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

// buildCompanion makes belayd, and ask: the same under the name by which it is a small client.
func buildCompanion(dir string) error {
	companion := built.Companion
	companion.Race = os.Getenv("BELAY_TEST_FULL") != ""
	return errors.Join(built.Into(dir, companion), os.Link(filepath.Join(dir, "belayd"), filepath.Join(dir, "ask")))
}

// The demo needs nothing but belay and belayd, and waits less than half a minute in all.
func TestDemo_NothingInstalled(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	bin := filepath.Join(r.dir, "bin")
	must.OK(t, os.Mkdir(bin, 0o700))
	for _, name := range []string{"belay", "belayd"} {
		must.OK(t, os.Symlink(filepath.Join(binDir, name), filepath.Join(bin, name)))
	}
	cmd := r.command("belay", "demo")
	cmd.Env = append(cmd.Env, "PATH="+bin, "BELAY_MAX_RETRIES=0", "BELAY_NO_WAIT=true")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || strings.Contains(text, "\x1b") {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, part := range []string{"hit a rate limit; retrying in 2", "as requested (retry 1 of 3)", "Forty-two.",
		"gate api is blocked until", "Yes, I am back.", "Still here.", "all gates are healthy", "state/demo/log.jsonl", "Times are short"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if !regexp.MustCompile(`(?m)^api +open +\S+ +\S+ +1 +server_error of ask`).MatchString(text) {
		t.Errorf("the gate was not seen open\n%s", text)
	}
	log, err := os.ReadFile(filepath.Join(r.dir, "state", "demo", "log.jsonl"))
	if err != nil || strings.Count(string(log), "\n") != 7 {
		t.Errorf("%v\n%s", err, log)
	}
	var waits time.Duration
	for e := range journal.Read(bytes.NewReader(log), nil) {
		waits += time.Duration(e.WaitTime * float64(time.Second))
	}
	if waits < 2*time.Second || waits > 20*time.Second {
		t.Errorf("it waits %v in all", waits)
	}
	if left, _ := os.ReadDir(filepath.Join(r.dir, ".tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "state", "log.jsonl")); err == nil {
		t.Error("the demo is in the user's own log")
	}
}

// The pictures of the README and of docs show real runs, light and dark the same one, and name no machine.
func TestDemo_Pictures(t *testing.T) {
	host, _ := os.Hostname()
	for name, parts := range map[string][]string{
		"limit":    {"$ belay run --name review -- claude", "claude hit its usage limit", "The commit only renames a test.", "$ belay log"},
		"rehearse": {"$ belay rehearse", "This is a rehearsal.", "/v1/messages"},
	} {
		var shown []string
		for _, theme := range []string{"light", "dark"} {
			path := "docs/" + name + "-" + theme + ".svg"
			data, err := os.ReadFile("../../" + path)
			must.OK(t, err)
			_, text, _ := strings.Cut(string(data), "<text")
			shown = append(shown, text)
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s has no %q; run: make picture", path, part)
				}
			}
			for _, part := range []string{"/tmp", "/home/", "/root", "127.0.0.1", "localhost", " " + host} {
				if part != " " && strings.Contains(text, part) {
					t.Errorf("%s has %q", path, part)
				}
			}
		}
		if shown[0] != shown[1] {
			t.Errorf("the pictures of %s show different runs; run: make picture", name)
		}
	}
}

// A rehearsal that is stopped stops what it runs, cleans up, and still reports.
func TestRehearse_Stopped(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		r := newRun(t, int(sig))
		r.start("belay", "rehearse", "--script", "hang", "--", "sh", "-c", "echo ready; ask hi & wait; wait")
		r.line("ready")
		eventually(t, "it asks", func() bool {
			return slices.ContainsFunc(inside(r.dir), func(p proc) bool { return strings.HasSuffix(p.args, "ask hi") })
		})
		r.cmd.Process.Signal(sig)
		r.ends(128 + int(sig))
		r.noneLeft("belay has ended")
		if !strings.Contains(r.said(), "belay: rehearsed hang") {
			t.Errorf("no report:\n%s", r.said())
		}
		if left, _ := os.ReadDir(filepath.Join(r.dir, ".tmp")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// The real claude, through belay run, on a rehearsal: as the README shows it.
func TestRehearse_Claude(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	cmd := r.command("belay", "rehearse", "--script", "429(retry-after=1)x2, 200", "--json", "--", clitest.Claude(t, ""), "-p", "hi")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var report struct {
		Requests []struct {
			Step  string
			GapMS int `json:"gap_ms"`
			Main  bool
		}
		Charged struct {
			Input int `json:"input_tokens"`
		}
		Result struct {
			Success  bool
			Attempts int
			Log      string
		}
		ExitCode int `json:"exit_code"`
	}
	if jerr := json.Unmarshal(out, &report); err != nil || jerr != nil {
		t.Fatalf("%v, %v\n%s", err, jerr, out)
	}
	var steps []string
	for _, q := range report.Requests {
		if q.Main {
			steps = append(steps, q.Step)
		}
	}
	if got := strings.Join(steps, ", "); got != "429(retry-after=1), 429(retry-after=1), 200" || report.Charged.Input != 10 ||
		!report.Result.Success || report.ExitCode != 0 {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "state")); err == nil {
		t.Error("a rehearsal has written to the user's state directory")
	}
	entries, _ := os.ReadDir(filepath.Join(r.dir, "home"))
	if len(entries) > 0 {
		t.Errorf("a rehearsal has written to the user's home: %v", entries)
	}
}
