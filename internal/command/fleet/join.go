package fleet

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleet/files"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/version"
)

// Join is belay fleet join.
func Join(ctx context.Context, r *request.Request) (int, error) {
	address, err := question.FleetAddress(r)
	if err != nil {
		return 0, err
	}
	name := r.Text("name")
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return 0, err
		}
	}
	if strings.ContainsFunc(name, unicode.IsControl) || len(name) > 200 {
		return 0, &request.UsageError{Err: message.Error("--name: too long, or has control characters")}
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := &member.Member{Name: name, Version: version.String(), State: &state.State{Dir: dir}, Address: address, Say: r.Say}
	if labels := r.Text("label"); labels != "" {
		m.Labels = strings.Split(labels, ",")
	}
	return 0, joinWorking(ctx, r, m, r.Text("workers"), r.Text("allow"))
}

// joinWorking is belay fleet join of a machine that also works on jobs: as a member, and once it is one, as a worker.
func joinWorking(ctx context.Context, r *request.Request, m *member.Member, workers, allowed string) error {
	count, err := strconv.Atoi(workers)
	if err != nil || count < 0 || count > 1000 {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("--workers: %q is not a number between 0 and 1000", workers))}
	}
	if count == 0 {
		return m.Run(ctx)
	}
	allow, err := allowance(allowed)
	if err != nil {
		return err
	}
	s, key, err := openPatiently(ctx, r, m.Address)
	if err != nil || s == nil {
		return err
	}
	defer s.Close()
	if key.OfSubmitter() {
		return &request.UsageError{Err: message.Error(message.FleetKeyOnlySubmits(keyFile()))}
	}
	question.LazyGC()
	debug.SetMemoryLimit(512 << 20) // results may be large
	w := &jobs.Worker{Store: s, Machine: m.Name, Labels: m.Labels, Count: count, Key: key, Dir: filepath.Join(m.State.Dir, "fleet", "jobs"), Cache: &files.Cache{Dir: filepath.Join(m.State.Dir, "fleet", "git")}, Belay: r.Belay, Say: r.Say,
		Runs: m.State.Records(), Allow: jobs.Allow{Profiles: allow.Profiles, Plain: allow.Plain, Roots: allow.Roots, Repositories: allow.Repositories, Archives: allow.Archives, Env: allow.Env, Restrict: config.ForJob}}
	return w.RunAs(ctx, m)
}

// allowance is what jobs may do on this machine: what the user's settings say, and the flag.
func allowance(allowed string) (allow config.Fleet, err error) {
	user, err := config.ReadUser()
	if err != nil {
		return allow, &request.UsageError{Err: err}
	}
	allow = user.Fleet()
	for one := range strings.SplitSeq(allowed, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if err := allow.Add(one); err != nil {
			return allow, &request.UsageError{Err: fmt.Errorf("--allow: %w", err)}
		}
	}
	if len(allow.Profiles)+len(allow.Plain) == 0 {
		return allow, &request.UsageError{Err: message.Error(fmt.Sprintf(`--workers: this machine allows no jobs yet. Say what they may run, such as --allow claude, or in %s: [fleet] allow = ["claude", "/srv/work"]`, config.UserFile()))}
	}
	return allow, nil
}

// openPatiently is openWithKey that waits for a PostgreSQL that cannot be reached. The fleet is nil if the context has ended before.
func openPatiently(ctx context.Context, r *request.Request, address *store.Address) (*store.Store, *jobs.Key, error) {
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
			r.Say(message.FleetWaiting(err))
		}
		select {
		case <-ctx.Done():
			return nil, nil, nil
		case <-time.After(min(5*time.Second, 200*time.Millisecond<<min(tries, 6))):
		}
	}
}
