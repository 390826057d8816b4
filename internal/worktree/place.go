package worktree

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Place is where a tree is made from: a directory of the caller's, in a work tree of a repository.
type Place struct {
	Top    string `json:"top"`            // of the caller's work tree
	Common string `json:"common"`         // the repository
	Prefix string `json:"prefix"`         // the directory below the top, with a slash at its end; empty at the top
	Base   string `json:"base"`           // that trees are made from
	Onto   string `json:"onto,omitempty"` // the branch that is checked out; empty if none is
}

// find finds the place that a directory is, and refuses what a tree cannot be made from. ref is the commit to begin from; empty means the one that is checked out.
func (s *Store) find(dir, ref string) (p Place, err error) {
	g := git{start: s.Start, dir: dir, run: s.Run}
	kind, err := g.call("rev-parse", "--is-bare-repository", "--is-inside-work-tree")
	switch {
	case err != nil:
		return p, message.Error(printable.Line(dir)+" is not in a git repository", err)
	case strings.HasPrefix(kind, "true"):
		return p, errors.New(printable.Line(dir) + " is a bare repository, which has no work tree")
	case kind != "false\ntrue":
		return p, errors.New(printable.Line(dir) + " is not in the work tree of its repository")
	}
	asked := func(args ...string) (text string) {
		if err == nil {
			text, err = g.call(append([]string{"rev-parse"}, args...)...)
		}
		return text
	}
	outer := asked("--show-superproject-working-tree")
	p.Top, p.Prefix, p.Common = asked("--show-toplevel"), asked("--show-prefix"), asked("--git-common-dir")
	if err != nil {
		return p, err
	}
	if outer != "" {
		return p, fmt.Errorf("%s is in a submodule. Start in the repository around it, %s", printable.Line(dir), printable.Line(outer))
	}
	if !filepath.IsAbs(p.Common) {
		p.Common = filepath.Join(dir, p.Common)
	}
	if ref == "" {
		ref = "HEAD"
	}
	if p.Base, err = g.call("rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"); err != nil {
		if ref == "HEAD" {
			return p, errors.New("the repository has no commit yet")
		}
		return p, fmt.Errorf("%s names no commit", printable.Line(ref))
	}
	p.Base = strings.TrimPrefix(p.Base, "--end-of-options\n")
	p.Onto, _ = g.call("symbolic-ref", "--quiet", "HEAD")
	p.Onto = strings.TrimPrefix(p.Onto, "refs/heads/")
	switch {
	case p.Prefix != "" && !g.is("cat-file", "-e", p.Base+":"+p.Prefix):
		return p, fmt.Errorf("%s is not in the commit that the tree would be made from", printable.Line(strings.TrimSuffix(p.Prefix, "/")))
	case g.is("show-ref", "--verify", "--quiet", "refs/heads/"+branches):
		return p, fmt.Errorf("a branch called %s is in the way of %s/…. To rename it: git branch -m %s NEWNAME", branches, branches, branches)
	}
	return p, nil
}

// branches is what the names of branches begin with, before a slash.
const branches = "belay"

// branchName is the name of a branch for a run: of what the run is called, as far as git takes that.
func branchName(name string) string {
	const most = 60
	text := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(text, "--") || strings.Contains(text, "..") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "--", "-"), "..", ".")
	}
	text = string([]rune(text)[:min(most, len([]rune(text)))])
	return branches + "/" + strings.TrimSuffix(strings.Trim(text, "-."), ".lock")
}
