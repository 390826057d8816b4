package view_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

// An account that has told of its limits has a bar, and its gate is as healthy as before.
func TestNow_Limits(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := &state.State{Dir: t.TempDir()}
	source := view.Source{State: s}
	if now := source.Now(); now.Limits == nil || len(now.Limits) > 0 || now.Trouble != "" {
		t.Errorf("%+v", now)
	}
	now := time.Now()
	must.OK(t, s.Gates().Update("claude:api", now, func(s gate.State) gate.State {
		s.Quota = s.Quota.Tell(now, now, "run", []quota.Window{{Name: "five_hour", Used: 0.5, Resets: now.Add(time.Hour)}})
		return s
	}))
	if now := source.Now(); len(now.Gates) > 0 || len(now.Limits) != 1 || now.Limits[0].Account != "claude:api" {
		t.Errorf("%+v", now)
	}
}
