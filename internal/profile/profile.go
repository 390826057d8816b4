// Package profile is the registry of the CLIs that Belay knows: what is known of each is in its folder below internal/agent,
// and a further CLI is one more row of [registry].
package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/retry"
)

// UnknownError says that there is no profile of that name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no profile %q", e.Name) }

// All are the CLIs, in the order of the registry, and after them those that the user's file declares. The slice is not to be
// changed.
func All() []*agent.Descriptor {
	if own := declared(); len(own) > 0 {
		return slices.Concat(registry, own)
	}
	return registry
}

// Clients are the CLIs and editors that have hooks or MCP servers in files that belay can edit.
func Clients() (list []*clientfile.Client) {
	for _, d := range Known() {
		if d.Client != nil {
			list = append(list, d.Client)
		}
	}
	return append(list, editors...)
}

// Client is the one of that name among them; nil if there is none.
func Client(name string) *clientfile.Client {
	for _, c := range Clients() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Find returns the CLI of that name; nil if there is none, as for the generic profile.
func Find(name string) *agent.Descriptor {
	for _, d := range registry {
		if d.Name == name {
			return d
		}
	}
	for _, d := range declared() {
		if d.Name == name {
			return d
		}
	}
	return findShipped(name)
}

// Names are the names of all profiles, the generic one last.
func Names() []string {
	names := make([]string, 0, len(registry)+1)
	for _, d := range All() {
		names = append(names, d.Name)
	}
	return append(append(names, Shipped()...), generic.Name)
}

// Agents are the names of those that work for a model.
func Agents() (names []string) {
	for _, d := range registry {
		if d.IsAgent() {
			names = append(names, d.Name)
		}
	}
	return append(names, Shipped()...)
}

// Or lists names as a sentence does: "claude, codex, gh or generic".
func Or(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Bind makes the profile of that name for a command line, in that environment and directory; a nil env means the caller's.
// The command line may begin with a program that starts the CLI: node cli.js. Nil, for no name and for the generic one,
// means that nothing is known of the command. The error is an [*UnknownError].
func Bind(name string, args, env []string, dir string) (agent.Profile, error) {
	if name == "" || name == generic.Name {
		return nil, nil
	}
	d := Find(name)
	if d == nil {
		return nil, &UnknownError{Name: name}
	}
	prefix, own := starter(args)
	p := d.New(own, environ(env), dir)
	if a, ok := p.(agent.Agent); ok {
		return agent.Behind(prefix, a), nil
	}
	return p, nil
}

// Of makes the profile of the CLI that the command line names itself, as Bind does; nil if there is none of that name.
func Of(args, env []string, dir string) agent.Profile {
	if d := OfCommand(args[0]); d != nil {
		return d.New(args, environ(env), dir)
	}
	return nil
}

// OfCommand returns the CLI that a command is, by the name of its file; nil if it is none. One whose profile comes as data must have been
// used before.
func OfCommand(path string) *agent.Descriptor {
	d := Named(path)
	if d != nil && slices.Contains(Shipped(), d.Name) && !isUsed(d) {
		return nil
	}
	return d
}

// Named returns the CLI that has the name of a command; nil if none has.
func Named(path string) *agent.Descriptor {
	name := programName(path)
	for _, d := range declared() {
		if slices.Contains(d.Commands, name) {
			return d
		}
	}
	if d := Find(name); d != nil && (d.Commands == nil || slices.Contains(d.Commands, name)) {
		return d
	}
	return nil
}

// programName is the name of a program without the directory and the suffix that Windows has for it, of which the commands that npm
// installs there have .cmd.
func programName(path string) string {
	name := filepath.Base(path)
	switch ext := filepath.Ext(name); strings.ToLower(ext) {
	case ".exe", ".cmd", ".bat":
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// Preset returns the policy of that name: a CLI's own, else one that package retry has.
func Preset(name string) (retry.Policy, bool) {
	if d := Find(name); d != nil {
		return d.Preset, true
	}
	return retry.Preset(name)
}

// Presets are the names that Preset knows.
func Presets() []string {
	names := retry.Presets()
	for _, d := range All() {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// IsSession reports whether an id has the form of the session ids of that profile; of one that is not in the registry, the
// form of a UUID.
func IsSession(name, id string) bool {
	if d := Find(name); d != nil && d.IsSession != nil {
		return d.IsSession(id)
	}
	return agent.IsUUID(id)
}

// SessionExample is what such an id looks like.
func SessionExample(name string) string {
	if d := Find(name); d != nil && d.SessionExample != "" {
		return d.SessionExample
	}
	return agent.UUIDExample
}

func environ(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// starters are programs that start another one which their arguments name.
var starters = []string{"node", "bun", "bunx", "deno", "npx", "pnpx", "env"}

// starter takes such a program off a command line: what is left is the agent's own.
func starter(args []string) (prefix, own []string) {
	if len(args) < 2 || !slices.Contains(starters, programName(args[0])) {
		return nil, args
	}
	i := 1
	for i < len(args)-1 && (strings.HasPrefix(args[i], "-") || programName(args[0]) == "env" && strings.Contains(args[i], "=")) {
		i++
	}
	return args[:i], args[i:]
}

// own are the CLIs that the user's file declares; nil, as nearly always, if it declares none. Only the command reads
// that file, so a program that uses the library has none.
var own atomic.Pointer[[]*agent.Descriptor]

// Declare makes the CLIs known that the user's file declares, in place of those that it declared before.
func Declare(list []*agent.Descriptor) {
	if len(list) == 0 {
		own.Store(nil)
		return
	}
	own.Store(&list)
}

func declared() []*agent.Descriptor {
	if list := own.Load(); list != nil {
		return *list
	}
	return nil
}

// IsBuiltIn reports whether a name belongs to a profile which no file can declare.
func IsBuiltIn(name string) bool {
	return name == generic.Name || slices.ContainsFunc(registry, func(d *agent.Descriptor) bool { return d.Name == name })
}

// NamesOf are the names of those of the CLIs that are wanted.
func NamesOf(list []*agent.Descriptor, wanted func(*agent.Descriptor) bool) (names []string) {
	for _, d := range list {
		if wanted(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

// ClientNames are the names that --client takes.
func ClientNames(kind clientfile.Kind) (names []string) {
	for _, c := range Clients() {
		if kind == clientfile.Hooks && c.NoHooks != "" {
			continue
		}
		names = append(names, c.Name)
	}
	return names
}
