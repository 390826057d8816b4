// Package member is the one process of a machine that takes part in a fleet: it carries what the machine learns of gates to the others, and what they
// learn into the files that belay run reads. Runs know nothing of it. If it ends, or PostgreSQL is away, each machine goes on by itself.
package member

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
)

// Member is a machine that takes part.
type Member struct {
	Name    string
	Labels  []string
	Version string
	State   *state.State
	Address *store.Address
	// Say tells a person what has happened.
	Say func(text string)
	// Draining is called once when the machine is asked to leave; nil if Run is to end then.
	Draining func()
	// Joined is called when the machine has joined for the first time; nil if that is of no use.
	Joined func()

	instance string
	drain    func()
}

const (
	// askWithin is how long PostgreSQL may take to answer.
	askWithin = 5 * time.Second
	// beginWithin is how long it may take to connect and to join.
	beginWithin = 30 * time.Second
	// maxPause is how long is waited at most before PostgreSQL is tried again.
	maxPause = 5 * time.Second
	// steadyTime is after which time a session has worked: one that PostgreSQL refuses something may work until it comes to that.
	steadyTime = 15 * time.Second
)

// Run takes part until the context ends, and then leaves. It waits for a PostgreSQL that cannot be reached: when a machine starts, its network may come up last.
// It returns an error if it cannot begin for another reason.
func (m *Member) Run(ctx context.Context) error {
	lock, err := m.alone()
	if err != nil {
		return err
	}
	defer lock.Close()
	defer m.unreserve()
	ctx, end := context.WithCancel(ctx)
	defer end()
	m.drain = end
	if m.Draining != nil {
		m.drain = m.Draining
	}
	changes, err := watch(m.State.Gates().Dir, m.State.Budgets().Dir)
	if err != nil {
		return err
	}
	defer changes.stop()
	keep := &kept{said: map[string]bool{}, gates: map[string]*shared{},
		slotFiles: &slotFiles{closed: map[string]*os.File{}, leased: map[store.Slot]time.Time{}, wanted: map[string]int{}}}
	defer keep.slotFiles.end()
	t := &trouble{member: m}
	for {
		begun := time.Now()
		err := m.session(ctx, changes, keep, t)
		lasted := time.Since(begun) > steadyTime
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, store.ErrStale): // it was frozen, or has been away for long
			if lasted {
				continue
			}
		case errors.Is(err, store.ErrNameTaken), !keep.joined && !store.Unreachable(err):
			return err
		default:
			t.note(err, keep.joined)
		}
		if retry.Sleep(ctx, t.next(lasted)) != nil {
			return nil
		}
	}
}

// alone takes the lock of the one member that a state directory has, and finds out the name of the directory.
func (m *Member) alone() (*os.File, error) {
	if err := m.State.Prepare(); err != nil {
		return nil, err
	}
	lock, err := flock.OpenAll(gatefile.Lock(m.State.Gates().Dir))
	if err != nil {
		return nil, err
	}
	held := false
	for range 50 { // a run that looks whether there is a member has it for a moment
		if held, err = flock.Try(lock, flock.Exclusive); held || err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil && !held {
		err = message.Error(fmt.Sprintf("belay fleet join is already running for %s", m.State.Dir))
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	path := filepath.Join(m.State.Dir, "fleet-instance")
	data, err := safefile.ReadOwn(path, 100)
	if m.instance = strings.TrimSpace(string(data)); err != nil || m.instance == "" {
		m.instance = rand.Text()
		if err := safefile.WriteOwn(path, []byte(m.instance+"\n")); err != nil {
			lock.Close()
			return nil, err
		}
	}
	return lock, nil
}
