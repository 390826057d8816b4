package cli

import (
	"os"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
)

// profileFor returns the profile for a command: the one that was named, else the one of the command's name if that is at
// its headless work. Nil means that nothing is known of it.
func profileFor(std stdio.Streams, named string, args []string, dir string) (agent.Profile, error) {
	switch {
	case named != "":
		p, err := profile.Bind(named, args, nil, dir)
		if err != nil {
			return nil, command.Usage(err, "there are "+message.And(profile.Names()))
		}
		return p, nil
	case len(args) == 0:
		return nil, nil
	}
	if p := profile.Of(args, nil, dir); p != nil && p.Headless() && !wantsPerson(std, p) {
		return p, nil
	}
	return nil, nil
}

// guard returns the profile of a command for which there is none by [profileFor], with what is known of its effects: a gh on
// a terminal, one of its extensions or aliases, may change something as any other gh. That is left alone only where the user
// says that nothing is known of the command.
func guard(own agent.Profile, named string, args []string, dir string) agent.Profile {
	if named == generic.Name || len(args) == 0 {
		return own
	}
	if c, ok := profile.Of(args, nil, dir).(agent.Caller); ok && c.CallerInfo().Changes {
		return agent.Guarded(own, c)
	}
	return own
}

// wantsPerson says that a command may ask the user at a terminal, as gh does for what is missing in a command that changes
// something. It then has the terminal, as without us.
func wantsPerson(std stdio.Streams, p agent.Profile) bool {
	c, ok := p.(agent.Caller)
	return ok && c.CallerInfo().Changes && stdio.IsTerminal(std.In) && stdio.IsTerminal(std.Out)
}

// cliOf is what is known of the CLI of a profile; for one that is not in the registry, nothing.
func cliOf(known agent.Profile) *agent.Descriptor {
	if d := profile.Find(nameOf(known)); d != nil {
		return d
	}
	return &agent.Descriptor{}
}

// continueHint is the command that continues a session of the CLI; empty if there is none, as in a rehearsal, whose sessions belay run
// does not find.
func continueHint(cli *agent.Descriptor) string {
	if os.Getenv(state.RehearsalVar) != "" {
		return ""
	}
	return cli.ContinueHint()
}

// knownCommands lists the commands that are known by their names: "claude -p, codex exec and gh".
func knownCommands() string {
	var list []string
	for _, d := range profile.All() {
		list = append(list, d.Headless())
	}
	return message.And(list)
}

// namesOf are the names of the CLIs that are wanted.
func namesOf(wanted func(*agent.Descriptor) bool) (names []string) {
	for _, d := range profile.All() {
		if wanted(d) {
			names = append(names, d.Name)
		}
	}
	return names
}
