package target

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Target is whose hooks or MCP servers a command is about.
type Target struct {
	Kind          clientfile.Kind
	Client, Scope string
	DryRun        bool
}

// AddFlags adds those that name the target; scope is the one that is meant if none is given.
func (t *Target) AddFlags(cmd *cobra.Command, scope clientfile.Scope, edits bool) {
	flags := cmd.Flags()
	flags.SortFlags = false
	// Its names are not listed here: flags are made at every start, and to know all clients every profile has to be read.
	command.AddText(flags, &t.Client, "client", "NAME", "the client, such as claude or cursor")
	t.Scope = string(scope)
	otherwise := "all"
	if scope != "" {
		otherwise = string(scope)
	}
	command.AddText(flags, &t.Scope, "scope", "SCOPE", "user, project or local; only claude has local (default "+otherwise+")")
	if edits {
		flags.BoolVar(&t.DryRun, "dry-run", false, "print what would change, and change nothing")
	}
}

// Location is the file that is edited. An empty scope is the user's.
func (t *Target) Location() (clientfile.Location, error) {
	client := profile.Client(t.Client)
	if client == nil {
		return clientfile.Location{}, t.noClient()
	}
	if t.Kind == clientfile.Hooks && client.NoHooks != "" {
		return clientfile.Location{}, command.Usage(errors.New(client.NoHooks), "")
	}
	l, err := client.Location(t.Kind, clientfile.Scope(cmp.Or(t.Scope, string(clientfile.User))))
	if _, ok := errors.AsType[*clientfile.NoScope](err); ok {
		return l, command.Usage(message.Error(message.NoClientScope(t.Client, t.Scope), err), "use --scope user, --scope project or, for claude, --scope local")
	}
	return l, command.Fail(err)
}

// Locations are the places to look at: of one client or of all, of one scope or of all.
func (t *Target) Locations() (places []clientfile.Location, err error) {
	for _, client := range profile.Clients() {
		if t.Client != "" && t.Client != client.Name {
			continue
		}
		own, err := client.Locations(t.Kind, clientfile.Scope(t.Scope))
		if err != nil {
			return nil, command.Fail(err)
		}
		places = append(places, own...)
	}
	return places, nil
}

// noClient says that the client is missing, or is unknown.
func (t *Target) noClient() error {
	err := errors.New("--client is missing")
	if t.Client != "" {
		err = fmt.Errorf("there is no client %q", t.Client)
	}
	return command.Usage(err, message.ClientHint(profile.ClientNames(t.Kind)))
}

// Command is how a client calls this belay. In a file that others share it is the name alone, which each of them finds
// on a PATH of their own. Elsewhere it is a path: a client that was not started by a shell may have another PATH. That is the
// one on the PATH, if it leads here: it stays the same when a package manager puts a new version behind it.
func Command(l clientfile.Location) (string, error) {
	if l.Shared() {
		return "belay", nil
	}
	return command.Path()
}
