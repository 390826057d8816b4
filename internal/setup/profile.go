package setup

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/stdio"
)

// Recognized is what is known of a command line.
type Recognized struct {
	// Known is its profile: the one that was named, else the one of the command's name if that is at its headless work. Nil means that nothing is known of it.
	Known agent.Profile

	named string
	found agent.Profile // by the command's name, whatever it is at
}

// Recognize looks at a command line, once.
func Recognize(std stdio.Streams, named string, args []string, dir string) (r Recognized, err error) {
	r.named = named
	switch {
	case named != "":
		if r.Known, err = profile.Bind(named, args, nil, dir); err != nil {
			return r, command.Usage(err, "there are "+message.And(profile.Names()))
		}
	case len(args) > 0:
		if r.found = profile.Of(args, nil, dir); r.found != nil && r.found.Headless() && !WantsPerson(std, r.found) {
			r.Known = r.found
		}
	}
	return r, nil
}

// Guard returns the profile of a command of which nothing is known, with what is known of its effects.
func (r Recognized) Guard(own agent.Profile) agent.Profile {
	if r.Known != nil || r.named != "" {
		return own
	}
	return Guard(own, r.found)
}

// Guard returns a profile with what is known of the effects of a command that was found by its name: a gh on a terminal, one of its extensions or aliases,
// may change something as any other gh.
func Guard(own, found agent.Profile) agent.Profile {
	if c, ok := found.(agent.Caller); ok && c.CallerInfo().Changes {
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
