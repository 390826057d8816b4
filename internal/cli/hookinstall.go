package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/hook/settings"
	"github.com/belay-run/belay/internal/supervise"
)

// hookPlace is whose settings are meant.
type hookPlace struct {
	client, scope string
	dryRun        bool
}

func (p *hookPlace) flags(cmd *cobra.Command, scope string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	addText(flags, &p.client, "client", "NAME", "claude or codex")
	p.scope = scope
	addText(flags, &p.scope, "scope", "SCOPE", "user, project, or local (claude only)")
}

// find is the client and the path of its file.
func (p *hookPlace) find() (settings.Client, string, error) {
	for _, c := range settings.Clients {
		if c.Name == p.client {
			path, err := c.Path(settings.Scope(p.scope))
			if err != nil {
				return c, "", usage(err, "as in: --scope user")
			}
			return c, path, nil
		}
	}
	if p.client == "" {
		return settings.Client{}, "", usage(errors.New("say whose hooks are meant"), "as in: --client claude")
	}
	return settings.Client{}, "", usage(fmt.Errorf("there is no client %q", p.client), "one of: --client claude, --client codex")
}

func newHookInstall() *cobra.Command {
	p := &hookPlace{}
	cmd := &cobra.Command{
		Use:   "install --client claude|codex",
		Short: "Put belay in front of the hooks in a settings file",
		Example: `  belay hook install --client claude --dry-run
  belay hook install --client claude
  belay hook install --client codex --scope project`,
		Long: `Puts 'belay hook' in front of every hook command of the file, with the client's own timeout less a
second, and --fail-closed where the hook says onFailure: "block". Nothing else in the file changes, and
a copy of it is kept beside it. What is wrapped already is left alone. 'belay hook uninstall'
undoes it to the byte.

  claude   ~/.claude/settings.json, .claude/settings.json (project), .claude/settings.local.json (local)
  codex    ~/.codex/hooks.json, .codex/hooks.json (project)`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return installHooks(cmd.OutOrStdout(), *p) },
	}
	p.flags(cmd, "user")
	cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "show what would change, and change nothing")
	return cmd
}

func newHookUninstall() *cobra.Command {
	p := &hookPlace{}
	cmd := &cobra.Command{
		Use:     "uninstall --client claude|codex",
		Short:   "Take belay away from the hooks in a settings file",
		Example: "  belay hook uninstall --client claude\n  belay hook uninstall --client claude --dry-run",
		Long:    "Undoes 'belay hook install' to the byte. What you have put behind belay by hand stays.",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return uninstallHooks(cmd.OutOrStdout(), *p) },
	}
	p.flags(cmd, "user")
	cmd.Flags().BoolVar(&p.dryRun, "dry-run", false, "show what would change, and change nothing")
	return cmd
}

// repository is the directory that the file came with; empty if it is the user's own.
func (p *hookPlace) repository() string {
	if settings.Scope(p.scope) == settings.User {
		return ""
	}
	return "."
}

// read reads the file; nil if there is none.
func (p *hookPlace) read(client settings.Client, path string) (*settings.File, error) {
	file, err := settings.Read(client, p.repository(), path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &hintError{&failure{err}, "it was left as it is"}
	}
	return file, nil
}

