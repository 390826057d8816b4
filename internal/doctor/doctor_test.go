package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func TestDoctor_Standing(t *testing.T) {
	c := cli{&agent.Descriptor{Tested: agent.Tested{"2.1.325", "2.0.77"}}}
	for version, want := range map[string]string{"2.1.325": "tested", "2.0.77": "tested", "2.1.400": "not tested: newer", "2.2.0": "not tested: newer",
		"10.0.0": "not tested: newer", "2.0.9": "not tested: older", "2.1.9": "between 2.0.77 and 2.1.325", "": ""} {
		if got := c.testedText(version); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q", version, got)
		}
	}
}

// nothing stands for the checks that belay and belayd make.
func nothing() []Finding { return nil }

// healthy sets up a machine on which doctor finds nothing wrong.
func healthy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	must.OK(t, os.Mkdir(dir, 0o700))
	home := t.TempDir()
	for name, value := range map[string]string{state.DirVar: dir, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "HOME": home, "PATH": home,
		"GH_TOKEN": "", "GITHUB_TOKEN": "", "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "CODEX_API_KEY": "", "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""} {
		t.Setenv(name, value)
	}
	t.Chdir(home)
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), mode))
	must.OK(t, os.Chmod(path, mode))
}

func TestDoctor_Findings(t *testing.T) {
	tests := map[string]struct {
		spoil            func(t *testing.T, dir string)
		check, text, fix string
	}{
		"others may read":  {func(t *testing.T, dir string) { os.Chmod(dir, 0o755) }, "state", "other users can read", "chmod 700 "},
		"others may write": {func(t *testing.T, dir string) { os.Chmod(dir, 0o777) }, "state", "others may write to", "chmod go-w "},
		"a readable log": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "log.jsonl"), "", 0o644) }, "state", "other users can read",
			"chmod 600 "},
		"a mistake in the settings": {func(t *testing.T, dir string) {
			write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "belay", "config.toml"), "max_retrys = 1", 0o600)
		}, "settings", "did you mean max_retries?", "${EDITOR:-vi} +1 /"},
		"a mistake in the environment": {func(t *testing.T, dir string) { t.Setenv("BELAY_TIMEOUT", "soon") }, "settings", "BELAY_TIMEOUT",
			"unset BELAY_TIMEOUT"},
		"no home": {func(t *testing.T, dir string) {
			for _, name := range []string{state.DirVar, "XDG_STATE_HOME", "HOME"} {
				t.Setenv(name, "")
			}
		}, "state", "no place for the state", "export BELAY_STATE_DIR="},
		"a hold": {func(t *testing.T, dir string) {
			store := (&state.State{Dir: dir}).Gates()
			now := time.Now()
			must.OK(t, store.Update("api", now, func(s gate.State) gate.State { return s.Held(now, now.Add(time.Hour), "upgrade") }))
		}, "gates", "api is on hold until", "belay gates reset api"},
		"an open breaker": {func(t *testing.T, dir string) {
			store := (&state.State{Dir: dir}).Gates()
			now := time.Now()
			must.OK(t, store.Update("api", now, func(s gate.State) gate.State { return s.Opened(now, now.Add(time.Hour), "down") }))
		}, "gates", "breaker of api is open", "belay gates reset api"},
		"a breaker that is open until a reset": {func(t *testing.T, dir string) {
			store := (&state.State{Dir: dir}).Gates()
			now := time.Now()
			must.OK(t, store.Update("api", now, func(s gate.State) gate.State { return s.Opened(now, time.Time{}, "an audit") }))
		}, "gates", "breaker of api is open until it is reset: an audit", "belay gates reset api"},
		"a leftover": {func(t *testing.T, dir string) {
			const id = "01a1dddf-2699-7e0f-b6ac-b8cbd5705482"
			records := (&state.State{Dir: dir}).Records()
			must.OK(t, os.MkdirAll(records.Dir, 0o700))
			if _, err := records.Create(supervise.Record{ID: id, Command: "x", Reported: true}); err != nil {
				t.Fatal(err)
			}
			names, _ := os.ReadDir(records.Dir)
			part := strings.Split(names[0].Name(), ".") // boot, pid, start, id
			dead := strings.Join([]string{part[0], part[1], part[2] + "1", part[3]}, ".")
			must.OK(t, os.Rename(filepath.Join(records.Dir, names[0].Name()), filepath.Join(records.Dir, dead)))
			sleep := exec.Command("/bin/sleep", "300")
			sleep.Env = []string{supervise.RunIDVar + "=" + id}
			must.OK(t, sleep.Start())
			t.Cleanup(func() { sleep.Process.Kill(); sleep.Wait() })
		}, "leftovers", "1 run was killed and left processes", "belay ps --reap"},
		"a log from the future": {func(t *testing.T, dir string) {
			log := journal.Log{Path: filepath.Join(dir, "log.jsonl")}
			must.OK(t, log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now().Add(time.Hour)}, Invocation: "x"}))
		}, "clock", "but the newest entry of the log is", ""},
		"a CLI that does not answer": {func(t *testing.T, dir string) {
			write(t, filepath.Join(os.Getenv("PATH"), "claude"), "#!/bin/sh\nexit 1\n", 0o700)
		}, "claude", "claude: exited 1", "claude --version"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := healthy(t)
			tt.spoil(t, dir)
			list := Examine(nothing, nothing)
			found := slices.ContainsFunc(list, func(f Finding) bool {
				return f.Check == tt.check && f.Status == Wrong && strings.Contains(f.Text, tt.text) && strings.Contains(f.Fix, tt.fix)
			})
			if !found {
				t.Errorf("%+v", list)
			}
		})
	}
}

