package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/supervise"
)

// profiles are the CLIs that Belay knows, by the names of their commands.
var profiles = map[string]func(args []string, dir string) agent.Profile{
	claude.Name: func(args []string, _ string) agent.Profile { return claude.New(args, os.Environ()) },
	codex.Name:  func(args []string, dir string) agent.Profile { return codex.New(args, os.Environ(), dir) },
	gh.Name:     func(args []string, dir string) agent.Profile { return gh.New(args, os.Environ(), dir) },
}

// profileNames is for messages.
const profileNames = claude.Name + ", " + codex.Name + ", " + gh.Name + " and " + generic.Name

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
		prefix, own := starter(args)
		p := make(own, dir)
		if a, ok := p.(agent.Agent); ok {
			return agent.Behind(prefix, a), nil
		}
		return p, nil
	case len(args) == 0:
		return nil, nil
	}
	if p := profileOf(args, dir); p != nil && p.Headless() && !wantsPerson(p) {
		return p, nil
	}
	return nil, nil
}

// profileOf returns the profile of the command's name; nil if there is none.
func profileOf(args []string, dir string) agent.Profile {
	if make, ok := profiles[strings.TrimSuffix(filepath.Base(args[0]), ".exe")]; ok {
		return make(args, dir)
	}
	return nil
}

// guard returns the profile of a command for which there is none by [profileFor], with what is known of its effects: a gh on
// a terminal, one of its extensions or aliases, may change something as any other gh. That is left alone only where the user
// says that nothing is known of the command.
func guard(own agent.Profile, named string, args []string, dir string) agent.Profile {
	if named == generic.Name || len(args) == 0 {
		return own
	}
	if c, ok := profileOf(args, dir).(agent.Caller); ok && c.Habits().Changes {
		return agent.Guarded(own, c)
	}
	return own
}

// starters are programs that start another one which their arguments name.
var starters = map[string]bool{"node": true, "bun": true, "bunx": true, "deno": true, "npx": true, "pnpx": true, "env": true}

// starter takes such a program off a command line: what is left is the agent's own.
func starter(args []string) (prefix, own []string) {
	if len(args) < 2 || !starters[filepath.Base(args[0])] {
		return nil, args
	}
	i := 1
	for i < len(args)-1 && (strings.HasPrefix(args[i], "-") || filepath.Base(args[0]) == "env" && strings.Contains(args[i], "=")) {
		i++
	}
	return args[:i], args[i:]
}

// wantsPerson says that a command may ask somebody who sits at a terminal, as gh does for what is missing in a command that
// changes something. It then has the terminal, as without us.
func wantsPerson(p agent.Profile) bool {
	c, ok := p.(agent.Caller)
	return ok && c.Habits().Changes && supervise.IsTerminal(os.Stdin) && supervise.IsTerminal(os.Stdout)
}

// logIn is how one gets credentials for each CLI.
var logIn = map[string]string{
	claude.Name: "claude auth login, or set ANTHROPIC_API_KEY",
	codex.Name:  "codex login, or set CODEX_API_KEY",
	gh.Name:     "gh auth login, or set GH_TOKEN",
}

// goOn is how a session of each CLI is told to go on.
var goOn = map[string]string{claude.Name: "claude -p 'go on'", codex.Name: "codex exec 'go on'"}
