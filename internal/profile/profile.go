// Package profile finds the profile of a CLI by its name. A further CLI is one more entry of the table.
package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/agent/gh"
)

// entry is what is known of a CLI before there is a command line.
type entry struct {
	name string
	// bind makes the profile of one command line, in that environment and directory.
	bind func(args, env []string, dir string) agent.Profile
	// ask are the arguments that make an agent work on one request and end; nil for what is not an agent.
	ask []string
}

var entries = []entry{
	{claude.Name, func(args, env []string, _ string) agent.Profile { return claude.New(args, env) }, []string{"-p"}},
	{codex.Name, func(args, env []string, dir string) agent.Profile { return codex.New(args, env, dir) }, []string{"exec"}},
	{gh.Name, func(args, env []string, dir string) agent.Profile { return gh.New(args, env, dir) }, nil},
}

// UnknownError says that there is no profile of that name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no profile %q", e.Name) }

// Names are the names of all profiles, the generic one last.
func Names() (names []string) {
	for _, e := range entries {
		names = append(names, e.name)
	}
	return append(names, generic.Name)
}

// Bind makes the profile of that name for a command line, in that environment and directory; a nil env means the caller's.
// The command line may begin with a program that starts the CLI: node cli.js. Nil, for no name and for the generic one,
// means that nothing is known of the command. The error is an [*UnknownError].
func Bind(name string, args, env []string, dir string) (agent.Profile, error) {
	if name == "" || name == generic.Name {
		return nil, nil
	}
	e := find(name)
	if e == nil {
		return nil, &UnknownError{Name: name}
	}
	prefix, own := starter(args)
	p := e.bind(own, environ(env), dir)
	if a, ok := p.(agent.Agent); ok {
		return agent.Behind(prefix, a), nil
	}
	return p, nil
}

// Of makes the profile of the CLI that the command line names itself, as Bind does; nil if there is none of that name.
func Of(args, env []string, dir string) agent.Profile {
	if e := find(strings.TrimSuffix(filepath.Base(args[0]), ".exe")); e != nil {
		return e.bind(args, environ(env), dir)
	}
	return nil
}

// Ask are the arguments that make the agent of that name work on one request and end. ok is false for what is not an agent.
func Ask(name string) (args []string, ok bool) {
	e := find(name)
	if e == nil || e.ask == nil {
		return nil, false
	}
	return slices.Clone(e.ask), true
}

func environ(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

func find(name string) *entry {
	for i := range entries {
		if entries[i].name == name {
			return &entries[i]
		}
	}
	return nil
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
