package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// keyring is a file with a login, which expires when it says.
type keyring struct{ path string }

func newKeyring(t *testing.T, token string, expires time.Time) keyring {
	k := keyring{filepath.Join(t.TempDir(), "login.json")}
	k.renew(token, expires)
	return k
}

// renew puts another login in the place of the one that is there.
func (k keyring) renew(token string, expires time.Time) {
	text := fmt.Sprintf(`{"token":%q,"expires":%d}`, token, expires.UnixMilli())
	if err := errors.Join(os.WriteFile(k.path+".new", []byte(text), 0o600), os.Rename(k.path+".new", k.path)); err != nil {
		panic(err)
	}
}

// runner runs an agent that is logged in by that file.
func (k keyring) runner(info agent.Info) *engine.Runner {
	info.Login = agent.StoredLogin{Path: k.path, Expires: []string{"expires"}}
	return agentRunner(info)
}

// An agent whose login was not accepted is tried once more, at once, if another login is there by then, also without retries: not if it is the
// same, or none, and not for ever.
func TestLogin_Renewed(t *testing.T) {
	far := time.Now().Add(24 * time.Hour)
	next := 0
	renewed := func(k keyring) { next++; k.renew(fmt.Sprint("new", next), far) }
	remove := func(k keyring) { os.Remove(k.path) }
	same := func(k keyring) { k.renew("old", far) }
	noRetries := func(r *engine.Runner, _ *enginetest.Agent) { r.Policy.MaxRetries = retry.None }
	auth, ok, busy := verdict.Auth, verdict.OK, verdict.Overloaded
	for name, tt := range map[string]struct {
		begin    func(k keyring)
		during   []func(k keyring) // what happens to the file in each attempt
		ends     []verdict.Class
		change   func(*engine.Runner, *enginetest.Agent)
		stderr   io.Writer
		attempts int
		class    verdict.Class
		wait     bool // for a retry like any other
	}{
		"renewed":          {during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, attempts: 2, class: ok},
		"the same":         {during: []func(keyring){same}, ends: []verdict.Class{auth}, attempts: 1, class: auth},
		"wrong too":        {during: []func(keyring){renewed}, ends: []verdict.Class{auth}, attempts: 2, class: auth},
		"a new one always": {during: []func(keyring){renewed, renewed, renewed, renewed, renewed}, ends: []verdict.Class{auth}, attempts: 4, class: auth},
		"removed":          {during: []func(keyring){remove}, ends: []verdict.Class{auth}, attempts: 1, class: auth},
		"there at last":    {begin: remove, during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, attempts: 2, class: ok},
		"something else":   {during: []func(keyring){renewed}, ends: []verdict.Class{verdict.Billing}, attempts: 1, class: verdict.Billing},
		"a directory":      {begin: func(k keyring) { os.Remove(k.path); os.Mkdir(k.path, 0o700) }, during: []func(keyring){func(k keyring) { os.Remove(k.path); renewed(k) }}, ends: []verdict.Class{auth}, attempts: 1, class: auth},
		"later than that":  {during: []func(keyring){same, renewed}, ends: []verdict.Class{busy, auth, ok}, attempts: 3, class: ok, wait: true},
		"between others":   {during: []func(keyring){renewed, renewed, renewed, same, renewed}, ends: []verdict.Class{auth, auth, auth, busy, auth, ok}, attempts: 6, class: ok, wait: true},
		"cannot go on": {during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, change: func(_ *engine.Runner, a *enginetest.Agent) {
			a.Refuse = func(turn agent.Turn) error {
				if turn.Continue {
					return errBroken
				}
				return nil
			}
		}, attempts: 1, class: auth},
		"not read":          {during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, stderr: &closedWriter{}, change: noRetries, attempts: 1, class: auth},
		"without retries":   {during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, change: noRetries, attempts: 2, class: ok},
		"one start at most": {during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, change: func(r *engine.Runner, _ *enginetest.Agent) { r.AtMost.Starts = 1 }, attempts: 1, class: auth},
		"a conversation":    {during: []func(keyring){renewed}, ends: []verdict.Class{auth, ok}, change: func(_ *engine.Runner, a *enginetest.Agent) { a.Facts.Once = true }, attempts: 1, class: auth},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeyring(t, "old", far)
				if tt.begin != nil {
					tt.begin(k)
				}
				r := k.runner(agent.Info{})
				if tt.change != nil {
					tt.change(r, r.Profile.(*enginetest.Agent))
				}
				events, begun := observe(r), time.Now()
				var attempts []enginetest.Attempt
				for i := range max(len(tt.ends), len(tt.during)+1) {
					class := tt.ends[min(i, len(tt.ends)-1)]
					play := steps(1, enginetest.Do(func() {
						if i < len(tt.during) {
							tt.during[i](k)
						}
					}), enginetest.Unmoved(enginetest.Complain("not logged in\n")), enginetest.Line(enginetest.Event{Class: class, Account: enginetest.Account(agent.Account{Session: oneSession, Active: true})}))
					if class == ok {
						play.Code = 0
					}
					attempts = append(attempts, play)
				}
				script := script(r, attempts...)
				res, _ := start(t, r, belaytype.Command{Args: claude.Args, Stderr: tt.stderr}).Wait()
				equal(t, "class", res.Verdict.Class, tt.class)
				equal(t, "attempts", len(script.Starts()), tt.attempts)
				if waited := time.Since(begun); !tt.wait && waited != 0 {
					t.Errorf("waited %v", waited)
				}
				told := 0
				for _, e := range all[belaytype.AttemptFailed](events) {
					if e.Renewed {
						told++
					}
				}
				if want := tt.attempts - 1; !tt.wait && told != want {
					t.Errorf("told of %d renewals, want %d", told, want)
				}
			})
		})
	}
}

