package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/safefile"
)

// Cache keeps the repositories that jobs have used, so that each commit is fetched once. Only one process may use it at a time.
type Cache struct {
	Dir string

	mu    sync.Mutex
	locks map[string]chan struct{} // full while a job fetches the repository
}

const (
	// forgetAfter is how long a repository stays that no job uses.
	forgetAfter = 30 * 24 * time.Hour
	// fetching is the suffix of a file that is there while a repository is fetched. One that was there before says that git may have been killed, and
	// may have left locks in the repository.
	fetching = ".fetching"
	// fetchTries is how often a fetch is tried.
	fetchTries = 3
)

// fullCommit is the name of a commit, whole: nothing that could also be a branch, an option or an expression.
var fullCommit = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// archiveName is the name of an archive: it is also the name of a file.
var archiveName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// CheckArchive refuses what does not name an archive. Whether the machine takes archives at all is not its concern.
func CheckArchive(f *fleetpipe.Files) error {
	if !archiveName.MatchString(f.Archive) || *f != (fleetpipe.Files{Archive: f.Archive}) {
		return message.Error(message.FilesNoArchive())
	}
	return nil
}

// Check refuses what does not name a commit of a repository. Whether the machine allows the repository is not its concern.
func Check(f *fleetpipe.Files) (Repository, error) {
	r, err := ParseRepository(f.Repository)
	switch {
	case err != nil:
		return r, err
	case !fullCommit.MatchString(f.Commit):
		return r, message.Error(fmt.Sprintf("%s is not the full name of a commit", printable.Line(fmt.Sprintf("%.80q", f.Commit))))
	case f.Dir != "" && !filepath.IsLocal(filepath.FromSlash(f.Dir)):
		return r, message.Error(message.FilesNoSubDir(f.Dir))
	}
	return r, nil
}

// CheckOut makes the directory to, with the commit checked out in a repository of its own, and returns the directory in it that the job works in. What is
// done there changes nothing in the cache.
func (c *Cache) CheckOut(ctx context.Context, f *fleetpipe.Files, to string) (dir string, err error) {
	r, err := Check(f)
	if err != nil {
		return "", err
	}
	source, err := c.fetch(ctx, r, f.Commit)
	if err != nil {
		return "", err
	}
	if _, err := (git{dir: c.Dir, alone: true, protocol: "file"}).run(ctx, "clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", source, to); err != nil {
		return "", err
	}
	g := git{dir: to, alone: true}
	for _, args := range [][]string{
		{"remote", "set-url", "origin", r.String()},
		{"checkout", "--quiet", "--detach", "--no-recurse-submodules", f.Commit, "--"},
	} {
		if _, err := g.run(ctx, args...); err != nil {
			return "", err
		}
	}
	return below(to, f.Dir)
}

// below is a directory within a tree that was just checked out. Links in the tree could lead out of it.
func below(root, rel string) (string, error) {
	if rel == "" {
		return root, nil
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil || !Within(real, dir) {
		return "", message.Error(message.FilesNoSubDir(rel))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", message.Error(message.FilesNoSubDir(rel))
	}
	return dir, nil
}

// fetch makes sure that the cache has a commit, and returns the repository that has it.
func (c *Cache) fetch(ctx context.Context, r Repository, commit string) (dir string, err error) {
	unlock, err := c.lock(ctx, r)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := safefile.MakeOwnDir(c.Dir); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(r.String()))
	dir = filepath.Join(c.Dir, hex.EncodeToString(sum[:12]))
	mark := dir + fetching
	_, err = os.Lstat(mark)
	broken := err == nil
	if broken {
		unlockGit(dir)
	} else if c.has(ctx, dir, commit) {
		now := time.Now()
		os.Chtimes(dir, now, now)
		return dir, nil
	}
	if err := safefile.WriteOwn(mark, nil); err != nil {
		return "", err
	}
	err = c.update(ctx, r, dir)
	if err != nil && broken && ctx.Err() == nil { // what was killed has left more than locks
		os.RemoveAll(dir)
		err = c.update(ctx, r, dir)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx) // git may have been killed
	}
	os.Remove(mark)
	switch {
	case err != nil:
		return "", message.Error(fmt.Sprintf("cannot fetch %s: %v", printable.Line(r.String()), err), err)
	case !c.has(ctx, dir, commit):
		return "", message.Error(fmt.Sprintf("commit %.12s is on no branch and no tag of %s. Push it first", commit, printable.Line(r.String())))
	}
	return dir, nil
}

// update fetches all branches and tags of a repository into the directory dir, which is made if it is not there.
func (c *Cache) update(ctx context.Context, r Repository, dir string) error {
	if _, err := (git{dir: c.Dir, alone: true}).run(ctx, "init", "--quiet", "--bare", "--template=", "--", dir); err != nil {
		return err
	}
	for try := 1; ; try++ {
		_, err := git{dir: dir, protocol: r.protocol, time: fetchTime}.run(ctx, "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--end-of-options", r.String(),
			"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
		if err == nil || ctx.Err() != nil || try == fetchTries {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unlockGit removes the locks that a killed git has left in a repository. The repository itself stays: jobs may be working on clones that use its objects.
func unlockGit(dir string) {
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(path, ".lock") {
			os.Remove(path)
		}
		return nil
	})
}

// has reports whether a commit is on a branch or a tag. The object alone does not count: servers keep the commits of forks in the same store.
func (c *Cache) has(ctx context.Context, dir, commit string) bool {
	on, err := git{dir: dir, alone: true}.run(ctx, "for-each-ref", "--count=1", "--contains="+commit, "refs/heads", "refs/tags")
	return err == nil && on != ""
}

// lock waits until no other job fetches the repository.
func (c *Cache) lock(ctx context.Context, r Repository) (unlock func(), err error) {
	c.mu.Lock()
	if c.locks == nil {
		c.locks = map[string]chan struct{}{}
	}
	lock := c.locks[r.String()]
	if lock == nil {
		lock = make(chan struct{}, 1)
		c.locks[r.String()] = lock
	}
	c.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// isCached reports whether a path belongs to a repository which fetch has made, or to its mark.
func isCached(path string) bool {
	name := strings.TrimSuffix(filepath.Base(path), fetching)
	if data, err := hex.DecodeString(name); err != nil || len(data) != 12 {
		return false
	}
	_, err := os.Lstat(filepath.Join(path, "HEAD"))
	return err == nil || strings.HasSuffix(path, fetching)
}

// Sweep removes repositories that no job has used for long. It is called before the first one is used.
func (c *Cache) Sweep() {
	names, err := safefile.ReadOwnDir(c.Dir)
	if err != nil {
		return
	}
	for _, name := range names {
		path := filepath.Join(c.Dir, name)
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > forgetAfter && isCached(path) {
			os.RemoveAll(path)
		}
	}
}
