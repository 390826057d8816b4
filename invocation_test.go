package belay_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

func TestInvocation_Signal(t *testing.T) {
	t.Parallel()
	c := sh("trap 'echo got HUP; exit 0' HUP; echo up; while :; do sleep 0.05; done")
	up := make(chan struct{})
	c.Stdout = &notify{when: "up\n", done: up}
	r := belay.Runner{Keep: true}
	inv, err := r.Start(t.Context(), c)
	must.OK(t, err)
	<-up
	if inv.Over() || inv.ID() == "" {
		t.Errorf("over %v, id %q", inv.Over(), inv.ID())
	}
	inv.Signal(syscall.SIGHUP)
	res, err := inv.Wait()
	if err != nil || res.Output.String() != "up\ngot HUP\n" || res.ID != inv.ID() || !inv.Over() {
		t.Errorf("%q, %v", res.Output, err)
	}
}

// notify closes a channel when a text was written.
type notify struct {
	mu   sync.Mutex
	got  string
	when string
	done chan struct{}
}

func (n *notify) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.got
	if n.got += string(p); len(before) < len(n.when) && len(n.got) >= len(n.when) {
		close(n.done)
	}
	return len(p), nil
}

func TestInvocation_Kill(t *testing.T) {
	t.Parallel()
	c := sh("trap '' TERM INT; echo up; while :; do sleep 0.05; done")
	up := make(chan struct{})
	c.Stdout = &notify{when: "up\n", done: up}
	inv, err := new(belay.Runner).Start(t.Context(), c)
	must.OK(t, err)
	<-up
	inv.Kill()
	if res, err := inv.Wait(); !errors.Is(err, context.Canceled) || res.Verdict.Class != verdict.Interrupted || len(res.Left) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// What an agent goes through is told in order.
func TestRunner_Events(t *testing.T) {
	t.Parallel()
	claude := scripted(t, begins+answers+"if [ -e \"$0.again\" ]; then\n"+succeeds+"exit 0; fi\n: > \"$0.again\"\n"+fails+"exit 1\n")
	claude.Runner.Policy = retry.Policy{MaxRetries: 2, BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}
	var kinds []string
	claude.Runner.Observe = func(e belay.Event) {
		switch e := e.(type) {
		case belay.AttemptStarted:
			kinds = append(kinds, "started "+e.Command)
		case belay.AttemptFailed:
			kinds = append(kinds, "failed "+string(e.Verdict.Class))
		case belay.Waiting:
			kinds = append(kinds, "waiting")
		case belay.WaitOver:
			kinds = append(kinds, "over")
		}
	}
	res, err := claude.Run(t.Context())
	want := []string{"started claude", "failed overloaded", "waiting", "over", "started claude"}
	if err != nil || !res.Resumed || res.Attempts != 2 || !slices.Equal(kinds, want) {
		t.Errorf("%v, %+v, %q", err, res, kinds)
	}
	if u := res.Usage; u.InputTokens != 200 || len(res.Errors) != 1 || res.Profile != "claude" {
		t.Errorf("%+v", res)
	}
}
