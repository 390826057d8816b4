package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/dotfile"
	"github.com/belay-run/belay/internal/mcp/install"
	"github.com/belay-run/belay/internal/profile"
)

func newMCPInstall() *cobra.Command {
	var t mcpTarget
	cmd := &cobra.Command{
		Use:   "install --client claude|codex [server…]",
		Short: "Put belay in front of the servers in a client's configuration",
		Example: `  belay mcp install --client claude --dry-run
  belay mcp install --client claude
  belay mcp install --client claude --scope project github
  belay mcp install --client codex`,
		Long: `Changes the configuration of an MCP client so that its servers are started through belay mcp; of all
servers, or of those that are named. Only the bytes concerned are changed; a copy of the file as it
was is left beside it (.belay-backup). Time limits that the client has for a server are taken over,
less a second. belay mcp uninstall gives back what was there. Restart the client afterwards.

Scopes: user is ~/.claude.json or $CODEX_HOME/config.toml; local is this directory's part of
~/.claude.json; project is .mcp.json or .codex/config.toml here, which others may share.`,
	}
	t.flags(cmd, true)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		self, err := executable()
		if err != nil {
			return &failure{err}
		}
		if t.scope == "project" {
			self = "belay" // where it is on this machine is not for a file that others share
		}
		w := cmd.OutOrStdout()
		changed, err := t.edit(w, "is now behind belay", func(f install.Format, data []byte) ([]byte, []install.Server, error) {
			return install.Add(f, data, self, names...)
		})
		if err == nil {
			t.elsewhere(w, "install", "not behind belay", func(s install.Server) bool { return !s.Behind && !s.Remote })
		}
		if changed && t.scope == "project" {
			fmt.Fprintln(w, "Note: everybody who works on this project needs belay on the PATH now; --scope user or local is for you alone.")
		}
		return err
	}
	return cmd
}

func newMCPUninstall() *cobra.Command {
	var t mcpTarget
	cmd := &cobra.Command{
		Use:   "uninstall --client claude|codex [server…]",
		Short: "Take belay away from the servers in a client's configuration",
		Example: `  belay mcp uninstall --client claude --dry-run
  belay mcp uninstall --client codex github`,
		Long: `Gives back, byte for byte, what belay mcp install has changed; for all servers, or for those that
are named.`,
	}
	t.flags(cmd, true)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		w := cmd.OutOrStdout()
		_, err := t.edit(w, "is started directly again", func(f install.Format, data []byte) ([]byte, []install.Server, error) {
			return install.Remove(f, data, names...)
		})
		if err == nil {
			t.elsewhere(w, "uninstall", "behind belay", func(s install.Server) bool { return s.Behind })
		}
		return err
	}
	return cmd
}

// mcpTarget is a client's configuration.
type mcpTarget struct {
	client, scope string
	dryRun        bool
}

func (t *mcpTarget) flags(cmd *cobra.Command, edits bool) {
	flags := cmd.Flags()
	flags.Var(&textFlag{&t.client, "NAME"}, "client", profile.Or(mcpClients()))
	flags.Var(&textFlag{&t.scope, "SCOPE"}, "scope", "user, local or project (user)")
	if edits {
		flags.BoolVar(&t.dryRun, "dry-run", false, "show what would change, and change nothing")
	}
}

// file is where the configuration is, and what it is written in.
func (t *mcpTarget) file() (string, install.Format, error) {
	scope := t.named()
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil, &failure{err}
	}
	here, err := os.Getwd()
	if err != nil {
		return "", nil, &failure{err}
	}
	switch t.client + " " + scope {
	case "claude user":
		return claudeFile(home), install.JSON{Path: []string{"mcpServers"}}, nil
	case "claude local":
		return claudeFile(home), install.JSON{Path: []string{"projects", here, "mcpServers"}}, nil
	case "claude project":
		return filepath.Join(here, ".mcp.json"), install.JSON{Path: []string{"mcpServers"}}, nil
	case "codex user":
		dir := os.Getenv("CODEX_HOME")
		if dir == "" {
			dir = filepath.Join(home, ".codex")
		}
		return filepath.Join(dir, "config.toml"), install.TOML{Key: "mcp_servers"}, nil
	case "codex project":
		return filepath.Join(here, ".codex", "config.toml"), install.TOML{Key: "mcp_servers"}, nil
	}
	names := mcpClients()
	switch {
	case slices.Contains(names, t.client):
		return "", nil, usage(fmt.Errorf("--scope %q is none of %s", t.scope, t.client), "user, local (claude only) or project")
	case t.client == "":
		return "", nil, usage(errors.New("--client is missing"), "as in: --client "+strings.Join(names, " or --client "))
	}
	return "", nil, usage(fmt.Errorf("--client %q is not known: %s", t.client, profile.Or(names)), "")
}

// mcpClients are the names of the clients whose servers can be put behind belay.
func mcpClients() (names []string) {
	for _, d := range profile.All() {
		if d.MCPClient != "" {
			names = append(names, d.MCPClient)
		}
	}
	return names
}

// named is the scope in one word.
func (t *mcpTarget) named() string { return cmp.Or(t.scope, "user") }

// scopes are those that a client may have servers in.
var scopes = []string{"user", "local", "project"}

