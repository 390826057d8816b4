package member

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/fleet/merge"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
)

// gates carries gates between the local files and PostgreSQL.
type gates struct {
	*session
	files *gate.Files
	said  string // what was last said of a file that could not be used
}

// shared is what both sides last agreed upon for one gate.
type shared struct {
	base  gate.State // by PostgreSQL's clock
	local gate.State // the same as it is in the file, by ours
	// version is the version of PostgreSQL.
	version int64
	// recalled says that an earlier process of this machine agreed to it. It may have agreed to something later, too.
	recalled bool
	turn
}

// syncAll exchanges every gate that either side knows.
func (g *gates) syncAll(ctx context.Context) error {
	ctx2, cancel := context.WithTimeout(ctx, askWithin)
	remote, err := g.store.Gates(ctx2)
	cancel()
	if err != nil {
		return err
	}
	for key := range remote {
		if err := g.sync(ctx, key); err != nil {
			return err
		}
	}
	for key := range g.kept.gates {
		if _, done := remote[key]; !done {
			if err := g.sync(ctx, key); err != nil {
				return err
			}
		}
	}
	return g.scan(ctx)
}

// scan exchanges the gates whose files have changed.
func (g *gates) scan(ctx context.Context) error {
	entries, err := g.files.List()
	if err != nil {
		g.trouble(err)
		return nil
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Key] = true
		if known := g.kept.gates[e.Key]; known == nil || !merge.Same(merge.Own(e.State), known.local) {
			if err := g.sync(ctx, e.Key); err != nil {
				return err
			}
		}
	}
	for key, known := range g.kept.gates {
		if !there[key] && !merge.Same(known.local, gate.State{}) {
			if err := g.sync(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// trouble says once that a file could not be used. Work goes on.
func (g *gates) trouble(err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) || g.said == err.Error() {
		return
	}
	g.said = err.Error()
	g.Say(message.FleetLocalTrouble("gates", err))
}

// sync exchanges one gate: what has changed here since the last time goes out, and what has changed elsewhere comes in.
func (g *gates) sync(ctx context.Context, key string) error {
	if strings.ContainsRune(key, 0) { // PostgreSQL has no such texts
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	file, err := g.files.Load(key)
	if err != nil {
		g.trouble(err)
		if !errors.Is(err, gate.ErrDamaged) {
			return nil
		}
	}
	ahead, now := g.kept.ahead, clock.Now()
	sent := merge.Own(file)
	local := merge.Shifted(sent, -ahead)
	known := g.kept.gates[key]
	switch {
	case known == nil:
	case merge.Same(sent, known.local):
		local = known.base
	case merge.Same(gate.State{Breaker: sent.Breaker}, gate.State{Breaker: known.local.Breaker}):
		local.Breaker = known.base.Breaker // otherwise each exchange would put the probe off again
	}
	if known == nil {
		known = &shared{}
	}
	wants := 0
	if known.due(sent, now) {
		wants = g.waiting(key)
	}
	var agreed gate.State
	granted := 0
	version, err := g.store.ExchangeGate(ctx, g.id, key, func(at time.Time, remote store.Gate) (gate.State, int) {
		base := known.base
		switch {
		case g.kept.gates[key] == nil:
			base = merge.Meet(local, remote.State)
		case known.recalled:
			base = merge.Since(known.base, local, remote.State)
		}
		agreed = merge.States(base, local, remote.State, at)
		if agreed.Healthy(at) {
			agreed = gate.State{}
		}
		granted = known.grant(agreed, remote.Elsewhere, wants, at)
		g.kept.before = remote.Before
		return agreed, granted
	})
	if err != nil {
		return err
	}
	known.note(sent.Ramp, known.base.Ramp, agreed.Ramp)
	known.base, known.local = agreed, g.ours(agreed)
	known.granted, known.version, known.recalled = granted, version, false
	g.kept.gates[key], g.kept.news = known, true
	return g.apply(key, file, known, now)
}

// look learns what other machines have changed: of the gates with these keys, or of all if keys is nil.
func (g *gates) look(ctx context.Context, keys []string) error {
	asking, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	rows := map[string]store.GateRow{}
	if keys == nil {
		all, err := g.store.Gates(asking)
		if err != nil {
			return err
		}
		rows = all
		for key := range g.kept.gates { // it may be healthy by now
			if _, there := all[key]; !there {
				keys = append(keys, key)
			}
		}
	}
	some, err := g.store.GatesOf(asking, keys)
	if err != nil {
		return err
	}
	maps.Copy(rows, some)
	for key, row := range rows {
		if err := g.learn(ctx, key, row); err != nil {
			return err
		}
	}
	return nil
}

// learn is sync for a gate that another machine may have changed. Where nothing has changed here, the row says all.
func (g *gates) learn(ctx context.Context, key string, row store.GateRow) error {
	known := g.kept.gates[key]
	file, err := g.files.Load(key)
	now := clock.Now()
	switch {
	case err != nil || known == nil && !merge.Same(file, gate.State{}) || known != nil && !merge.Same(merge.Own(file), known.local):
		return g.sync(ctx, key)
	case known == nil:
		known = &shared{}
	case row.Version <= known.version:
		if known.due(known.local, now) { // a turn may have been given back
			return g.sync(ctx, key)
		}
		return nil
	}
	if row.State.Breaker.Phase == breaker.Open && known.base.Breaker.Generation != row.State.Breaker.Generation {
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		if g.kept.before, err = g.store.Before(ctx, g.id); err != nil {
			return err
		}
	}
	known.base, known.local, known.version, known.recalled = row.State, g.ours(row.State), row.Version, false
	g.kept.gates[key], g.kept.news = known, true
	if err := g.apply(key, file, known, now); err != nil {
		return err
	}
	if known.due(known.local, now) && g.waiting(key) > 0 {
		return g.sync(ctx, key)
	}
	return nil
}

// apply writes what was agreed into the file, with what has changed there meanwhile, and keeps the machine's runs out where the turn is not theirs.
func (g *gates) apply(key string, file gate.State, known *shared, now time.Time) error {
	next := func(current gate.State) gate.State {
		after := merge.States(merge.Own(file), merge.Own(current), known.local, now)
		return known.reserve(after, current, now)
	}
	if merge.Same(next(file), file) {
		return nil
	}
	if err := g.files.Update(key, now, next); err != nil {
		g.trouble(err)
	}
	return nil
}

// open lets the machine's runs start as they would without a fleet.
func (g *gates) open() {
	for key := range g.kept.gates {
		file, err := g.files.Load(key)
		if err == nil && len(merge.Own(file).Ramp.Starts) != len(file.Ramp.Starts) {
			g.trouble(g.files.Update(key, clock.Now(), merge.Own))
		}
	}
}

// tidy forgets gates that have become healthy by themselves.
func (g *gates) tidy(ctx context.Context) error {
	now := clock.Now()
	for key, known := range g.kept.gates {
		if merge.Same(known.base, gate.State{}) {
			if known.idle++; known.idle > 20 {
				delete(g.kept.gates, key)
			}
			continue
		}
		known.idle = 0
		if known.local.Healthy(now) {
			if err := g.sync(ctx, key); err != nil {
				return err
			}
		}
	}
	g.keepAgreed()
	return nil
}

// syncLive exchanges the gates that start slowly: the turns of a machine that has gone are free.
func (g *gates) syncLive(ctx context.Context) error {
	now := clock.Now()
	var keys []string
	for key, known := range g.kept.gates {
		if known.local.Ramp.Live(now) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := g.sync(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
