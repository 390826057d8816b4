// Package worktree gives runs work trees of their own, so that the user's is not touched until work is done.
//
// A [Tree] is a git worktree on a branch of its own, below the state directory. It is made at the commit that its [Place] names, and all attempts of a run find it at the
// same path. [Tree.Save] keeps what an attempt has changed as a commit below refs/belay/RUN, without touching the tree; [Tree.Fresh] makes the tree as it was
// made. [Tree.Commit] puts all of it on the branch, and [Tree.Land] brings that into the branch that was checked out: see there for what is never touched.
//
// The [Store] knows all trees, each by a file; who works in one holds its lock, which the system frees however it ends. [Store.Rescue] saves what is in trees whose
// owners are dead. Only [Tree.Drop] and [Tree.Prune] remove one.
//
// Nothing that was written is lost: what is about to be replaced is saved first, and what cannot be saved (another repository, files that git ignores) stays where it is, and a
// fresh start gets another path. All is done by the user's git. It is told where the repository is, and does not look for it: what an agent has left in a tree, as a .git that
// leads elsewhere, is not asked.
package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise"
)

// State is how far the work in a tree has come.
type State string

const (
	Making      State = "making"      // it is being made, or what makes it ready runs
	Working     State = "working"     // a run works in it, or has left it to be continued
	Killed      State = "killed"      // its run was killed, and what was not committed is saved
	Failed      State = "failed"      // what there is is committed
	Done        State = "done"        // likewise
	Landing     State = "landing"     // likewise, and it is being brought into its branch
	Conflict    State = "conflict"    // likewise, and it could not be brought into its branch
	Landed      State = "landed"      // it is part of the branch that it came from
	Kept        State = "kept"        // a fresh start got another path, because not all that is in it could be saved
	Interrupted State = "interrupted" // the run was stopped, and may continue
)

// Tree is a work tree of a run.
type Tree struct {
	ID   string `json:"id"`
	Run  string `json:"run"` // the last one that has worked in it
	Task string `json:"task,omitempty"`
	Name string `json:"name,omitempty"`
	Place
	Path    string    `json:"path"` // empty if only the branch is left
	Admin   string    `json:"admin"`
	Branch  string    `json:"branch"` // without refs/heads/
	State   State     `json:"state"`
	Saved   []string  `json:"saved,omitempty"` // refs
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Made is what was in it once it was ready, as a git tree, and Ignored stands for what git ignores of that.
	Made    string `json:"made,omitempty"`
	Ignored string `json:"ignored,omitempty"`

	store *Store
	lock  *os.File
}

// Store is where trees are kept.
type Store struct {
	Dir   string // for what is known of them, and for trees that are to be nowhere else
	Start Start
	Run   string // the run that git is called for; empty for none
}

// errBusy says that another process works in a tree.
var errBusy = errors.New("a run is working in it")

func (s *Store) recordPath(id string) string { return filepath.Join(s.Dir, id+".json") }

// List are all trees, the oldest first.
func (s *Store) List() (list []*Tree, err error) {
	names, err := safefile.ReadOwnDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			if t, err := s.load(id); err == nil {
				list = append(list, t)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Tree) int { return a.Created.Compare(b.Created) })
	return list, nil
}

func (s *Store) load(id string) (*Tree, error) {
	data, err := safefile.ReadOwn(s.recordPath(id), 1<<20)
	t := &Tree{store: s}
	if err == nil {
		err = json.Unmarshal(data, t)
	}
	if err == nil && t.ID != id {
		err = fmt.Errorf("%s does not belong to %s", s.recordPath(id), id)
	}
	return t, err
}

func (t *Tree) save(state State) error {
	t.State, t.Updated = state, time.Now().UTC()
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return atomicfile.Write(t.store.recordPath(t.ID), ".new-*", append(data, '\n'))
}