func installHooks(w io.Writer, p hookPlace) error {
	client, path, err := p.find()
	if err != nil {
		return err
	}
	if err := checkShell(client); err != nil {
		return err
	}
	file, err := p.read(client, path)
	if err != nil {
		return err
	}
	if file == nil {
		fmt.Fprintf(w, "There is no %s, so there are no hooks to wrap.\n", path)
		return sayTOML(w, client, path)
	}
	belay, err := belayForShell()
	if err != nil {
		return &failure{err}
	}
	after := file.Install(belay)
	// What could not be undone is not done.
	check, err := settings.Parse(client, after)
	if err == nil && !bytes.Equal(check.Uninstall(), file.Uninstall()) {
		err = errors.New("it could not be undone to the byte")
	}
	if err != nil {
		return &failure{fmt.Errorf("%s: belay would have spoilt it: %w; it was left as it is", path, err)}
	}
	wrapped, before := 0, 0
	for i, h := range file.Hooks {
		switch {
		case h.Why != "":
			fmt.Fprintf(w, "%s:%d: left alone: it %s\n", path, h.Line, h.Why)
		case h.Wrapped:
			before++
		case check.Hooks[i].Wrapped:
			wrapped++
		}
	}
	if err := p.change(w, file, after); err != nil {
		return err
	}
	if wrapped > 0 && !p.dryRun {
		fmt.Fprintf(w, "belay is in front of %s in %s; a copy is in %s.\n", count(wrapped, "hook"), path, path+settings.BackupSuffix)
		fmt.Fprintf(w, "Note: %s.\n", client.AfterInstall)
		if p.scope == string(settings.Project) {
			fmt.Fprintln(w, "Note: everybody who works on this project needs belay on the PATH now; --scope user or local is for you alone.")
		}
	}
	if wrapped == 0 {
		fmt.Fprintf(w, "Nothing to do in %s: %s, %d behind belay already.\n", path, count(len(file.Hooks), "hook"), before)
	}
	if file.Comment != "" {
		fmt.Fprintf(w, "Warning: %s has a comment at %s; %s reads no settings from a file with comments.\n", path, file.Comment, client.Name)
	}
	return sayTOML(w, client, path)
}

func uninstallHooks(w io.Writer, p hookPlace) error {
	client, path, err := p.find()
	if err != nil {
		return err
	}
	file, err := p.read(client, path)
	if err != nil {
		return err
	}
	if file == nil {
		fmt.Fprintf(w, "There is no %s, so there is nothing to undo.\n", path)
		return nil
	}
	n, byHand := 0, 0
	for _, h := range file.Hooks {
		switch {
		case h.Exactly:
			n++
		case h.Wrapped:
			byHand++
			fmt.Fprintf(w, "%s:%d: left alone: belay was put there by hand\n", path, h.Line)
		}
	}
	if n == 0 {
		fmt.Fprintf(w, "Nothing to undo in %s.\n", path)
		return nil
	}
	if err := p.change(w, file, file.Uninstall()); err != nil {
		return err
	}
	if !p.dryRun {
		fmt.Fprintf(w, "belay is no longer in front of %s in %s.\n", count(n, "hook"), path)
		if client.Name == settings.Codex.Name {
			fmt.Fprintf(w, "Note: %s.\n", client.AfterInstall)
		}
	}
	return nil
}

// change writes the new text, or shows what would change.
func (p hookPlace) change(w io.Writer, file *settings.File, after []byte) error {
	switch {
	case bytes.Equal(file.Text, after):
		return nil
	case p.dryRun:
		fmt.Fprint(w, settings.Diff(file.Path, file.Text, after))
		return nil
	}
	if err := settings.Replace(p.repository(), file.Path, file.Text, after); err != nil {
		return &failure{fmt.Errorf("%s could not be changed: %w", file.Path, err)}
	}
	return nil
}

// checkShell refuses where hook commands are not lines for a shell that we can quote for.
func checkShell(client settings.Client) error {
	if runtime.GOOS == "windows" {
		return &hintError{&failure{errors.New("hooks on Windows are lines for PowerShell or cmd, which belay does not rewrite")},
			"put 'belay hook --' before a command by hand"}
	}
	if client.Name == settings.Codex.Name && filepath.Base(os.Getenv("SHELL")) == "fish" {
		return &hintError{&failure{errors.New("codex gives its hooks to your shell, fish, whose quoting belay does not know")},
			"put 'belay hook --' before a command by hand"}
	}
	return nil
}

// belayForShell is how a shell finds this belay: by its name if that is on the PATH, else by its path.
func belayForShell() (string, error) {
	self, err := executable()
	if err != nil {
		return "", err
	}
	real := func(path string) string {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		return path
	}
	if found, err := supervise.Look("belay", ""); err == nil && real(found) == real(self) {
		return "belay", nil
	}
	return self, nil
}

// sayTOML speaks of hooks that codex has in another file.
func sayTOML(w io.Writer, client settings.Client, path string) error {
	if client.Name != settings.Codex.Name {
		return nil
	}
	config, n, err := settings.InTOML(path)
	if err != nil {
		return &hintError{&failure{err}, "its hooks could not be counted"}
	}
	if n > 0 {
		fmt.Fprintf(w, "%s has %s too, which belay leaves alone; move them to %s, or put 'belay hook --' before them by hand.\n",
			config, count(n, "hook"), path)
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(what, "s"))
}
