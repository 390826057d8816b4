//go:build !norecord

package companion

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleet/files"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// keyVariable names the file with the key of the fleet.
const keyVariable = "BELAY_FLEET_KEY"

// keyFile is the file with the key of the fleet: that of the environment, or the one beside the user's settings.
func keyFile() string {
	return cmp.Or(os.Getenv(keyVariable), filepath.Join(filepath.Dir(config.UserFile()), "fleet.key"))
}

// findKey finds the key of the fleet.
func findKey(ctx context.Context, s *store.Store) (*jobs.Key, error) {
	key, err := jobs.FindKey(ctx, s, keyFile())
	if err != nil && !store.Unreachable(err) {
		err = &usageError{err: err}
	}
	return key, err
}

// courierCommand carries the tasks of belay batch --fleet to the fleet, and their results back.
func courierCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	address, err := fleetAddress(args)
	if err != nil {
		return 0, err
	}
	s, key, err := openWithKey(ctx, address)
	if store.Unreachable(err) && ctx.Err() == nil { // it is starting, has no connection left, or is away: nothing was submitted
		from.say(err.Error())
		return codeLater, nil
	}
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return 0, jobs.Follow(ctx, &jobs.Client{Store: s, Key: key}, from.In, from.Out.Raw())
}

// settleKey makes the key of a fleet, unless it is to have none.
func settleKey(ctx context.Context, from caller, s *store.Store, plain bool) error {
	if plain {
		return jobs.Settle(ctx, s, nil)
	}
	key, made, err := jobs.MakeKey(keyFile())
	if err != nil {
		return err
	}
	if err := jobs.Settle(ctx, s, key); err != nil {
		return err
	}
	if made {
		return term.Line(from.Out, fmt.Sprintf("jobs are encrypted with the key in %s; copy it to each machine that submits jobs or works on them", keyFile()))
	}
	return nil
}

// joinWorking is belay fleet join of a machine that also works on jobs: as a member, and once it is one, as a worker.
func (c caller) joinWorking(ctx context.Context, m *member.Member, workers, allowed string) error {
	count, err := strconv.Atoi(workers)
	if err != nil || count < 0 || count > 1000 {
		return &usageError{err: message.Error(fmt.Sprintf("--workers: %q is not a number between 0 and 1000", workers))}
	}
	if count == 0 {
		return m.Run(ctx)
	}
	user, err := config.ReadUser()
	if err != nil {
		return &usageError{err: err}
	}
	allow := user.Fleet()
	for one := range strings.SplitSeq(allowed, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if err := allow.Add(one); err != nil {
			return &usageError{err: fmt.Errorf("--allow: %w", err)}
		}
	}
	if len(allow.Profiles)+len(allow.Plain) == 0 {
		return &usageError{err: message.Error(fmt.Sprintf(`--workers: this machine allows no jobs yet. Say what they may run, such as --allow claude, or in %s: [fleet] allow = ["claude", "/srv/work"]`, config.UserFile()))}
	}
	s, key, err := c.openPatiently(ctx, m.Address)
	if err != nil || s == nil {
		return err
	}
	defer s.Close()
	if key.OfSubmitter() {
		return &usageError{err: message.Error(message.FleetKeyOnlySubmits(keyFile()))}
	}
	lazyGC()
	debug.SetMemoryLimit(512 << 20) // results may be large
	w := &jobs.Worker{Store: s, Machine: m.Name, Labels: m.Labels, Count: count, Key: key, Dir: filepath.Join(m.State.Dir, "fleet", "jobs"), Cache: &files.Cache{Dir: filepath.Join(m.State.Dir, "fleet", "git")}, Belay: c.path, Say: c.say,
		Runs: m.State.Records(), Allow: jobs.Allow{Profiles: allow.Profiles, Plain: allow.Plain, Roots: allow.Roots, Repositories: allow.Repositories, Archives: allow.Archives, Env: allow.Env, Restrict: config.ForJob}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	joined, draining, worked := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	m.Joined, m.Draining = func() { close(joined) }, func() { close(draining) }
	go func() {
		select {
		case <-joined:
			worked <- w.Run(ctx, draining)
		case <-ctx.Done():
			worked <- nil
		}
		cancel()
	}()
	err = m.Run(ctx)
	cancel()
	if werr := <-worked; err == nil {
		err = werr
	}
	return err
}

// openPatiently is openWithKey that waits for a PostgreSQL that cannot be reached. The fleet is nil if the context has ended before.
func (c caller) openPatiently(ctx context.Context, address *store.Address) (*store.Store, *jobs.Key, error) {
	for tries := 0; ; tries++ {
		s, key, err := openWithKey(ctx, address)
		switch {
		case err == nil:
			return s, key, nil
		case ctx.Err() != nil:
			return nil, nil, nil
		case !store.Unreachable(err):
			return nil, nil, err
		case tries == 0:
			c.say(message.FleetWaiting(err))
		}
		select {
		case <-ctx.Done():
			return nil, nil, nil
		case <-time.After(min(5*time.Second, 200*time.Millisecond<<min(tries, 6))):
		}
	}
}

// openWithKey opens the fleet of a worker and finds its key.
func openWithKey(ctx context.Context, address *store.Address) (*store.Store, *jobs.Key, error) {
	s, err := store.Open(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	key, err := findKey(ctx, s)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, key, nil
}
