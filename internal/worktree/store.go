// Package worktree gives runs work trees of their own, so that the user's is not touched until work is done.
//
// A [Tree] is a git worktree on a branch of its own, below the state directory. [Store.Plan] finds the commit that it is to be made of, [Tree.Enter] takes it, or the one that was
// made before, and [Tree.Renew] makes it ready for each attempt: as it was left, or anew. What an attempt has changed is kept below refs/belay/RUN, as [Tree.Save] does too.
// [Tree.Commit] puts all of it on the branch, and [Tree.Land] brings that into the branch that was checked out: see there for what is never touched.
//
// The [Store] knows all trees, each by a file; who works in one has its slot, which the system frees however it ends. [Store.List] saves what is in trees whose
// owners are dead. Only [Tree.Drop] and [Tree.Prune] remove one.
//
// Nothing that was written is lost: what is about to be replaced is saved first, and what cannot be saved (another repository, files that git ignores) stays where it is, and a
// fresh start gets another path. All is done by the user's git. It is told where the repository is, and does not look for it: what an agent has left in a tree, as a .git that
// leads elsewhere, is not asked.
package worktree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise"
)

// State is how far the work in a tree has come.
type State string

const (
	Making      State = "making"      // it is being made, or what makes it ready runs: no run has worked in it yet
	Working     State = "working"     // a run works in it
	Killed      State = "killed"      // its run was killed, and what was not committed is saved
	Interrupted State = "interrupted" // its run was stopped, and may continue; likewise
	Failed      State = "failed"      // what there is is committed
	Done        State = "done"        // likewise
	Landing     State = "landing"     // likewise, and it is being brought into its branch
	Conflict    State = "conflict"    // likewise, and it could not be brought into its branch
	Landed      State = "landed"      // it is part of the branch that it came from
	Kept        State = "kept"        // a fresh start got another path, because not all that is in it could be saved
)

// Tree is a work tree of a run.
type Tree struct {
	ID   string `json:"id"`
	Run  string `json:"run"` // the last one that has worked in it
	Task string `json:"task"`
	Name string `json:"name"`

	Top    string `json:"top"`            // of the caller's work tree
	Common string `json:"common"`         // the repository
	Prefix string `json:"prefix"`         // the caller's directory below the top, with a slash at its end; empty at the top
	Base   string `json:"base"`           // the commit that it is made from
	Onto   string `json:"onto,omitempty"` // the branch that is checked out there; empty if none is

	Path    string    `json:"path"`   // empty if only the branch is left
	Admin   string    `json:"admin"`  // what git keeps of it
	Branch  string    `json:"branch"` // without refs/heads/
	State   State     `json:"state"`
	Saved   []string  `json:"saved"` // refs
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Made is what its setup has made of it, as a git tree, and Ignored stands for what git ignores of that.
	Made    string `json:"made"`
	Ignored string `json:"ignored"`

	store *Store
	below string     // the directory that it is to be made in
	slot  *gate.Slot // is taken by who works in it
}

// Store is where trees are kept.
type Store struct {
	Dir   string // for what is known of them, and for trees that are to be nowhere else
	Start Start
	Run   string // the run that git is called for; empty for none
}

// Of are the trees that are kept in a state directory. A nil supervisor is the one of a library.
func Of(stateDir string, sup *supervise.Supervisor) *Store {
	sup = cmp.Or(sup, &supervise.Supervisor{})
	start := func(spec supervise.Spec) (supervise.Exit, error) { return sup.Run(spec, nil) }
	return &Store{Dir: filepath.Join(stateDir, "trees"), Start: start}
}

func (s *Store) file(id string) string { return filepath.Join(s.Dir, id+".json") }

// list are all trees, the oldest first.
func (s *Store) list() (list []*Tree, err error) {
	names, err := safefile.ReadOwnDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			if t, err := s.load(id); err == nil {
				list = append(list, t)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Tree) int { return a.Created.Compare(b.Created) })
	return list, err
}

// List are all trees, the oldest first, as far as they are now. What killed runs have left in them is saved before.
func (s *Store) List() ([]*Tree, error) {
	list, err := s.list()
	for _, t := range list {
		switch err := t.Take(0); {
		case errors.Is(err, errBusy):
			t.State = Working
		case err == nil:
			if t.Release(); t.State == Making {
				t.State = Killed
			}
		}
	}
	return list, err
}

