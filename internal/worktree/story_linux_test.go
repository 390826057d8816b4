package worktree

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// storyVar has what a process of a story does until it is killed.
const storyVar = "BELAY_TEST_TREE_STORY"

func TestMain(m *testing.M) {
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if text := os.Getenv(storyVar); text != "" {
		var o operation
		json.Unmarshal([]byte(text), &o)
		if o.LargestFile > 0 {
			syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: o.LargestFile, Max: o.LargestFile})
		}
		if err := o.do(Of(o.State, nil)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// operation is what Belay does to a tree.
type operation struct {
	What, State, ID, Top string
	FullDisk             bool
	LargestFile          uint64 // stands for a full disk where no disk can be made
}

// errNoTree says that there is none of that id any more.
var errNoTree = errors.New("no tree")

func (o *operation) do(s *Store) error {
	if o.What == "enter" {
		t, err := s.Plan(o.Top, "", "")
		if err != nil {
			return err
		}
		t.ID, t.Run, t.Name = o.ID, o.ID, "story"
		if err := t.Enter(); err != nil {
			return err
		}
		defer t.Release()
		return o.renew(t, 0, "")
	}
	t, err := s.load(o.ID)
	if err != nil {
		return errNoTree
	}
	for range 1000 { // a process that was killed while it forked holds the lock for a moment
		if err = t.Take(0); !errors.Is(err, errBusy) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		return err
	}
	defer t.Release()
	if t.Path == "" && o.What != "drop" && o.What != "prune" {
		return errNoTree
	}
	switch o.What {
	case "save":
		return t.Save("attempt", t.State)
	case "fresh":
		return o.renew(t, 1, t.Base)
	case "commit":
		_, err = t.Commit("work", Done)
	case "land":
		if _, err = t.Commit("work", Done); err == nil && t.Onto != "" {
			err = t.Land(context.Background(), func() error {
				return os.WriteFile(filepath.Join(t.Path, "checked"), []byte(o.ID+time.Now().String()), 0o600)
			})
		}
	case "prune":
		_, err = t.Prune(false)
	case "drop":
		err = t.Drop()
	}
	return err
}

// renew makes a tree ready, with what a user's setup does to a new one.
func (o *operation) renew(t *Tree, last int, base string) error {
	state := t.State
	if state == Making {
		state = Working
	}
	_, err := t.Renew(last, base, state, func() error {
		os.WriteFile(filepath.Join(t.Path, "made.ign"), []byte("made by the setup of "+o.ID), 0o600)
		return nil
	})
	return err
}

// story is a repository, its user, and agents that work in trees of it.
type story struct {
	t     *testing.T
	r     *rand.Rand
	top   string
	state string
	disk  string // the directory of a small disk that both are on; empty if it is another one
	store *Store
	ids   []string
	told  []string // what has happened
	n     int
}

func (s *story) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return string(out), err
}

var storyNames = []string{"a.txt", "b.txt", "dir/c.txt", "dir/deep/d", "x.ign", "ign/y", "with space", "new\nline", "\xff\xfe", "dir.txt", "link", ":(top)odd", "-f", "ümlaut"}

