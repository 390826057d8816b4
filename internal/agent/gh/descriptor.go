package gh

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of gh.
var Descriptor = agent.Descriptor{
	Name:            Name,
	New:             func(args, env []string, dir string) agent.Profile { return New(args, env, dir) },
	Preset:          retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Plus(time.Second)},
	BreakerFailures: BreakerFailures,
	Tested:          agent.Tested{"2.100.0"},
	Install: []agent.Install{
		{With: "brew", Command: "brew install gh"},
		{With: "apt-get", Command: "sudo apt-get install gh"},
		{With: "dnf", Command: "sudo dnf install gh"},
		{With: "pacman", Command: "sudo pacman -S github-cli"},
		{With: "apk", Command: "sudo apk add github-cli"},
		{With: "winget", Command: "winget install GitHub.cli"},
		{Command: "see https://cli.github.com"},
	},
	Login: agent.Login{Command: "gh auth login", Variables: []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"},
		Ask: []string{"auth", "token"}, None: "no token found"},
	Rehearsal: agent.Rehearsal{Vendor: "github", Ask: []string{"api", "user"}},
}
