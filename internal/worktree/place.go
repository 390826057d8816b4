package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Plan is a tree that could be made of a directory; none is, and what is not possible is refused. ref is the commit to begin from, empty for the one that is
// checked out, and below the directory for the tree, empty for that of the store.
func (s *Store) Plan(dir, ref, below string) (*Tree, error) {
	t := &Tree{store: s, below: below}
	g, name := s.git(dir), printable.Line(dir)
	var err error
	asked := func(what string) (text string) {
		if err == nil {
			text, err = g.call("rev-parse", what)
		}
		return text
	}
	switch bare := asked("--is-bare-repository"); {
	case err != nil:
		return nil, message.Error(name+" is not in a git repository", err)
	case bare == "true":
		return nil, errors.New(name + " is a bare repository, which has no work tree")
	}
	outer := asked("--show-superproject-working-tree")
	t.Top, t.Prefix = asked("--show-toplevel"), asked("--show-prefix")
	if err == nil {
		t.Common, t.Onto, err = g.at()
	}
	t.Base = g.object(cmp.Or(ref, "HEAD") + "^{commit}")
	switch {
	case err != nil:
		return nil, err
	case outer != "":
		return nil, fmt.Errorf("%s is in a submodule. Start in the repository around it, %s", name, printable.Line(outer))
	case t.Base == "" && cmp.Or(ref, "HEAD") == "HEAD":
		return nil, errors.New("the repository has no commit yet")
	case t.Base == "":
		return nil, fmt.Errorf("%s names no commit", printable.Line(ref))
	case t.Prefix != "" && g.try("cat-file", "-e", t.Base+":"+t.Prefix) != nil:
		return nil, fmt.Errorf("%s is not in the commit that the tree would be made from", printable.Line(t.Prefix))
	case g.object("refs/heads/belay") != "":
		return nil, errors.New("a branch called belay is in the way of belay/…. To rename it: git branch -m belay NEWNAME")
	}
	if below == "" {
		return t, nil
	}
	if t.below, err = filepath.Abs(below); err != nil {
		return nil, err
	}
	g.dir = t.Top
	ignored, _ := errors.AsType[*failure](g.try("check-ignore", "--quiet", "--", filepath.Join(t.below, "x")))
	if ignored != nil && ignored.code == 1 { // it is 128 outside of the repository
		const what = "%s is in the repository, which does not ignore it. Add it to .gitignore, or choose another directory"
		return nil, fmt.Errorf(what, printable.Line(below))
	}
	return t, nil
}

// branchName is the name of a branch for a run: of what the run is called, as far as git takes that, or of its id.
func branchName(name, run string) string {
	text := []rune(regexp.MustCompile(`[^\pL\pN_]+`).ReplaceAllString(name, "-"))
	return "belay/" + cmp.Or(strings.Trim(string(text[:min(len(text), 60)]), "-"), printable.ShortID(run))
}
