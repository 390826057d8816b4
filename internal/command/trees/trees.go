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
		Args: command.NoArgs, RunE: list,
	}
	cmd.Flags().Bool("json", false, "print JSON, one object per line")
	dropped := &cobra.Command{
		Use: "drop RUN…", Short: "Remove trees with their branches and all that is only there", Args: cobra.MinimumNArgs(1), RunE: each(drop),
		Example: `Drop one, after a question:
  belay trees drop 3f9c1a52
Drop two in a script:
  belay trees drop --yes 3f9c1a52 7b1e66aa`,
	}
	dropped.Flags().Bool("yes", false, "do not ask")
	cmd.AddCommand(&cobra.Command{
		Use: "show RUN", Short: "Show what a run has changed in its tree", Args: cobra.ExactArgs(1), RunE: each(show),
		Example: `Show it as a diff, with what is not committed:
  belay trees show 3f9c1a52
Keep it as a patch:
  belay trees show 3f9c1a52 >work.patch`,
	}, &cobra.Command{
		Use: "land RUN", Short: "Bring the work of a run into the branch that it came from", Args: cobra.ExactArgs(1), RunE: each(land),
		Example: `Land it: fast-forward, rebased or merged:
  belay trees land 3f9c1a52`,
		Long: `Brings the work into the branch that was checked out when the tree was made. What is not committed in the tree is committed first. Where you have changed the same
files, and in a conflict, nothing of yours is touched, and the branch stays.`,
	}, dropped)
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
	Size int64 `json:"size_bytes"`
}

func list(cmd *cobra.Command, _ []string) error {
	list, err := trees(cmd.Context())
	if err != nil {
		return err
	}
	var objects []treeJSON
	var rows [][]term.Piece
	for _, t := range list {
		if t.State == worktree.Done && t.Landed() { // by the user
			t.State = worktree.Landed
		}
		size, age := safefile.Size(t.Path), term.Span(time.Since(t.Created))
		objects = append(objects, treeJSON{t, size})
		rows = append(rows, term.Cells(printable.ShortID(t.Run), string(t.State), t.Branch, printable.Size(size), age, t.Path))
	}
	asJSON, _ := cmd.Flags().GetBool("json")
	switch {
	case asJSON:
		return term.JSONLines(cmd.OutOrStdout(), objects)
	case len(list) == 0:
		return term.Line(cmd.OutOrStdout(), "no run has a tree of its own")
	}
	return term.Table(cmd.OutOrStdout(), columns, rows)
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

// each does something with the trees that words mean, which it takes: the ids, names or branches of runs.
func each(do func(*cobra.Command, *worktree.Tree) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, words []string) error {
		for _, word := range words {
			t, err := find(cmd.Context(), word)
			if err != nil {
				return err
			}
			if err := t.Take(time.Second); err != nil {
				return command.Fail(fmt.Errorf("the tree of %s cannot be used: %w", printable.Line(word), err))
			}
			err = do(cmd, t)
			t.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// find finds the tree that a word means.
func find(ctx context.Context, word string) (*worktree.Tree, error) {
	list, err := trees(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(list, func(t *worktree.Tree) bool {
		names := []string{t.Name, t.Task, t.Branch, t.Path, filepath.Base(t.Path)}
		return word == "" || !slices.Contains(names, word) && !printable.IsPart(word, t.Run)
	})
	if len(found) == 1 {
		return found[0], nil
	}
	name := printable.Line(word)
	why := fmt.Sprintf("no tree of %s was found", name)
	if len(found) > 1 {
		why = fmt.Sprintf("%d trees are called %s. Name one by its path", len(found), name)
	}
	return nil, command.Usage(message.Error(why), message.See("belay trees"))
}

func show(cmd *cobra.Command, t *worktree.Tree) error {
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
}

func land(cmd *cobra.Command, t *worktree.Tree) error {
	if t.Branch == "" || t.Onto == "" {
		see := message.AsIn("belay trees show " + printable.ShortID(t.Run))
		return command.Usage(message.Error("there is no branch that it could be landed on"), see)
	}
	_, err := t.Renew(0, "", t.State, nil)
	if err == nil {
		_, err = t.Commit("work of run "+t.Run, worktree.Done)
	}
	if err == nil {
		err = t.Land(cmd.Context(), nil)
	}
	if err != nil {
		return command.WithCode(command.WithHint(err, "to merge it by hand: git merge "+printable.Quoted(t.Branch)), 1)
	}
	return term.Line(cmd.OutOrStdout(), "landed on "+t.Onto+": "+worktree.Changed(t.Work()))
}

// drop asks the user at the terminal whether to lose what goes with a tree.
func drop(cmd *cobra.Command, t *worktree.Tree) error {
	if yes, _ := cmd.Flags().GetBool("yes"); yes {
		return command.Fail(t.Drop())
	}
	std := command.Streams(cmd)
	if !stdio.IsTerminal(std.In) {
		return command.Usage(message.Error("a tree is dropped with all that is only there"), "add: --yes")
	}
	text := "drop " + printable.Line(t.Path)
	if t.Branch != "" {
		text += fmt.Sprintf(" and branch %s (%s)", t.Branch, worktree.Changed(t.Work()))
	}
	if t.Landed() {
		text += ", which is landed"
	}
	term.Printf(std.Err, "belay: %s? [y/N] ", text)
	line, _ := bufio.NewReader(std.In).ReadString('\n')
	if strings.EqualFold(strings.TrimSpace(line), "y") {
		return command.Fail(t.Drop())
	}
	return nil
}