// A session in which something was done goes on with the new login.
func TestLogin_RenewedGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeyring(t, "old", time.Time{})
		r := k.runner(agent.Info{})
		login := r.Profile.(*enginetest.Agent).Facts
		turns := converse(r, login, step{verdict.Auth, agent.Account{Session: oneSession, Active: true}}, step{verdict.OK, agent.Account{Session: oneSession}})
		time.AfterFunc(time.Second/2, func() { k.renew("new", time.Time{}) })
		res, err := start(t, r, claude).Wait()
		must.OK(t, err)
		if got := shown(*turns); !res.Resumed || !slices.Equal(got, []string{"fresh", "continue 0"}) {
			t.Errorf("%v, %+v", got, res)
		}
	})
}

// While a login is about to expire, starts are a moment apart, until one of them has renewed it. What expires later, or did so long ago, holds nobody up.
func TestLogin_StartsApart(t *testing.T) {
	const runs = 20
	for name, tt := range map[string]struct {
		left    time.Duration // until it expires
		renews  time.Duration // after its start, the first renews it; 0 if none does
		noWait  bool
		atOnce  int           // starts within the first moment
		longest time.Duration // within which all have started
	}{
		"renewed":           {left: time.Minute, renews: time.Second / 2, atOnce: 1, longest: time.Second},
		"never renewed":     {left: time.Minute, atOnce: 1, longest: 10 * time.Second},
		"just expired":      {left: -time.Minute, renews: time.Second / 2, atOnce: 1, longest: time.Second},
		"good for long":     {left: time.Hour, atOnce: runs},
		"expired long ago":  {left: -2 * time.Hour, atOnce: runs},
		"no wait is wanted": {left: time.Minute, noWait: true, atOnce: runs},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				k := newKeyring(t, "old", begun.Add(tt.left))
				r := k.runner(agent.Info{})
				r.NoWait = tt.noWait
				s := script(r, steps(0, enginetest.Wait(time.Minute), enginetest.Line(enginetest.Event{Class: verdict.OK})))
				if tt.renews > 0 {
					time.AfterFunc(tt.renews, func() { k.renew("new", time.Now().Add(8*time.Hour)) })
				}
				var all []*engine.Invocation
				for range runs {
					all = append(all, start(t, r, claude))
				}
				for _, inv := range all {
					res, err := inv.Wait()
					must.OK(t, err)
					if res.Waited > tt.longest {
						t.Errorf("waited %v", res.Waited)
					}
				}
				var first, last int
				var before time.Duration
				for _, start := range s.Starts() {
					at := start.At.Sub(begun)
					if at < time.Second/2 {
						first++
					}
					if at > tt.longest {
						t.Errorf("a start after %v", at)
					}
					if tt.renews == 0 && tt.atOnce == 1 && at > 0 && at < 10*time.Second && at-before < time.Second {
						last++
					}
					before = at
				}
				if first != tt.atOnce || last > 0 {
					t.Errorf("%d started at once, want %d; %d less than a moment after another", first, tt.atOnce, last)
				}
			})
		})
	}
}

// A run that waits for the login of another can be stopped, and a store that does not work holds nobody up.
func TestLogin_WaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeyring(t, "old", time.Now().Add(time.Minute))
		r := k.runner(agent.Info{})
		s := script(r, steps(0, enginetest.Wait(time.Minute), enginetest.Line(enginetest.Event{Class: verdict.OK})))
		first, second := start(t, r, claude), start(t, r, claude)
		time.Sleep(100 * time.Millisecond)
		second.Cancel(context.Canceled)
		first.Cancel(context.Canceled)
		for _, inv := range []*engine.Invocation{first, second} {
			if res, _ := inv.Wait(); res.Verdict.Class != verdict.Interrupted {
				t.Errorf("%+v", res)
			}
		}
		equal(t, "starts", len(s.Starts()), 1)
		broken := k.runner(agent.Info{})
		broken.Scopes = brokenStore{}
		script(broken, steps(0, enginetest.Line(enginetest.Event{Class: verdict.OK})))
		_, err := start(t, broken, claude).Wait()
		must.OK(t, err)
	})
}
