package member

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/gatefile"

	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise"
)

// slots leases the slots of --max-parallel. A run takes a slot by locking its file. The member holds the locks of those that are not leased to this
// machine, so that no run gets them, and frees one when it is leased. While it runs, only the member makes such files.
type slots struct {
	*session
	dir string
}

// slotFiles are the slots of a machine, from one connection to the next.
type slotFiles struct {
	// closed are the locks of slots that are not this machine's, by the paths of their files.
	closed map[string]*os.File
	// leased are those that are, and since when they have not been in use as far as is known.
	leased map[store.Slot]time.Time
	// elsewhere says that other machines wait for slots that this one has.
	elsewhere bool
	// wanted is how many slots there are of keys at which runs of this machine wait for one.
	wanted map[string]int
	asked  time.Time // when those were last asked for
}

const (
	// retryTime is how often a slot is asked for again that was not to be had.
	retryTime = time.Second
	// giveTime is how often it is looked whether a slot that another machine waits for has become idle.
	giveTime = 100 * time.Millisecond
	// idleTime is after which time a slot is given back that is not in use.
	idleTime = time.Minute
)

// lock takes the lock of a slot's file; nil if a run holds it.
func lock(path string) (file *os.File, err error) {
	if file, err = safefile.OpenOwn(path, os.O_RDWR); err != nil {
		return nil, err
	}
	if held, err := flock.Try(file, flock.Exclusive); !held || err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// close takes the lock of a slot's file, and reports whether it has it: a run may hold it. The file is made if it is missing. It says that the slot is not this machine's also when the
// lock is gone, because the member was restarted or killed.
func (f *slotFiles) close(path string) bool {
	if f.closed[path] != nil {
		return true
	}
	file, err := lock(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.make(path)
	}
	if file == nil {
		return false
	}
	mark(file)
	f.closed[path] = file
	return true
}

// mark writes into the file of a slot that it is not this machine's.
func mark(file *os.File) {
	file.Truncate(0)
	file.WriteAt([]byte(gatefile.Elsewhere+"\n"), 0)
}

// make makes the file of a slot. It has its name only once it is locked: no run must get it in between. Nor must it have two names for a moment: a run that
// finds a file it does not trust starts without a slot.
func (f *slotFiles) make(path string) bool {
	tmp := path + ".new"
	os.Remove(tmp) // there is one member
	file, err := safefile.CreateOwn(tmp)
	if err != nil {
		return false
	}
	held, err := flock.Try(file, flock.Exclusive)
	if err == nil && held {
		mark(file)
		err = os.Rename(tmp, path)
	}
	if err != nil || !held {
		os.Remove(tmp)
		file.Close()
		return false
	}
	f.closed[path] = file
	return true
}

// open lets runs of this machine take a slot.
func (f *slotFiles) open(path string) {
	if file := f.closed[path]; file != nil {
		file.Truncate(0)
		file.Close()
		delete(f.closed, path)
	}
}

// end gives up the locks. For a while the slots stay as they were leased, for the next member.
func (f *slotFiles) end() {
	for path, file := range f.closed {
		file.Close()
		delete(f.closed, path)
	}
}

// idle reports whether no run holds the slot. For a moment it then seems to be taken.
func (f *slotFiles) idle(path string) bool {
	if f.closed[path] != nil {
		return true
	}
	file, err := lock(path)
	if file != nil {
		file.Close()
	}
	return file != nil || errors.Is(err, fs.ErrNotExist)
}

// adopt closes the slots that there are. Those that runs hold already are leased, as far as they are free: what is in use when the machine joins stays.
func (s *slots) adopt(ctx context.Context) error {
	names, err := safefile.ReadOwnDir(s.dir)
	if err != nil {
		return nil // there are no gates yet
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".slot") {
			continue
		}
		if path := filepath.Join(s.dir, name); !s.isLeased(path) && !s.slotFiles.close(path) {
			if err := s.leaseHeld(ctx, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *slots) isLeased(path string) bool {
	for slot := range s.slotFiles.leased {
		if gatefile.Slot(s.dir, slot.Key, slot.Index) == path {
			return true
		}
	}
	return false
}

// leaseHeld leases the slot of a file that a run holds, if its key is known: by the run's record it is not, unless its name says so.
func (s *slots) leaseHeld(ctx context.Context, path string) error {
	base := strings.TrimSuffix(filepath.Base(path), ".slot")
	at := max(0, strings.LastIndexByte(base, '.'))
	key := base[:at]
	index, err := strconv.Atoi(strings.TrimPrefix(base[at:], "."))
	if err != nil || key == "" || gatefile.Name(key) != key {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	_, ok, err := s.store.LeaseSlot(ctx, s.id, key, index+1, index)
	if ok {
		s.slotFiles.leased[store.Slot{Key: key, Index: index}] = time.Now()
	}
	return err
}

// scan looks for what runs ask for.
func (s *slots) scan(ctx context.Context) error {
	wants, err := gatefile.Wants(s.dir)
	if err != nil {
		s.gates.trouble(err)
		return nil
	}
	for _, w := range wants {
		s.slotFiles.wanted[w.Key] = w.Slots
		if err := s.lease(ctx, w.Key, w.Slots); err != nil {
			return err
		}
	}
	return nil
}

// lease leases one slot more of a key.
func (s *slots) lease(ctx context.Context, key string, n int) error {
	if strings.ContainsRune(key, 0) {
		return nil
	}
	for i := range n {
		path := gatefile.Slot(s.dir, key, i)
		if _, ours := s.slotFiles.leased[store.Slot{Key: key, Index: i}]; !ours {
			s.slotFiles.close(path)
		} else if s.slotFiles.idle(path) { // there is one already
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	index, ok, err := s.store.LeaseSlot(ctx, s.id, key, n, -1)
	if err != nil || !ok {
		return err
	}
	s.slotFiles.leased[store.Slot{Key: key, Index: index}] = time.Now()
	s.slotFiles.open(gatefile.Slot(s.dir, key, index))
	return nil
}

// tick asks again, and looks whether there is something to give, as often as each is due.
func (s *slots) tick(ctx context.Context) error {
	if s.slotFiles.elsewhere {
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	if len(s.slotFiles.wanted) == 0 || time.Since(s.slotFiles.asked) < retryTime {
		return nil
	}
	return s.again(ctx)
}

// inUse closes the slots that no run uses, and returns the others: when the member ends, these stay leased for a while.
func (s *slots) inUse() (list []store.Slot) {
	for slot := range s.slotFiles.leased {
		if !s.slotFiles.close(gatefile.Slot(s.dir, slot.Key, slot.Index)) {
			list = append(list, slot)
		}
	}
	return list
}

// again asks again for what was not to be had, for as long as runs wait for it.
func (s *slots) again(ctx context.Context) error {
	s.settle()
	s.slotFiles.asked = time.Now()
	for key, n := range s.slotFiles.wanted {
		if err := s.lease(ctx, key, n); err != nil {
			return err
		}
	}
	return nil
}

// settle forgets what no run waits for any more.
func (s *slots) settle() {
	if len(s.slotFiles.wanted) == 0 {
		return
	}
	runs, err := overview.Runs(s.State.Records())
	if err != nil {
		return
	}
	for key := range s.slotFiles.wanted {
		if !slices.ContainsFunc(runs, func(r supervise.Record) bool {
			return r.State == supervise.StateWaiting && strings.HasPrefix(r.Reason, "gate "+key+": "+overview.AllTaken())
		}) {
			delete(s.slotFiles.wanted, key)
		}
	}
}

// look gives back slots that no run here uses, of keys for which other machines wait for one.
func (s *slots) look(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, askWithin)
	keys, err := s.store.SlotsWanted(asking, s.id)
	cancel()
	s.slotFiles.elsewhere = len(keys) > 0
	for _, key := range keys {
		if err == nil {
			err = s.give(ctx, key, false)
		}
	}
	return err
}

// give gives back a slot of a key that no run here uses, because another machine wants one.
func (s *slots) give(ctx context.Context, key string, all bool) error {
	s.settle()
	for slot := range s.slotFiles.leased {
		if slot.Key != key && key != "" || s.slotFiles.wanted[slot.Key] > 0 {
			continue
		}
		path := gatefile.Slot(s.dir, slot.Key, slot.Index)
		if !s.slotFiles.idle(path) {
			s.slotFiles.leased[slot] = time.Now()
			continue
		}
		if all && time.Since(s.slotFiles.leased[slot]) < idleTime || !s.slotFiles.close(path) {
			continue
		}
		delete(s.slotFiles.leased, slot)
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		err := s.store.FreeSlot(ctx, s.id, slot)
		if cancel(); err != nil || !all {
			return err
		}
	}
	return nil
}

// renew renews the leases, and closes the slots that have become another's meanwhile.
func (s *slots) renew(ctx context.Context) error {
	ctx2, cancel := context.WithTimeout(ctx, askWithin)
	list, err := s.store.RenewSlots(ctx2, s.id)
	cancel()
	if err != nil {
		return err
	}
	ours := map[store.Slot]bool{}
	for _, slot := range list {
		ours[slot] = true
		if _, known := s.slotFiles.leased[slot]; !known { // the answer that said so has not arrived, or an earlier member had it
			s.slotFiles.leased[slot] = time.Now()
			path := gatefile.Slot(s.dir, slot.Key, slot.Index)
			s.slotFiles.close(path)
			s.slotFiles.open(path)
		}
	}
	for slot := range s.slotFiles.leased {
		if ours[slot] {
			continue
		}
		delete(s.slotFiles.leased, slot)
		path := gatefile.Slot(s.dir, slot.Key, slot.Index)
		if s.slotFiles.close(path) {
			continue
		}
		ctx2, cancel := context.WithTimeout(ctx, askWithin)
		_, ok, err := s.store.LeaseSlot(ctx2, s.id, slot.Key, slot.Index+1, slot.Index)
		cancel()
		if err != nil {
			return err
		}
		if ok {
			s.slotFiles.leased[slot] = time.Now()
			continue
		}
		s.Say(fmt.Sprintf("gate %s has more runs than slots for now: this machine was out of reach for too long", slot.Key))
	}
	return s.give(ctx, "", true)
}