// Dirs are where runs work that were started in a directory, and have trees of their own in the state directory.
func Dirs(stateDir, dir string) (dirs []string) {
	real, _ := filepath.EvalSymlinks(dir)
	list, _ := Of(stateDir, nil).list()
	for _, t := range list {
		if filepath.Join(t.Top, filepath.FromSlash(t.Prefix)) == real {
			dirs = append(dirs, t.Dir())
		}
	}
	return dirs
}

func (s *Store) load(id string) (*Tree, error) {
	t := &Tree{store: s}
	data, err := safefile.ReadOwn(s.file(id), 1<<20)
	if err == nil {
		err = json.Unmarshal(data, t)
	}
	t.ID = id
	return t, err
}

func (t *Tree) save(state State) error {
	t.State, t.Updated = state, time.Now().UTC()
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return atomicfile.Write(t.store.file(t.ID), ".new-*", append(data, '\n'))
}

// errBusy says that another process works in a tree.
var errBusy = errors.New("a run is working in it")

// claim takes what one process may have at a time, and waits that long for another.
func (s *Store) claim(ctx context.Context, key string, patience time.Duration) (slot *gate.Slot, err error) {
	slots := gate.Slots{Dir: s.Dir, Fleeting: true}
	err = flock.Wait(func() (held bool, err error) {
		if slot, err = slots.Take(key, 1, ""); errors.Is(err, gate.ErrFull) {
			err = nil
		}
		return slot != nil, err
	}, func(waited time.Duration) error {
		if waited >= patience {
			return errBusy
		}
		return context.Cause(ctx)
	})
	return slot, err
}

// free is the first of name, name-2, name-3 and so on that is not taken.
func free(name string, taken func(string) bool) string {
	one := name
	for n := 2; taken(one); n++ {
		one = fmt.Sprintf("%s-%d", name, n)
	}
	return one
}

// exists reports whether there is anything at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// after is what becomes of the state of a tree whose run was killed.
var after = map[State]State{Working: Killed, Landing: Done}

// Take takes the tree for this process alone, and waits that long for another. What is known of it is read again, and what a killed run has left in it is saved. One that
// is only planned is yet to be made then.
func (t *Tree) Take(patience time.Duration) error {
	slot, err := t.store.claim(context.Background(), t.ID, patience)
	if err != nil {
		return err
	}
	now, err := t.store.load(t.ID)
	if errors.Is(err, fs.ErrNotExist) && t.State == "" {
		now, err = t, nil
		t.State, t.Created = Making, time.Now().UTC()
	}
	if err != nil {
		slot.Free()
		return err
	}
	*t = *now
	t.slot = slot
	if next := after[t.State]; next != "" {
		t.keep("killed")
		if next == Done { // all was on its branch
			t.restore()
		}
		t.save(next) // else the next one tries again
	}
	return nil
}

// Release lets others take the tree.
func (t *Tree) Release() { t.slot.Free() }

// git is git in a directory.
func (s *Store) git(dir string, env ...string) git { return git{s.Start, dir, env, s.Run} }

// repo is git in the repository, and not in the tree.
func (t *Tree) repo() git { return t.store.git(t.store.Dir, "GIT_DIR="+t.Common) }

// register calls git worktree. That comes to its end though we are killed: what it leaves of half a tree breaks git worktree for all others of the repository.
func (t *Tree) register(args ...string) error {
	g := t.repo()
	g.run = ""
	for pause := 10 * time.Millisecond; ; pause *= 2 {
		err := g.try(append([]string{"worktree"}, args...)...)
		// It reads the files of all trees first, and ends if another git is just making one.
		if err == nil || pause > time.Second || !strings.Contains(err.Error(), "/commondir") {
			return err
		}
		time.Sleep(pause)
	}
}

// git is git in the tree. It is told where that belongs: what is in the tree may say something else.
func (t *Tree) git(env ...string) git {
	return t.store.git(t.Path, append(env, "GIT_DIR="+t.Admin, "GIT_WORK_TREE="+t.Path)...)
}

func (t *Tree) ref() string { return "refs/heads/" + t.Branch }

// sound reports what is wrong with a tree: it is gone, or something else is in its place.
func (t *Tree) sound() error {
	info, err := os.Lstat(t.Path)
	if err == nil && (!info.IsDir() || t.Admin == "") {
		err = errors.New(t.Path + " is not the tree any more")
	}
	if err == nil {
		_, err = os.Lstat(filepath.Join(t.Admin, "HEAD"))
	}
	return err
}

// Dir is where in the tree the caller's directory is.
func (t *Tree) Dir() string { return filepath.Join(t.Path, filepath.FromSlash(t.Prefix)) }
