package clientfile

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Kind is what belay is put in front of.
type Kind string

const (
	Hooks   Kind = "hook"
	Servers Kind = "mcp"
)

// Scope says whose a file is.
type Scope string

const (
	User    Scope = "user"
	Local   Scope = "local"   // the user's own, for one project
	Project Scope = "project" // shared with all who work on the project
)

// Client is an agent CLI that has hooks and MCP servers.
type Client struct {
	Name string
	rows []row
	// grant is how long it lets hooks run.
	grant grant
	// limits are the times that it may have for a server.
	limits []limit
	// AfterInstall and AfterUninstall are what its user must know when its hooks have changed; empty if there is nothing.
	AfterInstall, AfterUninstall string
	// UsersShell says that it gives hook commands to the shell in $SHELL, whichever that is.
	UsersShell bool
}

// row is a file of a client, and what of one kind and scope stands in it.
type row struct {
	kind  Kind
	scope Scope
	// file is a file below the project. For a file of the user's it is a file in the directory that homeVar names, or
	// homeFile below the home directory if the variable is not set.
	file, homeVar, homeFile string
	format                  format
	// keys lead to the entries. projectKey stands for the name of the project in the file.
	keys []string
	// leftAlone says that what stands there is listed and not edited.
	leftAlone bool
}

// format is what a file is written in.
type format byte

const (
	formatJSON format = iota
	formatTOML
)

// projectKey stands in the keys of a row for the project that belay is called in, as the client names it.
const projectKey = "\x00project"

// limit is a time that a client has for a server, and the flag of `belay mcp` that takes it over.
type limit struct {
	key  string
	unit time.Duration
	flag string
}

// Clients are all clients with all places for hooks and MCP servers. Measured with claude 2.1.325 and codex 0.166.0. What the
// administrator of a machine has set (/etc/claude-code, /etc/codex) and what plugins bring is not for belay to change.
var Clients = []Client{
	{
		Name: "claude",
		rows: []row{
			{kind: Hooks, scope: User, homeVar: "CLAUDE_CONFIG_DIR", file: "settings.json", homeFile: ".claude/settings.json", keys: []string{"hooks"}},
			{kind: Hooks, scope: Project, file: ".claude/settings.json", keys: []string{"hooks"}},
			{kind: Hooks, scope: Local, file: ".claude/settings.local.json", keys: []string{"hooks"}},
			{kind: Servers, scope: User, homeVar: "CLAUDE_CONFIG_DIR", file: ".claude.json", homeFile: ".claude.json", keys: []string{"mcpServers"}},
			{kind: Servers, scope: Local, homeVar: "CLAUDE_CONFIG_DIR", file: ".claude.json", homeFile: ".claude.json",
				keys: []string{"projects", projectKey, "mcpServers"}}, // where `claude mcp add` writes
			{kind: Servers, scope: Project, file: ".mcp.json", keys: []string{"mcpServers"}},
		},
		grant:        grant{seconds: 600, events: map[string]float64{"SessionEnd": 1.5}},
		limits:       []limit{{"timeout", time.Millisecond, "--timeout"}},
		AfterInstall: "sessions that are open may go on with the hooks they have read",
	},
	{
		Name: "codex",
		rows: []row{
			{kind: Hooks, scope: User, homeVar: "CODEX_HOME", file: "hooks.json", homeFile: ".codex/hooks.json", keys: []string{"hooks"}},
			{kind: Hooks, scope: User, homeVar: "CODEX_HOME", file: "config.toml", homeFile: ".codex/config.toml", format: formatTOML, keys: []string{"hooks"}, leftAlone: true},
			{kind: Hooks, scope: Project, file: ".codex/hooks.json", keys: []string{"hooks"}},
			{kind: Hooks, scope: Project, file: ".codex/config.toml", format: formatTOML, keys: []string{"hooks"}, leftAlone: true},
			{kind: Servers, scope: User, homeVar: "CODEX_HOME", file: "config.toml", homeFile: ".codex/config.toml", format: formatTOML, keys: []string{"mcp_servers"}},
			{kind: Servers, scope: Project, file: ".codex/config.toml", format: formatTOML, keys: []string{"mcp_servers"}},
		},
		grant: grant{seconds: 600, events: map[string]float64{"SessionEnd": 1}, max: map[string]float64{"SessionEnd": 3}},
		limits: []limit{{"tool_timeout_sec", time.Second, "--timeout"},
			{"startup_timeout_sec", time.Second, "--start-timeout"}},
		AfterInstall:   "codex runs a hook that has changed only after you have looked at it: start codex and type /hooks",
		AfterUninstall: "codex runs a hook that has changed only after you have looked at it: start codex and type /hooks",
		UsersShell:     true,
	},
}

// Named is the client of that name; nil if there is none.
func Named(name string) *Client {
	for i := range Clients {
		if Clients[i].Name == name {
			return &Clients[i]
		}
	}
	return nil
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

	format format
	lists  [][]string // the paths of keys that lead to the entries
	// everywhere are the same of all scopes that share the file, with projectKey for any project.
	everywhere [][]string
}

// Shared says that others use the file too, on machines of their own.
func (l Location) Shared() bool { return l.Scope == Project }

// Locations are the places where the client has hooks or servers, of one scope if that is not empty. Relative ones are seen from
// the working directory.
func (c *Client) Locations(kind Kind, scope Scope) (places []Location, err error) {
	for _, r := range c.rows {
		if r.kind != kind || scope != "" && r.scope != scope {
			continue
		}
		l := Location{Client: c, Kind: kind, Scope: r.scope, LeftAlone: r.leftAlone, format: r.format}
		if l.Path, l.Repository, err = r.path(); err != nil {
			return nil, err
		}
		if l.lists, err = r.lists(); err != nil {
			return nil, err
		}
		for _, other := range c.rows {
			if other.kind == kind && other.file == r.file && other.homeVar == r.homeVar {
				l.everywhere = append(l.everywhere, other.keys)
			}
		}
		places = append(places, l)
	}
	return places, nil
}

// Location is the place that belay edits for a scope.
func (c *Client) Location(kind Kind, scope Scope) (Location, error) {
	places, err := c.Locations(kind, scope)
	if err != nil {
		return Location{}, err
	}
	for _, l := range places {
		if !l.LeftAlone {
			return l, nil
		}
	}
	return Location{}, &NoScope{c.Name, scope}
}

// NoScope says that a client has nothing of a scope.
type NoScope struct {
	Client string
	Scope  Scope
}

func (e *NoScope) Error() string {
	return fmt.Sprintf("%s has no settings of scope %q", e.Client, e.Scope)
}

// path is the file of a row, and the directory that it came with.
func (r row) path() (path, repository string, err error) {
	if r.homeFile == "" {
		if r.kind == Hooks {
			return r.file, ".", nil
		}
		path, err = filepath.Abs(r.file)
		return path, ".", err
	}
	if dir := os.Getenv(r.homeVar); dir != "" {
		return filepath.Join(dir, r.file), "", nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, r.homeFile), "", err
}
