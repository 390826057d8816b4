package profile_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/retry"
)

// Each descriptor has what the users of the registry count on.
func TestRegistry_DescriptorsAreWhole(t *testing.T) {
	seen := map[string]bool{"": true, "generic": true}
	for _, d := range profile.All() {
		if seen[d.Name] || d.Name != strings.ToLower(d.Name) {
			t.Errorf("the name %q is empty, taken, or not in lower case", d.Name)
		}
		seen[d.Name] = true
		p := d.New([]string{d.Name}, []string{}, t.TempDir())
		_, isAgent := p.(agent.Agent)
		if p.Name() != d.Name || isAgent != d.IsAgent() {
			t.Errorf("%s: New makes a profile %q, an agent: %v", d.Name, p.Name(), isAgent)
		}
		var tested agent.Tested
		switch p := p.(type) {
		case agent.Agent:
			tested = p.Info().Tested
		case agent.Caller:
			tested = p.CallerInfo().Tested
		}
		if len(d.Tested) == 0 || !slices.Equal(tested, d.Tested) {
			t.Errorf("%s: the tested versions are %v", d.Name, d.Tested)
		}
		if len(d.Install) == 0 || d.Install[len(d.Install)-1].With != "" {
			t.Errorf("%s: there is no way to install it that is always open", d.Name)
		}
		if d.Login.Command == "" || d.Login.None == "" || d.LoginHint() == "" {
			t.Errorf("%s: it is not said how one logs in", d.Name)
		}
		if d.Preset.MaxRetries == 0 {
			t.Errorf("%s has no preset", d.Name)
		}
		if isAgent && (d.IsSession == nil || !d.IsSession(d.SessionExample) || d.IsSession("../"+d.SessionExample)) {
			t.Errorf("%s: %q is not told from what is no session id", d.Name, d.SessionExample)
		}
		if isAgent && p.(agent.Agent).Info().MaxInput != d.MaxInput {
			t.Errorf("%s: the profile takes %d bytes, the descriptor says %d", d.Name, p.(agent.Agent).Info().MaxInput, d.MaxInput)
		}
	}
}

// What the library offers by the name of a CLI is what the CLI is run with. The descriptor decides: a CLI whose descriptor is
// new has its preset before package retry offers it to users of the library.
func TestRegistry_PresetsAreThoseOfTheLibrary(t *testing.T) {
	for _, d := range profile.All() {
		if p, ok := retry.Preset(d.Name); ok && !reflect.DeepEqual(p, d.Preset) {
			t.Errorf("%s: %+v, package retry says %+v", d.Name, d.Preset, p)
		}
	}
	for _, name := range []string{"claude", "codex", "gh"} {
		if _, ok := retry.Preset(name); !ok || profile.Find(name) == nil {
			t.Errorf("there is no preset %s any more", name)
		}
	}
}

func TestFind(t *testing.T) {
	for path, want := range map[string]string{"claude": "claude", "/usr/bin/gh": "gh", "codex.exe": "codex", "claude.cmd": "claude", "gh.BAT": "gh", "claude.sh": "", "make": "", "generic": ""} {
		got := ""
		if d := profile.OfCommand(path); d != nil {
			got = d.Name
		}
		if got != want {
			t.Errorf("%s is taken for %q", path, got)
		}
	}
}

func TestHints(t *testing.T) {
	want := map[string][2]string{
		"claude": {"claude auth login, or set ANTHROPIC_API_KEY", "claude -p 'go on'"},
		"codex":  {"codex login, or set CODEX_API_KEY", "codex exec 'go on'"},
		"gemini": {"gemini, or set GEMINI_API_KEY", "gemini -p 'go on'"},
		"gh":     {"gh auth login, or set GH_TOKEN", ""},
	}
	for name, hints := range want {
		if d := profile.Find(name); d.LoginHint() != hints[0] || d.ContinueHint() != hints[1] {
			t.Errorf("%s: %q, %q", name, d.LoginHint(), d.ContinueHint())
		}
	}
}
