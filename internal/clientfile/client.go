package clientfile

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// Kind is what belay is put in front of.
type Kind string

const (
	Hooks   Kind = "hook"
	Servers Kind = "mcp"
)

// Scope says which user or project a file belongs to.
type Scope string

const (
	User    Scope = "user"
	Local   Scope = "local"   // the user's own, for one project
	Project Scope = "project" // shared by all users who work on the project
)

// Client is an agent CLI that has hooks and MCP servers.
type Client struct {
	Name string
	// Places are all places for hooks and MCP servers, in the order in which they are listed.
	Places []Place
	// Grant is how long it lets hooks run.
	Grant Grant
	// Limits are the times that it may have for a server.
	Limits []Limit
	// AfterInstall and AfterUninstall are what its user must know when its hooks have changed; empty if there is nothing.
	AfterInstall, AfterUninstall string
	// UsersShell says that it gives hook commands to the shell in $SHELL, whichever that is.
	UsersShell bool
	// Launcher is the key under which its settings, the file of the user's hooks, have what it puts in front of the processes that it starts in the background; empty
	// if there is no such thing.
	Launcher string
	// NoHooks says why belay cannot stand in front of its hooks; empty if it can.
	NoHooks string
	// SimpleHooks says that a hook stands in the list of its event itself, and gets its input by a redirection behind its command.
	SimpleHooks bool
	// CommandLine says that it splits the command of a server into words if there are no arguments.
	CommandLine bool
	// CommandList says that the command of a server is a list, with the arguments in it.
	CommandList bool
	// Comments says that it reads a JSON file with comments, too.
	Comments bool
	// Remote is how it writes servers that it calls over the network.
	Remote Remote
	// TrailingCommas says that it reads one with a comma behind the last item of an object or list, too.
	TrailingCommas bool
}

// Place is a file of a client, and what of one kind and scope stands in it.
type Place struct {
	Kind  Kind
	Scope Scope
	// File is a file below the project. For a file of the user's it is a file in the directory that HomeVar names, or
	// HomeFile below the home directory if the variable is not set.
	File, HomeVar, HomeFile string
	Format                  Format
	// Keys lead to the entries. [ProjectKey] stands for the name of the project in the file.
	Keys []string
	// LeftAlone says that what stands there is listed and not edited.
	LeftAlone bool
	// Strict says that the file is plain JSON, whatever the client reads elsewhere.
	Strict bool
}

// Format is what a file is written in.
type Format byte

const (
	JSON Format = iota // with comments or without
	TOML
)

// ProjectKey stands in the keys of a place for the project that belay is called in, as the client names it.
const ProjectKey = "\x00project"

// Limit is a time that a client has for a server, and the flag of `belay mcp` that takes it over.
type Limit struct {
	Key  string
	Unit time.Duration
	Flag string
}

// Location is a place where a client has hooks or servers.
type Location struct {
	Client *Client
	Kind   Kind
	Scope  Scope
	// Path is the file; below the working directory for hooks of a project, as the client shows it.
	Path string
	// Repository is the directory that the file came with; empty if it is the user's own.
	Repository string
	// LeftAlone says that what stands there is listed and not edited.
	LeftAlone bool

	format Format
	strict bool
	lists  [][]string // the paths of keys that lead to the entries
	// everywhere are the same of all scopes that share the file, with ProjectKey for any project.
	everywhere [][]string
	shared     []Place // all that share the file, of hooks and servers
}

// Shared says that others use the file too, on machines of their own.
func (l Location) Shared() bool { return l.Scope == Project }

// Everywhere is the location with all scopes and projects that share its file.
func (l Location) Everywhere() Location {
	l.lists = l.everywhere
	return l
}

