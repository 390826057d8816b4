package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of a CLI before there is a command line. The folder of each CLI exports one, and the registry
// in internal/profile has a row for it; nothing else names a CLI. It is a plain value: nothing is read or computed before it
// is asked for, since every start of belay would pay for that.
type Descriptor struct {
	// Name is the profile's name, which is also the command's.
	Name string
	// Commands are the names of its command where that is not the profile's; nil if it is.
	Commands []string
	// New makes the profile of one command line, args[0] being the command, in that environment and directory.
	New func(args, env []string, dir string) Profile
	// Preset is how often, and after which delays, the CLI is repeated where the caller does not say.
	Preset retry.Policy
	// BreakerFailures is how many failed runs in a row open the breaker of its gate; 0 means as many as for all.
	BreakerFailures int
	// Tested are the versions that the tests install.
	Tested Tested

	// Ask are the arguments that make an agent work on one request and end; nil for what is not an agent.
	Ask []string
	// StandIn says how it is asked in the place of another agent.
	StandIn StandIn
	// Plain returns the arguments after the command with which the CLI starts no other program, made of those given; refused is the first of these with which it might. Nil if
	// the CLI runs commands by itself, whatever it is given, or that is not known.
	Plain func(args []string) (with []string, refused string)
	// MaxInput is the most that the CLI takes on stdin, in bytes; 0 if it has no limit, or reads nothing there.
	MaxInput int64
	// IsSession reports whether an id has the form of this CLI's session ids, of which SessionExample is one; nil if it has no
	// sessions.
	IsSession      func(id string) bool
	SessionExample string
	// Recall reads what the CLI's own record of a session, below home, tells of an attempt that began at that time and was
	// not followed to its end, and when it was last written; prices say what the model calls cost. Nil if the CLI keeps no record.
	Recall func(home, session string, since time.Time, prices *price.Table) (account Account, last time.Time, ok bool)
	// Records says how the CLI keeps its sessions, so that one that cannot go on can be mended; nil if that is not known.
	Records *history.Format
	// OwnLog is the file that scripts around this CLI expect a log of invocations in; empty if they expect none.
	OwnLog string
	// Variables are environment variables of the CLI's own tradition that stand for settings of Belay.
	Variables []Variable

	// HomeVar and HomeDir are where the CLI keeps what is its own: the directory that the variable names, else that one below
	// the user's home. Empty if it does not matter.
	HomeVar, HomeDir string
	// Install are ways to install it. The first that the machine has the tool for is the one to show.
	Install []Install
	Login   Login
	// SDKs are the libraries that drive it. They start a CLI of their own unless they are told of another.
	SDKs []SDK
	// Client are the files in which it has hooks and MCP servers, for belay hook and belay mcp; nil if there are none.
	Client    *clientfile.Client
	Rehearsal Rehearsal
}

// Variable is an environment variable that stands for a setting of Belay.
type Variable struct {
	Name, Setting string
	// Convert makes the setting's value of the variable's; nil if they are the same.
	Convert func(string) (string, error)
}

// Read is what a value of the variable means for the setting.
func (v *Variable) Read(value string) (string, error) {
	if v.Convert == nil {
		return value, nil
	}
	return v.Convert(value)
}

// Install is a way to install a CLI.
type Install struct {
	// With is the tool that has to be on the PATH; empty if the way is always open.
	With string
	// Command is what to type.
	Command string
}

// Login says how one logs in to the service of a CLI, and how to find out, without asking the service, whether one is.
type Login struct {
	// Command is what to type.
	Command string
	// Variables hold credentials, or say that others do; the first is the one to recommend.
	Variables []string
	// File is where the CLI keeps what it was given, below its home; empty if that is not known.
	File string
	// Ask are arguments with which the CLI ends with 0 if it has credentials; nil if there are none.
	Ask []string
	// Keychain says that macOS keeps them in its keychain, so that a missing file means nothing there.
	Keychain bool
	// None says that no credentials were found.
	None string
}

// SDK is a library that drives a CLI.
type SDK struct {
	Name string
	// Setting is the option that names the CLI to start, with %q for its path.
	Setting string
}

// Rehearsal says how a CLI is rehearsed.
type Rehearsal struct {
	// Vendor is the stand-in of internal/rehearse that plays its service.
	Vendor string
	// Ask are arguments that ask for something simple, in an empty directory too.
	Ask []string
}

// IsAgent reports whether it works for a model.
func (d *Descriptor) IsAgent() bool { return d.Ask != nil }

// Headless is how the command begins that is known by its name: "claude -p".
func (d *Descriptor) Headless() string {
	return strings.Join(slices.Concat([]string{d.Name}, d.Ask), " ")
}

// LoginHint says how one gets credentials; empty if that is not known.
func (d *Descriptor) LoginHint() string {
	hint := d.Login.Command
	if len(d.Login.Variables) > 0 {
		hint += ", or set " + d.Login.Variables[0]
	}
	return strings.TrimPrefix(hint, ", or ")
}

// ContinueHint is a command that makes a session go on; empty for what is not an agent.
func (d *Descriptor) ContinueHint() string {
	if !d.IsAgent() {
		return ""
	}
	return d.Headless() + " 'go on'"
}

// IsUUID reports whether id has the form of a UUID.
func IsUUID(id string) bool { return redact.IsUUID(id) }

// UUIDExample is what a UUID looks like.
const UUIDExample = "01234567-89ab-cdef-0123-456789abcdef"

// Behind returns the profile of an agent that another program starts: node cli.js, npx some-package. prefix is what stands
// before the agent's own command line.
func Behind(prefix []string, a Agent) Agent {
	if len(prefix) == 0 {
		return a
	}
	return behind{a, prefix}
}

type behind struct {
	Agent
	prefix []string
}

func (b behind) Plan(t Turn) (Plan, error) {
	p, err := b.Agent.Plan(t)
	if err == nil {
		p.Args = slices.Concat(b.prefix, p.Args)
	}
	return p, err
}

func (b behind) Info() Info {
	info := b.Agent.Info()
	if own := info.WithModel; own != nil {
		info.WithModel = func(model string) []string { return slices.Concat(b.prefix, own(model)) }
	}
	return info
}