// write changes something in a work tree as an agent or a user does.
func (s *story) write(dir, who string) {
	s.n++
	name := storyNames[s.r.IntN(len(storyNames))]
	path := filepath.Join(dir, name)
	text := fmt.Sprintf("%s %d %d\n%s", who, s.n, s.r.Uint64(), strings.Repeat("line\n", s.r.IntN(5)))
	s.told = append(s.told, "")
	tell := func(format string, args ...any) {
		s.told[len(s.told)-1] += who + ": " + fmt.Sprintf(format, args...) + "; "
	}
	switch what := s.r.IntN(16); what {
	case 0, 1, 2, 3:
		os.MkdirAll(filepath.Dir(path), 0o755)
		tell("write %q %v", name, os.WriteFile(path, []byte(text), 0o644))
	case 4:
		tell("remove %q %v", name, os.Remove(path))
	case 5:
		other := storyNames[s.r.IntN(len(storyNames))]
		tell("rename %q %q %v", name, other, os.Rename(path, filepath.Join(dir, other)))
	case 6:
		tell("chmod %q %v", name, os.Chmod(path, 0o755))
	case 7:
		os.Remove(path)
		tell("link %q %v", name, os.Symlink("/nowhere/"+strconv.Itoa(s.n), path))
	case 8:
		os.RemoveAll(path)
		os.MkdirAll(path, 0o755)
		tell("directory %q %v", name, os.WriteFile(filepath.Join(path, "in"), []byte(text), 0o644))
	case 9:
		os.MkdirAll(filepath.Dir(path), 0o755)
		tell("large %q %v", name, os.WriteFile(path, []byte(strings.Repeat(text, 3000)), 0o644))
	case 10:
		_, err := s.git(dir, "add", "-A", "--", ".")
		os.WriteFile(filepath.Join(dir, "a.txt"), []byte("after staging "+text), 0o644)
		tell("stage %v", err)
	case 11:
		_, err := s.git(dir, "commit", "-qam", who)
		tell("commit %v", err)
	case 12:
		if who == "user" {
			os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.ign\nign/\nnested/\n"), 0o644)
			tell("ignore more")
			return
		}
		nested := filepath.Join(dir, "nested")
		s.git(dir, "init", "-q", nested)
		tell("nested %v", os.WriteFile(filepath.Join(nested, "n"), []byte(text), 0o644))
	case 13:
		if who == "user" {
			return
		}
		_, err := s.git(dir, "checkout", "-q", "-b", "other-"+strconv.Itoa(s.n))
		tell("branch %v", err)
	case 14:
		if who == "user" {
			return
		}
		os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.ign\nign/\nb.txt\n"), 0o644)
		tell("ignore a file")
	case 15:
		if _, err := os.Lstat(path); err == nil {
			_, err := s.git(dir, "update-index", "--assume-unchanged", "--", name)
			os.WriteFile(path, []byte("hidden "+text), 0o644)
			tell("hide %q %v", name, err)
		}
	}
}

// blobs are the contents of all files in a directory, as git names them, with where they are.
func blobs(dir string) map[string]string {
	found := map[string]string{}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		var data []byte
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			data = []byte(to)
		case d.Type().IsRegular():
			data, _ = os.ReadFile(path)
		default:
			return nil
		}
		sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
		found[hex.EncodeToString(sum[:])] = path
		return nil
	})
	return found
}

// reachable is all that refs lead to.
func (s *story) reachable() map[string]string {
	found := map[string]string{}
	out, err := s.git(s.top, "rev-list", "--objects", "--no-object-names", "--all")
	if err != nil {
		s.t.Fatal(err)
	}
	for name := range strings.Lines(out) {
		found[strings.TrimSpace(name)] = "a ref"
	}
	return found
}

// written is all that is on disk: in files and in what is staged.
func (s *story) written() map[string]string {
	found := blobs(s.top)
	dirs := []string{s.top}
	list, _ := s.store.list()
	for _, t := range list {
		if t.Path != "" {
			maps.Copy(found, blobs(t.Path))
			dirs = append(dirs, t.Path)
		}
	}
	for _, dir := range dirs {
		out, _ := s.git(dir, "ls-files", "-s", "-z")
		for line := range strings.SplitSeq(out, "\x00") {
			if fields := strings.Fields(line); len(fields) > 2 && fields[0] != "160000" {
				found[fields[1]] = "the index of " + dir
			}
		}
	}
	return found
}

// users is what a user sees of a work tree: what is checked out, staged, and in the files.
func (s *story) users() string {
	head, _ := s.git(s.top, "rev-parse", "HEAD")
	name, _ := s.git(s.top, "symbolic-ref", "-q", "HEAD")
	index, _ := s.git(s.top, "ls-files", "-s", "-v")
	var list []string
	for sum, path := range blobs(s.top) {
		list = append(list, path+" "+sum)
	}
	slices.Sort(list)
	return head + name + index + strings.Join(list, "\n")
}

