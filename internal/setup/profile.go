package setup

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/stdio"
)

// Profile returns the profile for a command: the one that was named, else the one of the command's name if that is at
// its headless work. Nil means that nothing is known of it.
func Profile(std stdio.Streams, named string, args []string, dir string) (agent.Profile, error) {
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
	if p := profile.Of(args, nil, dir); p != nil && p.Headless() && !WantsPerson(std, p) {
		return p, nil
	}
	return nil, nil
}

// Guard returns the profile of a command for which there is none by [Profile], with what is known of its effects: a gh on
// a terminal, one of its extensions or aliases, may change something as any other gh. That is left alone only where the user
// says that nothing is known of the command.
func Guard(own agent.Profile, named string, args []string, dir string) agent.Profile {
	if named == generic.Name || len(args) == 0 {
		return own
	}
	if c, ok := profile.Of(args, nil, dir).(agent.Caller); ok && c.CallerInfo().Changes {
		return agent.Guarded(own, c)
	}
	return own
}

// WantsPerson says that a command may ask the user at a terminal, as gh does for what is missing in a command that changes
// something. It then has the terminal, as without us.
func WantsPerson(std stdio.Streams, p agent.Profile) bool {
	c, ok := p.(agent.Caller)
	return ok && c.CallerInfo().Changes && stdio.IsTerminal(std.In) && stdio.IsTerminal(std.Out)
}

// CLI is what is known of the CLI of a profile; for one that is not in the registry, nothing.
func CLI(known agent.Profile) *agent.Descriptor {
	if d := profile.Find(NameOf(known)); d != nil {
		return d
	}
	return &agent.Descriptor{}
}

// NameOf is the name of a profile, of which nil is the generic one.
func NameOf(known agent.Profile) string {
	if known == nil {
		return generic.Name
	}
	return known.Name()
}
