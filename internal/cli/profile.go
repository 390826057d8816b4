package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/agent/claude"
	"github.com/belay-run/belay/agent/codex"
	"github.com/belay-run/belay/agent/generic"
)

// profiles are the CLIs that Belay knows, by the names of their commands.
var profiles = map[string]func(args []string, dir string) agent.Profile{
	claude.Name: func(args []string, _ string) agent.Profile { return claude.New(args, os.Environ()) },
	codex.Name:  func(args []string, dir string) agent.Profile { return codex.New(args, os.Environ(), dir) },
}

// profileNames is for messages.
const profileNames = claude.Name + ", " + codex.Name + " and " + generic.Name

// profileFor returns the profile for a command: the one that was named, else the one of the command's name if that is at
// its headless work. Nil means that nothing is known of it.
func profileFor(named string, args []string, dir string) (agent.Profile, error) {
	switch {
	case named == generic.Name:
		return nil, nil
	case named != "":
		make, ok := profiles[named]
		if !ok {
			return nil, usage(fmt.Errorf("there is no profile %q", named), "there are "+profileNames)
		}
		return make(args, dir), nil
	case len(args) == 0:
		return nil, nil
	}
	base := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if make, ok := profiles[base]; ok {
		if p := make(args, dir); p.Headless() {
			return p, nil
		}
	}
	return nil, nil
}

// goOn is how a session of each CLI is told to go on.
var goOn = map[string]string{claude.Name: "claude -p 'go on'", codex.Name: "codex exec 'go on'"}