// A directory that cannot be written is not reported as fine as well.
func TestDoctor_CannotWrite(t *testing.T) {
	dir := healthy(t)
	if os.Chmod(dir, 0o500); os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	list := checkState()
	if len(list) != 1 || list[0].Status != Wrong || list[0].Fix != "chmod 700 "+dir {
		t.Errorf("%+v", list)
	}
}

func TestDoctor_AnotherVariableWasMeant(t *testing.T) {
	healthy(t)
	t.Setenv("BELAY_MAX_RETRYS", "5")
	list := checkConfig()
	if f := list[len(list)-1]; f.Status != Note || !strings.Contains(f.Text, "did you mean BELAY_MAX_RETRIES?") || f.Fix != "unset BELAY_MAX_RETRYS" {
		t.Errorf("%+v", list)
	}
}

// The command to install gh is that of the package manager that is there.
func TestDoctor_HowToGetGH(t *testing.T) {
	healthy(t)
	gh := cli{profile.Find("gh")}
	if got := gh.install(); got != "see https://cli.github.com" {
		t.Error(got)
	}
	write(t, filepath.Join(os.Getenv("PATH"), "apt-get"), "#!/bin/sh\n", 0o700)
	if got := gh.install(); got != "sudo apt-get install gh" {
		t.Error(got)
	}
}

func TestDoctor_NothingWrong(t *testing.T) {
	dir := healthy(t)
	home := os.Getenv("HOME")
	write(t, filepath.Join(home, "claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n", 0o700)
	write(t, filepath.Join(home, "codex"), "#!/bin/sh\necho 'codex-cli 0.999.0'\n", 0o700)
	write(t, filepath.Join(home, ".claude", ".credentials.json"), `{"claudeAiOauth":{}}`, 0o600)
	list := Examine(nothing, nothing)
	var texts []string
	for _, f := range list {
		if f.Status == Wrong {
			t.Errorf("%+v", f)
		}
		texts = append(texts, f.Check+": "+f.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"claude: ~/claude, version 2.1.325, tested", "claude: logged in: ~/.claude/.credentials.json",
		"codex: ~/codex, version 0.999.0, not tested: newer than", "codex: no key or login", "gh: not found on the PATH", "disk: ", "clock: "} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it has left %v", left)
	}
}
