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
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := store(cmd.Context())
			if err != nil {
				return err
			}
			list, err := s.List()
			if err != nil {
				return command.Fail(err)
			}
			if asJSON {
				var objects []treeJSON
				for _, t := range list {
					objects = append(objects, treeJSON{t.Run, t.Task, t.Name, stateOf(t), t.Path, t.Branch, t.Onto, t.Base, t.Saved, t.Size(), t.Created})
				}
				return term.JSONLines(cmd.OutOrStdout(), objects)
			}
			if len(list) == 0 {
				return term.Line(cmd.OutOrStdout(), "no run has a tree of its own")
			}
			var rows [][]term.Piece
			for _, t := range list {
				rows = append(rows, term.Cells(printable.ShortID(t.Run), stateOf(t), t.Branch, printable.Size(t.Size()), term.Span(time.Since(t.Created)), t.Path))
			}
			return term.Table(cmd.OutOrStdout(), columns, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	cmd.AddCommand(newShow(), newLand(), newDrop())
	return cmd
}

var columns = []term.Column{{Heading: "RUN", Kind: term.Whole, Style: term.Faint}, {Heading: "STATE", Kind: term.Whole}, {Heading: "BRANCH", Kind: term.Path, Min: 16},
	{Heading: "SIZE", Kind: term.Number, Drop: 2}, {Heading: "AGE", Kind: term.Number, Drop: 1}, {Heading: "PATH", Kind: term.Path, Drop: 3}}

// treeJSON is a tree as others read it.
type treeJSON struct {
	Run     string    `json:"run"`
	Task    string    `json:"task"`
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Path    string    `json:"path"`
	Branch  string    `json:"branch"`
	Onto    string    `json:"onto"`
	Base    string    `json:"base"`
	Saved   []string  `json:"saved"`
	Size    int64     `json:"size_bytes"`
	Created time.Time `json:"created"`
}

// stateOf is how far the work in a tree has come.
func stateOf(t *worktree.Tree) string {
	switch busy := t.Busy(); {
	case busy:
		return string(worktree.Working)
	case t.State == worktree.Working, t.State == worktree.Landing, t.State == worktree.Making:
		return string(worktree.Killed)
	case t.State == worktree.Done && t.Landed():
		return string(worktree.Landed)
	}
	return string(t.State)
}

// store is where the trees of this user are kept.
func store(ctx context.Context) (*worktree.Store, error) {
	state, err := command.OpenState()
	if err != nil {
		return nil, err
	}
	return worktree.Of(state.Dir, command.Supervisor(ctx)), nil
}

// take finds the tree that a word means, the id, name or branch of a run, and takes it. What a killed run has left there is saved first.
func take(ctx context.Context, word string) (*worktree.Tree, error) {
	s, err := store(ctx)
	if err != nil {
		return nil, err
	}
	s.Rescue()
	list, err := s.List()
	if err != nil {
		return nil, command.Fail(err)
	}
	found := slices.DeleteFunc(list, func(t *worktree.Tree) bool {
		return word == "" || !strings.HasPrefix(t.Run, word) && !strings.HasSuffix(t.Run, word) && t.Name != word && t.Task != word && t.Branch != word && t.Path != word && filepath.Base(t.Path) != word
	})
	see := message.See("belay trees")
	switch {
	case len(found) == 0:
		return nil, command.Usage(message.Error(fmt.Sprintf("no tree of %s was found", printable.Line(word))), see)
	case len(found) > 1:
		return nil, command.Usage(message.Error(fmt.Sprintf("%d trees are called %s. Name one by its path", len(found), printable.Line(word))), see)
	}
	if err := found[0].Take(); err != nil {
		return nil, command.Fail(fmt.Errorf("the tree of %s cannot be used: %w", printable.Line(word), err))
	}
	return found[0], nil
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
			t, err := take(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer t.Release()
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
			t, err := take(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer t.Release()
			if t.Branch == "" || t.Onto == "" {
				return command.Usage(message.Error("there is no branch that it could be landed on"), message.AsIn("belay trees show "+printable.Quoted(args[0])))
			}
			if err = t.Reopen(); err == nil && t.State != worktree.Landed {
				_, err = t.Commit("work of run "+t.Run, worktree.Done)
			}
			if err == nil {
				err = t.Land(cmd.Context(), nil)
			}
			if err != nil {
				return command.WithCode(command.WithHint(err, "to merge it by hand: git merge "+printable.Quoted(t.Branch)), 1)
			}
			c := t.Change()
			return term.Line(cmd.OutOrStdout(), fmt.Sprintf("landed on %s: %s", t.Onto, message.Changed(c.Commits, c.Files, c.Added, c.Deleted)))
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
		RunE: func(cmd *cobra.Command, args []string) error {
			std := command.Streams(cmd)
			for _, word := range args {
				t, err := take(cmd.Context(), word)
				if err != nil {
					return err
				}
				if !yes {
					if !stdio.IsTerminal(std.In) {
						t.Release()
						return command.Usage(message.Error("a tree is dropped with all that is only there"), "add: --yes")
					}
					if !confirmed(std, dropped(t)) {
						t.Release()
						continue
					}
				}
				err = t.Drop()
				t.Release()
				if err != nil {
					return command.Fail(err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// dropped says what is lost with a tree.
func dropped(t *worktree.Tree) string {
	text := "drop " + printable.Line(t.Path)
	if t.Branch != "" {
		c := t.Change()
		text += fmt.Sprintf(" and branch %s (%s)", t.Branch, message.Changed(c.Commits, c.Files, c.Added, c.Deleted))
		if t.Landed() {
			text += ", which is landed"
		}
	}
	return text + "?"
}

// confirmed asks the user at the terminal.
func confirmed(std stdio.Streams, question string) bool {
	term.Printf(std.Err, "belay: %s [y/N] ", question)
	line, _ := bufio.NewReader(std.In).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "y")
}
