package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// Commands that none of them is for start without reading one: every start would pay for it.
func TestShipped_ReadWhenUsed(t *testing.T) {
	before := config.ShippedRead()
	for _, command := range []string{"true", "claude", "/usr/bin/pip", "gh", "pi2"} {
		profile.OfCommand(command)
		profile.Find(command)
	}
	profile.All()
	profile.Names()
	if n := config.ShippedRead() - before; n != 0 {
		t.Errorf("%d profiles were read", n)
	}
}

// The profiles that come with the command are without a mistake, short, and judge what their CLIs really print.
func TestShipped_JudgeRealOutcomes(t *testing.T) {
	useText(t, "")
	script, err := os.ReadFile(filepath.Join("..", "..", "scripts", "setup-clis"))
	must.OK(t, err)
	if len(profile.Shipped()) == 0 {
		t.Error("there is none")
	}
	for _, name := range profile.Shipped() {
		t.Run(name, func(t *testing.T) {
			d, err := config.OwnProfile(name)
			if err != nil || d == nil || d.Check() != nil {
				t.Fatalf("%v, %v", d, err)
			}
			text, err := os.ReadFile(filepath.Join("profiles", name+".toml"))
			must.OK(t, err)
			if n := bytes.Count(text, []byte("\n")); n > 350 {
				t.Errorf("%d lines", n)
			}
			p, err := profile.Bind(name, []string{name}, []string{}, "")
			must.OK(t, err)
			agenttest.Outcomes(t, filepath.Join("testdata", "shipped", name+".jsonl"), 25, time.Date(2026, 11, 19, 5, 0, 0, 0, time.UTC), p)
			if name == "agy" { // it cannot be installed without an account
				return
			}
			if len(d.Tested) == 0 || !strings.Contains(string(script), name+"-"+d.Tested[0]+" ") {
				t.Errorf("scripts/setup-clis installs another version than %v", d.Tested)
			}
		})
	}
}

// What a CLI does not print, its record of the session tells: why its model has stopped, and what it has used.
func TestShipped_ReadTheirRecords(t *testing.T) {
	useText(t, "")
	text, err := os.ReadFile(filepath.Join("testdata", "shipped", "records.jsonl"))
	must.OK(t, err)
	list, err := outcome.Read(bytes.NewReader(text))
	must.OK(t, err)
	lines := bytes.Split(text, []byte("\n"))
	for i, saved := range list {
		t.Run(saved.ID, func(t *testing.T) {
			var more struct {
				Record string
				Expect struct {
					Session string `json:"session_id"`
				}
			}
			must.OK(t, json.Unmarshal(lines[i], &more))
			path := map[string]string{"kimi": "sessions/wd/{session}/agents/main/wire.jsonl", "copilot": "session-state/{session}/events.jsonl"}[saved.Profile]
			home := t.TempDir()
			path = filepath.Join(home, strings.ReplaceAll(path, "{session}", more.Expect.Session))
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.OK(t, os.WriteFile(path, []byte(more.Record), 0o600))
			args := []string{saved.Profile, "-p", "hi"}
			p, err := profile.Bind(saved.Profile, args, []string{"KIMI_CODE_HOME=" + home, "COPILOT_HOME=" + home}, "")
			must.OK(t, err)
			v := agent.Replay(p.(agent.Agent).Follow(agent.Plan{Args: args}).Reader, saved.Outcome(), time.Now())
			for _, d := range saved.Compare(v) {
				t.Errorf("%v (by %s: %q)", d, v.Rule, v.Evidence)
			}
		})
	}
}

// What a user's file declares for the same command, or under the same name, goes before the profile that comes with it: it did so before there was one.
func TestShipped_OwnGoesBefore(t *testing.T) {
	for text, want := range map[string]string{
		"[profile.mine]\ncommand = \"pi\"\nheadless = { always = true }\n": "mine",
		"[profile.pi]\ncommand = \"pi\"\nheadless = { always = true }\n":   "pi",
		"[profile.pi]\nstall_timeout = \"5m\"\n":                           "pi",
	} {
		useText(t, text)
		t.Setenv("PI_CODING_AGENT_DIR", t.TempDir())
		_, err := config.ReadUser()
		must.OK(t, err)
		d := profile.OfCommand("pi")
		if d == nil || d.Name != want {
			t.Fatalf("%q: %v", text, d)
		}
		own := strings.Contains(text, "command")
		if p := d.New([]string{"pi", "install", "x"}, []string{}, ""); p.Headless() != own {
			t.Errorf("%q: headless %v", text, p.Headless())
		}
	}
}

// A program that only has the name of such a CLI is left alone: it would fail with an argument that it does not know.
func TestShipped_AnotherProgram(t *testing.T) {
	useText(t, "")
	home := filepath.Join(t.TempDir(), "agent")
	t.Setenv("PI_CODING_AGENT_DIR", home)
	isKnown := func() bool {
		return slices.ContainsFunc(profile.Known(), func(d *agent.Descriptor) bool { return d.Name == "pi" })
	}
	if profile.OfCommand("pi") != nil || isKnown() {
		t.Error("known, though it has never been used here")
	}
	must.OK(t, os.Mkdir(home, 0o700))
	if profile.OfCommand("/usr/bin/pi") == nil || !isKnown() {
		t.Error("not known where it has its home")
	}
}

// What docs/profiles.md shows of them is what they say.
func TestShipped_ShownInDocs(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "profiles.md"))
	must.OK(t, err)
	var all bytes.Buffer
	files, err := filepath.Glob(filepath.Join("profiles", "*.toml"))
	must.OK(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		must.OK(t, err)
		all.Write(data)
	}
	_, shown, _ := strings.Cut(string(doc), "\n## What the seven show\n")
	shown, _, _ = strings.Cut(shown, "\n## ")
	examples := strings.Split(shown, "```toml\n")[1:]
	if len(examples) < 7 {
		t.Errorf("%d examples", len(examples))
	}
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		for part := range strings.SplitSeq(strings.TrimSpace(example), "\n\n") {
			if !bytes.Contains(all.Bytes(), []byte(part+"\n")) {
				t.Errorf("no profile has\n%s", part)
			}
		}
	}
}