// operate has Belay do something, killed at some moment or not, and says what must hold then.
func (s *story) operate(o operation, kill bool) {
	o.State, o.Top = s.state, s.top
	before, refs, users := s.written(), s.reachable(), s.users()
	gone := o.What == "drop"
	told := fmt.Sprintf("belay: %s %s", o.What, o.ID)
	var err error
	if kill || o.FullDisk {
		emptied := s.fill(&o)
		text, _ := json.Marshal(o)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), storyVar+"="+string(text))
		var said strings.Builder
		cmd.Stderr = &said
		must.OK(s.t, cmd.Start())
		if kill {
			after := time.Duration(s.r.IntN(120)) * time.Millisecond
			told += fmt.Sprintf(", killed after %v", after)
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		err = cmd.Wait()
		emptied()
		told += " " + said.String()
		s.settle(o.ID)
		s.store.List() // which saves what it has left
	} else {
		err = o.do(s.store)
	}
	s.told = append(s.told, fmt.Sprintf("%s: %v (full disk: %v)", told, err, o.FullDisk))
	after, reach := s.written(), s.reachable()
	for sum, where := range before {
		made := strings.HasSuffix(where, "/made.ign") // by the setup, which makes it again
		if after[sum] == "" && reach[sum] == "" && !gone && !made {
			s.fail("%s, which was in %s, is lost", sum, where)
		}
	}
	for sum := range refs {
		if after[sum] == "" && reach[sum] == "" && !gone && o.What != "prune" {
			kind, _ := s.git(s.top, "cat-file", "-t", sum)
			if strings.TrimSpace(kind) == "blob" {
				s.fail("%s is not reachable any more", sum)
			}
		}
	}
	if now := s.users(); now != users && o.What != "land" {
		s.fail("the user's work tree is another one:\n%s\nbefore:\n%s", now, users)
	}
}

// smallDisk is how many bytes fit on the disk that some stories are played on.
const smallDisk = 24 << 20

// fill leaves little of the disk, if the operation is to find that full, until the function that it returns is called.
func (s *story) fill(o *operation) (empty func()) {
	if !o.FullDisk {
		return func() {}
	}
	if s.disk == "" {
		o.LargestFile = 4 << 10
		return func() {}
	}
	var stat syscall.Statfs_t
	must.OK(s.t, syscall.Statfs(s.disk, &stat))
	filler, left := filepath.Join(s.disk, "filler"), int64(s.r.IntN(12))<<12
	must.OK(s.t, os.WriteFile(filler, make([]byte, max(0, int64(stat.Bavail)*stat.Bsize-left)), 0o600))
	return func() { os.Remove(filler) }
}

