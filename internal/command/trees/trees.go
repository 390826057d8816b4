// Package trees is belay trees: the trees of their own that runs have worked in, what is in them, and how they are landed and dropped.
package trees

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/worktree"
)

// New is belay trees.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "trees",
		Short: "Show, land and drop the trees that runs have worked in",
		Example: `Run an agent in a tree of its own:
  belay run --worktree -- claude -p "Fix the flaky test"
Show all trees:
  belay trees
Show what a run has changed:
  belay trees show 3f9c1a52
Bring it into the branch that was checked out:
  belay trees land 3f9c1a52
Drop the tree and its branch, with all that is only there:
  belay trees drop 3f9c1a52
Remove the trees whose work is on a branch:
  belay prune --trees`,
		Long: `Shows the git worktrees that --worktree has made: one line each, with the run, how far its work has come, the branch, the size on disk and the age. The
states are:

  working      a run is working in it
  interrupted  its run was stopped or met a limit; run it again to continue
  killed       belay was killed; what was not committed is saved
  failed       the run failed; its unfinished work is on the branch
  done         the work is on the branch, and not landed
  conflict     likewise, and --land could not bring it into its branch
  landed       the work is part of the branch that it came from
  kept         a retry got another tree: not all of this one could be saved

Details: https://github.com/belay-run/belay/blob/main/docs/worktree.md`,
		Args: command.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := trees(cmd.Context())
		if err != nil {
			return err
		}
		var objects []treeJSON
		var rows [][]term.Piece
		for _, t := range list {
			o := treeJSON{t, t.Now(), safefile.Size(t.Path)}
			objects = append(objects, o)
			age := term.Span(time.Since(t.Created))
			rows = append(rows, term.Cells(printable.ShortID(t.Run), string(o.State), t.Branch, printable.Size(o.Size), age, t.Path))
		}
		switch {
		case asJSON:
			return term.JSONLines(cmd.OutOrStdout(), objects)
		case len(list) == 0:
			return term.Line(cmd.OutOrStdout(), "no run has a tree of its own")
		}
		return term.Table(cmd.OutOrStdout(), columns, rows)
	}
	cmd.AddCommand(newShow(), newLand(), newDrop())
	return cmd
}

var columns = []term.Column{
	{Heading: "RUN", Kind: term.Whole, Style: term.Faint}, {Heading: "STATE", Kind: term.Whole},
	{Heading: "BRANCH", Kind: term.Path, Min: 16}, {Heading: "SIZE", Kind: term.Number, Drop: 2},
	{Heading: "AGE", Kind: term.Number, Drop: 1}, {Heading: "PATH", Kind: term.Path, Drop: 3},
}

// treeJSON is a tree as others read it.
type treeJSON struct {
	*worktree.Tree
	State worktree.State `json:"state"`
	Size  int64          `json:"size_bytes"`
}

// trees are all trees of this user.
func trees(ctx context.Context) ([]*worktree.Tree, error) {
	state, err := command.OpenState()
	if err != nil {
		return nil, err
	}
	list, err := worktree.Of(state.Dir, command.Supervisor(ctx)).List()
	return list, command.Fail(err)
}

// with takes the tree that a word means, the id, name or branch of a run, for a command.
func with(cmd *cobra.Command, word string, do func(*worktree.Tree) error) error {
	list, err := trees(cmd.Context())
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(list, func(t *worktree.Tree) bool {
		names := []string{t.Name, t.Task, t.Branch, t.Path, filepath.Base(t.Path)}
		return word == "" || !slices.Contains(names, word) && !printable.IsPart(word, t.Run)
	})
	name, see := printable.Line(word), message.See("belay trees")
	switch {
	case len(found) == 0:
		return command.Usage(message.Error(fmt.Sprintf("no tree of %s was found", name)), see)
	case len(found) > 1:
		why := fmt.Sprintf("%d trees are called %s. Name one by its path", len(found), name)
		return command.Usage(message.Error(why), see)
	}
	t := found[0]
	if err := t.Take(); err != nil {
		return command.Fail(fmt.Errorf("the tree of %s cannot be used: %w", name, err))
	}
	defer t.Release()
	return do(t)
}

func newShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run has changed in its tree",
		Example: `Show it as a diff, with what is not committed:
  belay trees show 3f9c1a52
Keep it as a patch:
  belay trees show 3f9c1a52 >work.patch`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, args[0], func(t *worktree.Tree) error {
				diff, err := t.Diff()
				if err != nil {
					return command.Fail(err)
				}
				out := command.Streams(cmd).Out
				if stdio.IsTerminal(out) {
					return term.Text(out, printable.Text(diff))
				}
				_, err = io.WriteString(out, diff)
				return err
			})
		},
	}
}

func newLand() *cobra.Command {
	return &cobra.Command{
		Use:   "land RUN",
		Short: "Bring the work of a run into the branch that it came from",
		Example: `Land it: fast-forward, rebased or merged:
  belay trees land 3f9c1a52`,
		Long: `Brings the work into the branch that was checked out when the tree was made. What is not committed in the tree is committed first. Where you have changed the same
files, and in a conflict, nothing of yours is touched, and the branch stays.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, args[0], func(t *worktree.Tree) error {
				if t.Branch == "" || t.Onto == "" {
					see := message.AsIn("belay trees show " + printable.Quoted(args[0]))
					return command.Usage(message.Error("there is no branch that it could be landed on"), see)
				}
				err := t.Reopen()
				if err == nil {
					_, err = t.Commit("work of run "+t.Run, worktree.Done)
				}
				if err == nil {
					err = t.Land(cmd.Context(), nil)
				}
				if err != nil {
					hint := "to merge it by hand: git merge " + printable.Quoted(t.Branch)
					return command.WithCode(command.WithHint(err, hint), 1)
				}
				return term.Line(cmd.OutOrStdout(), "landed on "+t.Onto+": "+worktree.Changed(t.Work()))
			})
		},
	}
}

func newDrop() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "drop RUN…",
		Short: "Remove trees with their branches and all that is only there",
		Example: `Drop one, after a question:
  belay trees drop 3f9c1a52
Drop two in a script:
  belay trees drop --yes 3f9c1a52 7b1e66aa`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		std := command.Streams(cmd)
		for _, word := range args {
			err := with(cmd, word, func(t *worktree.Tree) error {
				if !yes && !stdio.IsTerminal(std.In) {
					return command.Usage(message.Error("a tree is dropped with all that is only there"), "add: --yes")
				}
				if yes || confirmed(std, t) {
					return command.Fail(t.Drop())
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// confirmed asks the user at the terminal whether to lose what goes with a tree.
func confirmed(std stdio.Streams, t *worktree.Tree) bool {
	text := "drop " + printable.Line(t.Path)
	if t.Branch != "" {
		text += fmt.Sprintf(" and branch %s (%s)", t.Branch, worktree.Changed(t.Work()))
	}
	if t.Landed() {
		text += ", which is landed"
	}
	term.Printf(std.Err, "belay: %s? [y/N] ", text)
	line, _ := bufio.NewReader(std.In).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "y")
}
