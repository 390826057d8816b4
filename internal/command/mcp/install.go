package mcp

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

func newMCPInstall() *cobra.Command {
	t := &target.Target{Kind: clientfile.Servers}
	cmd := &cobra.Command{
		Use:   "install --client NAME [server…]",
		Short: "Put belay in front of a client's MCP servers",
		Example: `See what would change:
  belay mcp install --client claude --dry-run
Put belay in front of all servers of the user's configuration:
  belay mcp install --client claude
Put belay in front of one server of the project:
  belay mcp install --client claude --scope project github`,
		Long: `Changes the configuration of an MCP client so that its servers are started through belay mcp: all of them, or those that you name. Nothing
else in the file changes, and a copy of it (.belay-backup) is kept until belay is taken out again. The client's own time limits are used, less a second. Servers that
are started through belay already stay as they are, unless that belay no longer exists. belay mcp uninstall restores what was there. Restart the client
afterwards.

A server with a URL becomes belay mcp --url. Its headers stay in the file, in variables of the server; they are never on a command line. One that the client
logs in to stays as it is. A public server without credentials may need a login and is changed only if you name it.

  claude    ~/.claude.json, a part of it (local), .mcp.json (project)
  codex     $CODEX_HOME/config.toml, .codex/config.toml (project)
  gemini    ~/.gemini/settings.json, .gemini/settings.json (project)
  opencode  ~/.config/opencode/opencode.json, opencode.json (project), or .jsonc
  qwen, copilot, droid, grok, kimi, and CLIs that you declare: the files that
            their profiles name, where the CLI has been used
  cursor    ~/.cursor/mcp.json, .cursor/mcp.json (project)
  vscode    mcp.json of the user's profile, .vscode/mcp.json (project)

Others may share the files of a project.`,
	}
	t.AddFlags(cmd, clientfile.User, true)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		w := cmd.OutOrStdout()
		l, err := t.Location()
		if err != nil {
			return err
		}
		belay, err := target.Command(l)
		if err != nil {
			return command.Fail(err)
		}
		file, edit, err := editServers(w, t, l, true, func(f *clientfile.File) (clientfile.Edit, error) { return f.Install(belay, names...) })
		if err != nil {
			return err
		}
		if file != nil && !t.DryRun {
			target.SayRepointed(w, file, edit, belay)
		}
		sayElsewhere(w, t, "install", clientfile.Direct)
		if file != nil {
			if !t.DryRun {
				target.SayShared(w, file, edit)
			}
			target.SayComment(w, file)
		}
		return nil
	}
	return cmd
}

func newMCPUninstall() *cobra.Command {
	t := &target.Target{Kind: clientfile.Servers}
	cmd := &cobra.Command{
		Use:   "uninstall --client NAME [server…]",
		Short: "Take belay out of a client's MCP servers",
		Example: `See what would change:
  belay mcp uninstall --client claude --dry-run
Take belay out of one server:
  belay mcp uninstall --client codex github`,
		Long: "Restores, byte for byte, what belay mcp install has changed, for all servers or for those that you name.",
	}
	t.AddFlags(cmd, clientfile.User, true)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		w := cmd.OutOrStdout()
		l, err := t.Location()
		if err != nil {
			return err
		}
		if _, _, err := editServers(w, t, l, false, func(f *clientfile.File) (clientfile.Edit, error) { return f.Uninstall(names...) }); err != nil {
			return err
		}
		sayElsewhere(w, t, "uninstall", clientfile.Installed)
		return nil
	}
	return cmd
}

// editServers changes a configuration and says what has changed. The file is nil if there is none.
func editServers(w io.Writer, t *target.Target, l clientfile.Location, wrap bool, how func(*clientfile.File) (clientfile.Edit, error)) (*clientfile.File, clientfile.Edit, error) {
	e, err := clientfile.Apply(l, t.DryRun, how)
	if err != nil {
		return nil, e.Edit, serversNotEdited(l, e.Step, err)
	}
	file, edit := e.File, e.Edit
	if file == nil {
		term.Line(w, fmt.Sprintf("%s has no servers in the %s scope: %s does not exist.", l.Client.Name, string(l.Scope), l.Path))
		return nil, edit, nil
	}
	term.Text(w, e.Diff)
	changes := len(edit.Changed) + len(edit.Repointed)
	if t.DryRun && changes > 0 {
		return file, edit, nil
	}
	for _, e := range edit.Changed {
		how := " is now behind belay"
		switch {
		case !wrap && e.Remote:
			how = " is called directly again"
		case !wrap:
			how = " is started directly again"
		}
		term.Line(w, e.Name+how)
	}
	for _, e := range file.Entries {
		switch {
		case e.State == clientfile.Unfit:
			term.Line(w, fmt.Sprintf("%s is not changed because it %s", e.Name, e.Why))
		case wrap && e.State == clientfile.Direct && !slices.ContainsFunc(edit.Changed, func(c clientfile.Entry) bool { return c.Name == e.Name }) && e.Doubt != "":
			term.Line(w, fmt.Sprintf("%s is not changed because it %s. If it needs none: belay mcp install --client %s --scope %s %s", e.Name, e.Doubt, l.Client.Name, l.Scope, e.Name))
		}
	}
	if changes == 0 {
		term.Line(w, fmt.Sprintf("nothing to change in the %s scope (%s)", string(l.Scope), l.Path))
		return file, edit, nil
	}
	text := fmt.Sprintf("Changed %s.", l.Path)
	if e.Copied != "" {
		text += fmt.Sprintf(" The original is in %s.", e.Copied)
	}
	term.Line(w, text)
	term.Line(w, fmt.Sprintf("Note: restart %s to apply the change.", l.Client.Name))
	return file, edit, nil
}

// serversNotEdited says why a configuration was left as it is.
func serversNotEdited(l clientfile.Location, step clientfile.Step, err error) error {
	none, unknown := errors.AsType[*clientfile.NoEntry](err)
	switch {
	case step == clientfile.ReadStep:
		return unreadable(l, message.FileUnchangedBecause, err)
	case unknown:
		return command.Usage(message.Error(fmt.Sprintf("%v in %s", none, l.Path)), message.ServersHint(message.Nearest(none.Name, none.Known), none.Known))
	}
	return command.Fail(message.Error(message.FileUnchangedBecause(l.Path, err), err))
}