// elsewhere names the other scopes that have servers of a kind: what was said is not true of those.
func (t *mcpTarget) elsewhere(w io.Writer, command, kind string, is func(install.Server) bool) {
	for _, scope := range scopes {
		other := mcpTarget{client: t.client, scope: scope}
		if scope == t.named() {
			continue
		}
		path, format, data, err := other.read(other.repository())
		if err != nil || data == nil { // codex has no local one
			continue
		}
		servers, err := install.Look(format, data)
		n := 0
		for _, s := range servers {
			if is(s) {
				n++
			}
		}
		switch {
		case err != nil || n == 0:
		case n == 1:
			fmt.Fprintf(w, "Note: 1 server in the %s scope (%s) is %s: belay mcp %s --client %s --scope %s\n", scope, path, kind, command, t.client, scope)
		default:
			fmt.Fprintf(w, "Note: %d servers in the %s scope (%s) are %s: belay mcp %s --client %s --scope %s\n", n, scope, path, kind, command, t.client, scope)
		}
	}
}

// claudeFile is Claude Code's own configuration.
func claudeFile(home string) string {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(home, ".claude.json")
}

// repository is the directory that the configuration came with; empty if it is the user's own.
func (t *mcpTarget) repository() string {
	if t.scope == "project" {
		return "."
	}
	return ""
}

// read reads the configuration. One that is not there has no servers, and no data.
func (t *mcpTarget) read(repository string) (path string, format install.Format, data []byte, err error) {
	if path, format, err = t.file(); err != nil {
		return
	}
	if real, rerr := filepath.EvalSymlinks(path); rerr == nil && repository == "" {
		path = real
	}
	data, err = dotfile.Read(repository, path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		data, err = nil, nil
	case err != nil:
		err = &failure{fmt.Errorf("%s has no configuration that can be read: %w", t.client, err)}
	case data == nil:
		data = []byte{}
	}
	return
}

// edit changes the configuration and says what has changed.
func (t *mcpTarget) edit(w io.Writer, done string, how func(install.Format, []byte) ([]byte, []install.Server, error)) (bool, error) {
	path, format, before, err := t.read(t.repository())
	if err != nil {
		return false, err
	}
	if before == nil {
		fmt.Fprintf(w, "There is no %s, so %s has no servers in the %s scope.\n", path, t.client, t.named())
		return false, nil
	}
	after, servers, err := how(format, before)
	if none, ok := errors.AsType[*install.NoServer](err); ok {
		return false, usage(fmt.Errorf("%s in %s", none, path), serversHint(none))
	}
	if err != nil {
		return false, &failure{fmt.Errorf("%s is left as it is: %w", path, err)}
	}
	if t.dryRun && !bytes.Equal(before, after) {
		fmt.Fprint(w, install.Diff(path, before, after))
		return false, nil
	}
	if !bytes.Equal(before, after) {
		if err := install.Replace(t.repository(), path, before, after); err != nil {
			return false, &failure{fmt.Errorf("%s is left as it is: %w", path, err)}
		}
	}
	changed := 0
	for _, s := range servers {
		switch {
		case s.Changed:
			changed++
			fmt.Fprintf(w, "%s %s\n", s.Name, done)
		case s.Remote:
			fmt.Fprintf(w, "%s is called over a network and stays as it is\n", s.Name)
		}
	}
	if changed == 0 {
		fmt.Fprintf(w, "nothing to change in the %s scope (%s)\n", t.named(), path)
		return false, nil
	}
	fmt.Fprintf(w, "%s is changed; a copy of it as it was is in %s.\nNote: %s reads it when it starts; restart it.\n", path, path+install.Backup, t.client)
	return true, nil
}

// serversHint names the server that was probably meant, or those that there are.
func serversHint(none *install.NoServer) string {
	switch near := config.Nearest(none.Name, none.Known); {
	case near != "":
		return "did you mean " + near + "?"
	case len(none.Known) == 0:
		return "it has none"
	}
	return "there are " + strings.Join(none.Known, ", ")
}

// show lists what a client's configuration has.
func (t *mcpTarget) show(w io.Writer, asJSON bool) error {
	path, format, data, err := t.read("") // as the client does, which follows links
	if err != nil {
		return err
	}
	var servers []install.Server
	if data != nil {
		if servers, err = install.Look(format, data); err != nil {
			return &failure{fmt.Errorf("%s cannot be understood: %w", path, err)}
		}
	}
	type row struct {
		Name  string `json:"name"`
		State string `json:"state"`
		File  string `json:"file"`
	}
	var rows []row
	for _, s := range servers {
		state := "direct"
		switch {
		case s.Behind:
			state = "behind belay"
		case s.Remote:
			state = "remote"
		}
		rows = append(rows, row{s.Name, state, path})
	}
	if asJSON {
		return writeJSONLines(w, rows)
	}
	if len(rows) == 0 {
		fmt.Fprintf(w, "no MCP server in the %s scope (%s)\n", t.named(), path)
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-20s %s\n", r.Name, r.State)
	}
	t.elsewhere(w, "install", "not behind belay", func(s install.Server) bool { return !s.Behind && !s.Remote })
	return nil
}