// claim takes the lock of a tree, whose file may be removed by who has it.
func (s *Store) claim(id string) (*os.File, error) {
	path := filepath.Join(s.Dir, id+".lock")
	for {
		f, err := flock.OpenAll(path)
		if err != nil {
			return nil, err
		}
		held, err := flock.Try(f, flock.Exclusive)
		if held && err == nil {
			opened, err := f.Stat()
			named, nerr := os.Lstat(path)
			if err == nil && nerr == nil && os.SameFile(opened, named) {
				return f, nil
			}
			f.Close()
			continue
		}
		f.Close()
		if err == nil {
			err = errBusy
		}
		return nil, err
	}
}

// await is claim that waits for one who only saves what is there.
func (s *Store) await(id string) (f *os.File, err error) {
	err = flock.Wait(func() (bool, error) {
		f, err = s.claim(id)
		if errors.Is(err, errBusy) {
			return false, nil
		}
		return err == nil, err
	}, func(waited time.Duration) error {
		if waited > time.Minute {
			return errBusy
		}
		return nil
	})
	return f, err
}

// Take takes a tree for this process alone. What is known of it is read again.
func (t *Tree) Take() error {
	f, err := t.store.claim(t.ID)
	if err != nil {
		return err
	}
	now, err := t.store.load(t.ID)
	if err != nil {
		f.Close()
		return err
	}
	*t = *now
	t.lock = f
	return nil
}

// Release lets others take the tree.
func (t *Tree) Release() {
	if t != nil && t.lock != nil {
		t.lock.Close()
		t.lock = nil
	}
}

// Busy reports whether a process works in the tree.
func (t *Tree) Busy() bool {
	if t.lock != nil {
		return true
	}
	f, err := t.store.claim(t.ID)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, errBusy)
}

// Order is what a run wants of its tree.
type Order struct {
	ID, Run, Task, Name string // ID is the run's, or that of its task, which finds the tree of an earlier run again
	Dir, Ref            string // where the caller is, and what to begin from
	Below               string // the directory for the tree; empty means the store's
}

// Check refuses what no tree can be made for.
func (s *Store) Check(o *Order) (Place, error) {
	p, err := s.find(o.Dir, o.Ref)
	if err != nil || o.Below == "" {
		return p, err
	}
	below, err := filepath.Abs(o.Below)
	if err != nil {
		return p, err
	}
	for at := below; ; at = filepath.Dir(at) { // the nearest directory that is there
		real, err := filepath.EvalSymlinks(at)
		if err != nil && at != filepath.Dir(at) {
			continue
		}
		rest, _ := filepath.Rel(at, below)
		in, err := filepath.Rel(p.Top, filepath.Join(real, rest))
		if err == nil && filepath.IsLocal(in) && !(git{start: s.Start, dir: p.Top, run: s.Run}).is("check-ignore", "--quiet", "--", filepath.Join(in, "x")) {
			return p, fmt.Errorf("%s is in the repository, which does not ignore it. Add it to .gitignore, or choose another directory", printable.Line(o.Below))
		}
		return p, nil
	}
}

// Enter finds the tree of an order, or makes it. again says that it is there from an earlier run, as that has left it.
func (s *Store) Enter(o *Order, p Place) (t *Tree, again bool, err error) {
	if err := safefile.MakeOwnDir(s.Dir); err != nil {
		return nil, false, err
	}
	lock, err := s.await(o.ID)
	if err != nil {
		return nil, false, err
	}
	if t, err = s.load(o.ID); err == nil && t.Common == p.Common && t.Prefix == p.Prefix {
		t.lock = lock
		if t.sound() == nil && t.State != Making {
			t.Run, t.Name = o.Run, o.Name
			return t, true, t.save(t.State)
		}
		if t.State == Making && len(t.Saved) == 0 { // nothing has worked in it
			err = t.discard()
		} else {
			err = t.leave("before", t.Branch, t.State)
		}
		if err != nil {
			lock.Close()
			return nil, false, err
		}
	}
	below := o.Below
	if below == "" {
		below = s.Dir
	}
	if below, err = filepath.Abs(below); err == nil {
		err = os.MkdirAll(below, 0o700)
	}
	if err == nil {
		below, err = filepath.EvalSymlinks(below)
	}
	t = &Tree{ID: o.ID, Run: o.Run, Task: o.Task, Name: o.Name, Place: p, store: s, lock: lock, Created: time.Now().UTC()}
	t.Path = filepath.Join(below, filepath.Base(p.Top)+"-"+printable.ShortID(o.ID))
	if err == nil {
		err = t.reserve()
	}
	if err == nil {
		err = t.add()
	}
	if err != nil {
		t.Release()
		return nil, false, err
	}
	return t, false, nil
}