// settle waits until what was killed has ended, and all that it had started but what comes to its end.
func (s *story) settle(id string) {
	for range 2000 {
		busy := false
		out, _ := exec.Command("pgrep", "-f", s.top+"|"+s.state).Output()
		for pid := range strings.Lines(string(out)) {
			if n, _ := strconv.Atoi(strings.TrimSpace(pid)); n != os.Getpid() && n > 0 {
				busy = true
			}
		}
		if !busy {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// fail fails with what has happened.
func (s *story) fail(format string, args ...any) {
	s.t.Fatalf(format+"\n%s", append(args, strings.Join(s.told, "\n"))...)
}

func playStory(t *testing.T, seed uint64) {
	root := t.TempDir()
	disk := ""
	if seed%4 == 0 && syscall.Mount("tmpfs", root, "tmpfs", 0, fmt.Sprint("size=", smallDisk)) == nil { // for which one must be root
		disk = root
		t.Cleanup(func() { syscall.Unmount(root, syscall.MNT_DETACH) })
	}
	s := &story{t: t, r: rand.New(rand.NewPCG(seed, 0)), top: filepath.Join(root, "repo"), state: filepath.Join(root, "state"), disk: disk}
	s.store = Of(s.state, nil)
	must.OK(t, os.MkdirAll(s.top, 0o755))
	s.git(s.top, "init", "-q", "-b", "main")
	must.OK(t, os.WriteFile(filepath.Join(s.top, ".gitignore"), []byte("*.ign\nign/\n"), 0o644))
	for range 3 + s.r.IntN(8) {
		s.write(s.top, "first")
	}
	os.RemoveAll(filepath.Join(s.top, "nested"))
	for _, hook := range []string{"pre-commit", "post-checkout", "reference-transaction", "post-merge", "pre-rebase"} {
		os.WriteFile(filepath.Join(s.top, ".git/hooks", hook), []byte("#!/bin/sh\ntouch '"+root+"/hooked'\nexit 1\n"), 0o755)
	}
	os.WriteFile(filepath.Join(s.top, "a.txt"), []byte("first"), 0o644)
	s.git(s.top, "add", "-A")
	if s.r.IntN(20) > 0 { // else there is no commit
		s.git(s.top, "commit", "-qm", "first")
		s.git(s.top, "checkout", "-q", "-B", "main")
	}
	if s.r.IntN(10) == 0 {
		s.git(s.top, "checkout", "-q", "--detach")
	}
	for i := range 1 + s.r.IntN(3) {
		id := fmt.Sprintf("tree%d", i)
		s.ids = append(s.ids, id)
		s.operate(operation{What: "enter", ID: id}, s.r.IntN(6) == 0)
	}
	for range 4 + s.r.IntN(8) {
		id := s.ids[s.r.IntN(len(s.ids))]
		tree, err := s.store.load(id)
		for range s.r.IntN(4) {
			if err == nil && tree.sound() == nil && tree.State != Making { // else no agent has been started yet
				s.write(tree.Path, "agent")
			}
			if s.r.IntN(3) == 0 {
				s.write(s.top, "user")
			}
		}
		if err == nil && s.r.IntN(12) == 0 && tree.sound() == nil {
			os.WriteFile(filepath.Join(tree.Admin, "index.lock"), nil, 0o644)
			s.told = append(s.told, "agent: leaves a lock")
		}
		locked := filepath.Join(s.top, ".git/index.lock")
		if s.r.IntN(15) == 0 {
			os.WriteFile(locked, nil, 0o644)
			s.told = append(s.told, "user: is in the middle of something")
		}
		what := []string{"enter", "save", "fresh", "fresh", "commit", "land", "land", "land", "prune"}[s.r.IntN(9)]
		s.operate(operation{What: what, ID: id, FullDisk: s.r.IntN(12) == 0 || disk != "" && s.r.IntN(3) == 0}, s.r.IntN(5) == 0)
		os.Remove(locked)
	}
	var both sync.WaitGroup // two batches
	for _, id := range s.ids {
		both.Go(func() { (&operation{What: "land", ID: id, Top: s.top}).do(Of(s.state, nil)) })
	}
	both.Wait()
	if _, err := os.Stat(filepath.Join(root, "hooked")); err == nil {
		s.fail("a hook was run")
	}
	list, err := s.store.List()
	must.OK(t, err)
	for _, tree := range list {
		s.operate(operation{What: "drop", ID: tree.ID}, false)
	}
	if left, _ := s.git(s.top, "worktree", "list"); strings.Count(left, "\n") != 1 {
		s.fail("after all was dropped: %s", left)
	}
	if left, _ := s.git(s.top, "for-each-ref", "refs/belay", "refs/heads/belay"); left != "" {
		s.fail("after all was dropped: %s", left)
	}
	t.Log(strings.Join(s.told, "\n"))
}

// Stories of agents and a user who write at once, of trees that are saved, made anew, landed and pruned, of kills and full disks: nothing that was written is lost, and the user's
// work tree is what it was. BELAY_TEST_STORIES says how many, and BELAY_TEST_SEED with which one to begin.
func TestStories(t *testing.T) {
	count, first := 6, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("BELAY_TEST_STORIES")); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("BELAY_TEST_SEED"), 10, 64); err == nil {
		first = n
	}
	t.Logf("%d stories tried, from seed %d on", count, first)
	for i := range uint64(count) {
		t.Run(fmt.Sprint(first+i), func(t *testing.T) { playStory(t, first+i) })
	}
}
