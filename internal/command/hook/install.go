package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

func newHookInstall() *cobra.Command {
	t := &target.Target{Kind: clientfile.Hooks}
	cmd := &cobra.Command{
		Use:   "install --client NAME",
		Short: "Put belay in front of a client's hooks",
		Example: `See what would change:
  belay hook install --client claude --dry-run
Put belay in front of all hooks of the user's settings:
  belay hook install --client claude
The same for the project's settings:
  belay hook install --client codex --scope project`,
		Long: `Puts belay hook in front of every hook command of a settings file, with the client's own timeout less a second. A hook that says onFailure: "block" gets
--fail-closed. Nothing else in the file changes, and a copy of it is kept beside it. Hooks that go through belay already stay as they are, unless that
belay no longer exists. belay hook uninstall restores what was there.

  claude   ~/.claude/settings.json, .claude/settings.json (project),
           .claude/settings.local.json (local)
  codex    ~/.codex/hooks.json, .codex/hooks.json (project)
  gemini   ~/.gemini/settings.json, .gemini/settings.json (project)
  cursor   ~/.cursor/hooks.json, .cursor/hooks.json (project)`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return installHooks(cmd.OutOrStdout(), t) },
	}
	t.AddFlags(cmd, clientfile.User, true)
	return cmd
}

func newHookUninstall() *cobra.Command {
	t := &target.Target{Kind: clientfile.Hooks}
	cmd := &cobra.Command{
		Use:   "uninstall --client NAME",
		Short: "Take belay out of a client's hooks",
		Example: `See what would change:
  belay hook uninstall --client claude --dry-run
Take belay out of all hooks:
  belay hook uninstall --client claude`,
		Long: "Restores, byte for byte, what belay hook install has changed. What you have changed by hand stays.",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return uninstallHooks(cmd.OutOrStdout(), t) },
	}
	t.AddFlags(cmd, clientfile.User, true)
	return cmd
}

func installHooks(w io.Writer, t *target.Target) error {
	l, err := t.Location()
	if err != nil {
		return err
	}
	if err := checkShell(l.Client); err != nil {
		return err
	}
	belay, err := target.Command(l)
	if err != nil {
		return command.Fail(err)
	}
	e, err := clientfile.Apply(l, t.DryRun, func(f *clientfile.File) (clientfile.Edit, error) { return f.Install(belay) })
	if err != nil {
		return target.NotEdited(l, e.Step, err)
	}
	file, edit := e.File, e.Edit
	if file == nil {
		term.Line(w, fmt.Sprintf("No hooks to put belay in front of: %s does not exist.", l.Path))
		return sayHooksLeftAlone(w, t, l.Path)
	}
	before := 0
	for _, e := range file.Entries {
		switch e.State {
		case clientfile.Unfit:
			term.Line(w, fmt.Sprintf("%s:%d: not changed because it %s", l.Path, e.Line, e.Why))
		case clientfile.Installed, clientfile.ByHand:
			before++
		}
	}
	term.Text(w, e.Diff)
	switch {
	case len(edit.Changed)+len(edit.Repointed) == 0:
		term.Line(w, fmt.Sprintf("Nothing to do in %s: %s, %d already behind belay.", l.Path, message.Count(len(file.Entries), "hook"), before))
	case !t.DryRun:
		if n := len(edit.Changed); n > 0 {
			term.Line(w, fmt.Sprintf("belay is now in front of %s in %s. The original is in %s.", message.Count(n, "hook"), l.Path, e.Copied))
		}
		target.SayRepointed(w, file, edit, belay)
		if l.Client.AfterInstall != "" {
			term.Line(w, message.ClientNote(l.Client.AfterInstall))
		}
		target.SayShared(w, file, edit)
	}
	target.SayComment(w, file)
	return sayHooksLeftAlone(w, t, l.Path)
}

func uninstallHooks(w io.Writer, t *target.Target) error {
	l, err := t.Location()
	if err != nil {
		return err
	}
	e, err := clientfile.Apply(l, t.DryRun, func(f *clientfile.File) (clientfile.Edit, error) { return f.Uninstall() })
	if err != nil {
		return target.NotEdited(l, e.Step, err)
	}
	if e.File == nil {
		term.Line(w, fmt.Sprintf("Nothing to undo: %s does not exist.", l.Path))
		return nil
	}
	for _, e := range e.File.Entries {
		if e.State == clientfile.ByHand {
			term.Line(w, message.EntryByHand(l.Path, e.Line))
		}
	}
	n := len(e.Changed)
	if n == 0 {
		term.Line(w, fmt.Sprintf("Nothing to undo in %s.", l.Path))
		return nil
	}
	term.Text(w, e.Diff)
	if !t.DryRun {
		term.Line(w, fmt.Sprintf("belay is no longer in front of %s in %s.", message.Count(n, "hook"), l.Path))
		if l.Client.AfterUninstall != "" {
			term.Line(w, message.ClientNote(l.Client.AfterUninstall))
		}
	}
	return nil
}

// checkShell refuses where hook commands are not lines for a shell that we can quote for.
func checkShell(client *clientfile.Client) error {
	if runtime.GOOS == "windows" {
		return command.WithHint(command.Fail(message.Error("on Windows, hooks are PowerShell or cmd commands, which belay does not rewrite")), message.HookByHand())
	}
	if client.UsersShell && filepath.Base(os.Getenv("SHELL")) == "fish" {
		return command.WithHint(command.Fail(message.Error(client.Name+" runs hooks with your shell, fish, and belay cannot quote for fish")), message.HookByHand())
	}
	return nil
}

// sayHooksLeftAlone speaks of hooks that the client has in another file of the same scope.
func sayHooksLeftAlone(w io.Writer, t *target.Target, path string) error {
	places, err := t.Locations()
	if err != nil {
		return err
	}
	for _, l := range places {
		if !l.LeftAlone {
			continue
		}
		file, err := clientfile.Look(l)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return command.WithHint(command.Fail(err), "its hooks could not be counted")
		case len(file.Entries) > 0:
			term.Line(w, message.Sentences(fmt.Sprintf("%s also has %s, which belay does not change", l.Path, message.Count(len(file.Entries), "hook")), fmt.Sprintf("move them to %s, or put 'belay hook --' in front of them by hand.", path)))
		}
	}
	return nil
}
