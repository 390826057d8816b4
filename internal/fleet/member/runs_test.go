//go:build unix

package member_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// A run is known in the fleet from its beginning to its end, and for as long as its machine is there.
func TestMember_Runs(t *testing.T) {
	dsn := fleettest.Database(t)
	m := newMachine(t, dsn, "ant")
	must.OK(t, m.state.Prepare())
	must.OK(t, os.MkdirAll(m.state.Records().Dir, 0o700))
	address, err := store.ParseAddress(dsn, os.Getenv)
	must.OK(t, err)
	fleet, err := store.Open(t.Context(), address)
	must.OK(t, err)
	defer fleet.Close()
	known := func(what string, so func(list []member.Run) bool) {
		t.Helper()
		eventually(t, what, func() bool {
			runs, err := fleet.Runs(t.Context())
			must.OK(t, err)
			list := make([]member.Run, len(runs))
			for i, r := range runs {
				if err := json.Unmarshal(r.Record, &list[i]); err != nil || r.Machine != "ant" {
					t.Fatal(err, r)
				}
			}
			return so(list)
		})
	}
	before, err := m.state.Records().Create(supervise.Record{ID: "run-1", Command: "sleep", Started: time.Now(), State: supervise.StateRunning, Home: "/home/ann"})
	must.OK(t, err)
	m.start()
	known("one run", func(list []member.Run) bool {
		return len(list) == 1 && list[0].ID == "run-1" && list[0].PID == os.Getpid() && list[0].Home == ""
	})
	second, err := m.state.Records().Create(supervise.Record{ID: "run-2", Command: "sleep", Name: "nightly", Started: time.Now(), State: supervise.StateRunning})
	must.OK(t, err)
	known("two runs", func(list []member.Run) bool { return len(list) == 2 && list[1].Name == "nightly" })
	second.State, second.Reason = supervise.StateWaiting, "gate api: held"
	must.OK(t, second.Update())
	known("one waits", func(list []member.Run) bool { return len(list) == 2 && list[1].Reason == "gate api: held" })
	must.OK(t, before.Remove())
	known("one has ended", func(list []member.Run) bool { return len(list) == 1 && list[0].ID == "run-2" })
	m.net.Cut()
	m.says("out of reach")
	must.OK(t, second.Remove())
	m.net.Heal()
	known("none, once it is back", func(list []member.Run) bool { return len(list) == 0 })
}
