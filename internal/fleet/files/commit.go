package files

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Commit names the commit that is checked out in a directory, so that another machine can check it out. What is in the directory and not in the commit, or
// in a commit that the other machine cannot get, is an error. Files that git does not track do not count.
func Commit(ctx context.Context, dir string) (*fleetpipe.Files, error) {
	g := git{dir: dir}
	top, err := g.run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, message.Error(fmt.Sprintf("%s is not in a git work tree, which --files git needs. --files archive sends any directory", printable.Line(dir)), err)
	}
	prefix, err := g.run(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	commit, err := g.run(ctx, "rev-parse", "--verify", "--end-of-options", "HEAD^{commit}")
	if err != nil {
		return nil, message.Error(fmt.Sprintf("%s has no commit yet", printable.Line(dir)), err)
	}
	top, commit, prefix = strings.TrimSuffix(top, "\n"), strings.TrimSpace(commit), strings.TrimSuffix(prefix, "\n")
	changes, err := git{dir: top}.run(ctx, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	if changes = strings.TrimSpace(changes); changes != "" {
		first, _, _ := strings.Cut(changes, "\n")
		_, first, _ = strings.Cut(strings.TrimSpace(first), " ")
		return nil, message.Error(message.FilesDirty(dir, strings.TrimSpace(first), strings.Count(changes, "\n")))
	}
	remote, text, err := whereFrom(ctx, git{dir: top})
	if err != nil {
		return nil, err
	}
	r, err := ParseRepository(text)
	if err != nil {
		return nil, err
	}
	refs := []string{"refs/tags", "refs/remotes/" + remote}
	if remote == "" {
		refs[1] = "refs/heads"
	}
	on, err := git{dir: top}.run(ctx, append([]string{"for-each-ref", "--count=1", "--contains=" + commit}, refs...)...)
	if err != nil {
		return nil, err
	}
	if on == "" {
		return nil, message.Error(message.FilesNotPushed(commit, remote))
	}
	return &fleetpipe.Files{Repository: r.String(), Commit: commit, Dir: strings.TrimSuffix(prefix, "/")}, nil
}

// whereFrom is the repository that other machines fetch from: the remote of the branch, or origin, or the only remote. A repository without remotes is
// fetched by its own path; remote is then empty.
func whereFrom(ctx context.Context, g git) (remote, text string, err error) {
	list, err := g.run(ctx, "remote")
	if err != nil {
		return "", "", err
	}
	remotes := strings.Fields(list)
	if branch, err := g.run(ctx, "symbolic-ref", "--short", "--quiet", "HEAD"); err == nil {
		if name, err := g.run(ctx, "config", "--get", "branch."+strings.TrimSpace(branch)+".remote"); err == nil && slices.Contains(remotes, strings.TrimSpace(name)) {
			remote = strings.TrimSpace(name)
		}
	}
	switch {
	case remote != "":
	case slices.Contains(remotes, "origin"):
		remote = "origin"
	case len(remotes) == 1:
		remote = remotes[0]
	case len(remotes) > 1:
		return "", "", message.Error(fmt.Sprintf("there are several remotes (%s), and none is origin or that of this branch. Choose one with: git branch --set-upstream-to=REMOTE/BRANCH", printable.Line(strings.Join(remotes, ", "))))
	default:
		text, err := g.run(ctx, "rev-parse", "--git-common-dir")
		return "", absolute(g.dir, strings.TrimSuffix(text, "\n")), err
	}
	if text, err = g.run(ctx, "remote", "get-url", "--", remote); err != nil {
		return "", "", err
	}
	text = strings.TrimSuffix(text, "\n")
	if u, err := url.Parse(text); err == nil && u.User != nil && u.Scheme != "ssh" { // it is the login of this user
		u.User = nil
		text = u.String()
	}
	if !strings.Contains(text, ":") {
		text = absolute(g.dir, text)
	}
	return remote, text, nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
