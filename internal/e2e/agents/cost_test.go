//go:build linux

package agents_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/price"
)

// dear is a model call that uses so much, with a tool that takes a moment; lasting is one with a tool that lasts. A stand-in that
// answers at once would be asked again before the agent could be stopped on a busy machine.
const (
	dear    = "tool(bash: `true`, in=30000, out=500)"
	lasting = "tool(bash: `tail -f /dev/null`, in=30000, out=500)"
)

// last is the call that reaches the limit. opencode tells of a call when its tools have ended, and at once makes another one, which may
// have been begun when it is stopped.
func (a *agent) last() string {
	if a == opencode {
		return dear
	}
	return lasting
}

// askedForCost checks how many calls there were up to the limit.
func (a *agent) askedForCost(s *stage.Stage, want int) {
	s.T.Helper()
	if n := s.Requests(); n != want && !(a == opencode && n == want+1) {
		s.T.Errorf("%d requests, want %d", n, want)
	}
}

// model are the arguments that choose a model of that agent, and what one dear call costs with it.
func model(t *testing.T, a *agent) (args []string, usd float64) {
	t.Helper()
	usd, ok := (*price.Table)(nil).Cost(path.Base(a.priced[1]), time.Now(), price.Call{Input: 30000, Output: 500})
	if !ok {
		t.Fatalf("%s has no price", a.priced[1])
	}
	return slices.Clone(a.priced), usd
}

// An agent that would spend many times the limit is stopped below the limit and one more call, and can go on.
func TestCost_StopsWithinAnAttempt(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		args, one := model(t, a)
		limit := 3.5 * one
		for _, flag := range []string{fmt.Sprintf("--max-cost=%.6f", limit), fmt.Sprintf("--budget=nightly=%.6f/day", limit)} {
			if strings.HasPrefix(flag, "--max-cost") == (a == codex) && !clitest.Full() { // each of the two by one agent
				continue
			}
			s := a.New(t, version, dear+"x3, "+a.last()+", "+dear+"x*")
			r := s.Belay([]string{flag}, a.work(append(args, "say hi")...))
			r.Is("limit_reached", 1)
			r.Says("stopped "+a.Name+": ", " is used up", "continue with: belay run --resume "+r.Result.SessionID+" -- "+a.headless)
			spent := r.Result.Usage.Cost
			if spent == nil && a == opencode && r.Result.Usage.Unknown {
				t.Logf("one more call was begun: %s", show(r.Result.Usage))
			} else if spent == nil || *spent < limit || *spent >= limit+one {
				t.Errorf("%s with calls of $%v: %s", flag, one, show(r.Result.Usage))
			}
			a.askedForCost(s, 4)
			s.NobodyLeft()
			if strings.HasPrefix(flag, "--max-cost") {
				r.Exits(1)
				continue
			}
			r.Exits(75)
			if at, err := time.Parse(time.RFC3339, r.Result.RetryAt); err != nil || at.Before(time.Now()) {
				t.Errorf("opens again at %q", r.Result.RetryAt)
			}
			r = s.Belay([]string{"--budget", "nightly"}, a.work(append(args, "say hi")...))
			r.Exits(75)
			r.Is("limit_reached", 0)
			a.askedForCost(s, 4)
			shown := s.Run("belay", "budget").Stdout
			if !strings.Contains(shown, "closed until ") || !strings.Contains(shown, a.Name) {
				t.Errorf("%s", shown)
			}
		}
	})
}

// What an attempt has cost that stalled and was killed counts.
func TestCost_StalledAttemptCounts(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		args, one := model(t, a)
		s := a.New(t, version, dear+"x2, hang, "+a.last()+", "+dear+"x*")
		r := s.Belay([]string{"--max-cost", fmt.Sprintf("%.6f", 2.5*one), "--stall-timeout", "30s", "--base-delay", "100ms", "--budget", "x=100/day"}, a.work(append(args, "say hi")...))
		r.Is("limit_reached", 2)
		a.askedForCost(s, 4) // two, the one that hung, and one more
		s.NobodyLeft()
	})
}