// repo is git in the repository, and not in the tree.
func (t *Tree) repo() git {
	return git{start: t.store.Start, dir: t.store.Dir, run: t.store.Run, env: []string{"GIT_DIR=" + t.Common}}
}

// git is git in the tree. It is told where that belongs: what is in the tree may say something else.
func (t *Tree) git() git {
	return git{start: t.store.Start, dir: t.Path, run: t.store.Run, env: []string{"GIT_DIR=" + t.Admin, "GIT_WORK_TREE=" + t.Path}}
}

// zero is the name of no commit: a ref that is made must not be there.
const zero = "0000000000000000000000000000000000000000"

// none is [zero], as long as the names of commits are in this repository.
func (t *Tree) none() string { return strings.Repeat(zero, 2)[:len(t.Base)] }

// reserve makes the branch, under a name that is free.
func (t *Tree) reserve() (err error) {
	name := t.Name
	if name == "" {
		name = printable.ShortID(t.Run)
	}
	first := branchName(name)
	if first == branches+"/" {
		first += printable.ShortID(t.Run)
	}
	for n := 1; n < 1000; n++ {
		if t.Branch = first; n > 1 {
			t.Branch = fmt.Sprintf("%s-%d", first, n)
		}
		if t.repo().is("show-ref", "--verify", "--quiet", t.ref()) {
			continue
		}
		if err = t.save(Making); err != nil {
			return err
		}
		if err = t.repo().try("update-ref", "-m", "belay: new tree", t.ref(), t.Base, t.none()); err == nil {
			return nil
		}
		if !t.repo().is("show-ref", "--verify", "--quiet", t.ref()) { // it is not that another was quicker
			break
		}
	}
	os.Remove(t.store.recordPath(t.ID))
	return err
}

func (t *Tree) ref() string { return "refs/heads/" + t.Branch }

// add makes the tree at its path, or beside it if something is there.
func (t *Tree) add() (err error) {
	path := t.Path
	for n := 2; ; n++ {
		if _, err = os.Lstat(t.Path); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if n > 1000 {
			return errors.New(path + " is there already")
		}
		t.Path = fmt.Sprintf("%s-%d", path, n)
	}
	if err = t.save(Making); err != nil {
		return err
	}
	if err = t.repo().try("worktree", "add", "--quiet", "--force", "--", t.Path, t.Branch); err != nil {
		return err
	}
	g := git{start: t.store.Start, dir: t.Path, run: t.store.Run}
	if t.Admin, err = g.call("rev-parse", "--absolute-git-dir"); err != nil {
		return err
	}
	return t.save(Making)
}

// sound reports what is wrong with a tree: it is gone, or something else is in its place.
func (t *Tree) sound() error {
	if t.Path == "" {
		return errors.New("it is removed; its branch is " + t.Branch)
	}
	info, err := os.Lstat(t.Path)
	if err == nil && !info.IsDir() {
		err = errors.New(t.Path + " is not the tree any more")
	}
	if err == nil {
		_, err = os.Lstat(filepath.Join(t.Admin, "HEAD"))
	}
	return err
}

// Dir is where in the tree the caller's directory is.
func (t *Tree) Dir() string { return filepath.Join(t.Path, filepath.FromSlash(t.Prefix)) }

// Of are the trees that are kept in a state directory. A nil supervisor is the one of a library.
func Of(stateDir string, sup *supervise.Supervisor) *Store {
	if sup == nil {
		sup = &supervise.Supervisor{}
	}
	return &Store{Dir: filepath.Join(stateDir, "trees"), Start: func(spec supervise.Spec) (supervise.Exit, error) { return sup.Run(spec, nil) }}
}