// Locations are the places where the client has hooks or servers, of one scope if that is not empty. Relative ones are seen from
// the working directory.
func (c *Client) Locations(kind Kind, scope Scope) (places []Location, err error) {
	for _, r := range c.Places {
		if r.Kind != kind || scope != "" && r.Scope != scope {
			continue
		}
		l := Location{Client: c, Kind: kind, Scope: r.Scope, LeftAlone: r.LeftAlone, format: r.Format, strict: r.Strict}
		if l.Path, l.Repository, err = r.path(); err != nil {
			return nil, err
		}
		if l.lists, err = r.lists(); err != nil {
			return nil, err
		}
		for _, other := range c.Places {
			if other.File != r.File || other.HomeVar != r.HomeVar {
				continue
			}
			if l.shared = append(l.shared, other); other.Kind == kind {
				l.everywhere = append(l.everywhere, other.Keys)
			}
		}
		places = append(places, l)
	}
	return places, nil
}

// Location is the place that belay edits for a scope: of several the first that is there.
func (c *Client) Location(kind Kind, scope Scope) (Location, error) {
	places, err := c.Locations(kind, scope)
	if err != nil {
		return Location{}, err
	}
	places = slices.DeleteFunc(places, func(l Location) bool { return l.LeftAlone })
	for _, l := range places {
		if _, err := os.Lstat(l.Path); err == nil {
			return l, nil
		}
	}
	if len(places) > 0 {
		return places[0], nil
	}
	return Location{}, &NoScope{c.Name, scope}
}

// NoScope says that a client has nothing of a scope.
type NoScope struct {
	Client string
	Scope  Scope
}

func (e *NoScope) Error() string {
	return message.NoClientScope(e.Client, string(e.Scope))
}

// path is the file of a place, and the directory that it came with.
func (r Place) path() (path, repository string, err error) {
	if r.HomeFile == "" {
		if r.Kind == Hooks {
			return r.File, ".", nil
		}
		path, err = filepath.Abs(r.File)
		return path, ".", err
	}
	if dir := os.Getenv(r.HomeVar); dir != "" {
		return filepath.Join(dir, r.File), "", nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, r.HomeFile), "", err
}

// lists are the paths of keys that lead to the entries of a row. For one project there may be several: claude names it by the
// main working tree of its repository, and older versions of claude, as older versions of belay, by the working directory.
func (r Place) lists() ([][]string, error) {
	at := slices.Index(r.Keys, ProjectKey)
	if at < 0 {
		return [][]string{r.Keys}, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	names := []string{here}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		names = append([]string{mainTree(real), real}, names...)
	}
	var lists [][]string
	for i, name := range names {
		if slices.Index(names, name) == i {
			keys := slices.Clone(r.Keys)
			keys[at] = name
			lists = append(lists, keys)
		}
	}
	return lists, nil
}

// Remote is how a client writes a server that it calls over the network. Install makes one that it starts of it, `belay mcp --url`,
// by renaming keys: every value stays where it is and as it is written, so that Uninstall finds it there, and a header's value never
// gets to the command line. Only the names of headers do.
type Remote struct {
	// Kinds are the ways to write one; none if the client has no such servers.
	Kinds []RemoteKind
	// StdioType is the type of a server that the client starts.
	StdioType string
	// Headers is the key of the headers, Env that of the variables for a server that the client starts.
	Headers, Env string
	// Bearer is the key of a variable's name, in which a token is, and HeaderVars that of a table from headers to variables. Vars
	// are the variables of its own that the client hands to a server that it starts. Empty if the client has none of it.
	Bearer, HeaderVars, Vars string
	// Own are keys that ask for what only the client can do: log in, run a helper, trust a certificate.
	Own []string
	// Logins are the files in which the client keeps what it got when it logged in to servers.
	Logins []Place
}

// RemoteKind is one way to write a server that is called over the network.
type RemoteKind struct {
	// Key is the key of the URL, Type the value of "type"; empty if there is none.
	Key, Type string
	// Flag is the flag of `belay mcp` that says the same. No two kinds of a client have the same, not even in how it is written:
	// Uninstall tells by it which kind there was.
	Flag string
}
