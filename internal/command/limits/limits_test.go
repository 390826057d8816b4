package limits_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/test/must"
)

// What agents have told of their limits is shown with where it leads; a gate stays healthy for it.
func TestLimits(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "limits").Ends(0).Says().Prints("no agent has told of its limits yet. claude with a subscription and codex do")
	commandtest.Belay(t, "limits", "--json").Ends(0).Says().Prints()
	commandtest.Belay(t, "limits", "claude").Ends(2)
	now := time.Now()
	files := &gate.Files{Dir: filepath.Join(os.Getenv("BELAY_STATE_DIR"), "gates")}
	must.OK(t, files.Update("claude/api", now, func(s gate.State) gate.State {
		s.Quota = quota.Quota{{Name: "five_hour", Used: 0.84, Resets: now.Add(time.Hour), Told: now, By: "run-1", Trail: []quota.Point{{At: now.Add(-time.Hour), Used: 0.64}}},
			{Name: "seven_day", Used: 0.17, Resets: now.Add(50 * time.Hour), Told: now}}
		return s
	}))
	commandtest.Belay(t, "limits").Ends(0).Says().Prints("ACCOUNT     WINDOW     USED  RESETS", "FORECAST\n", "claude/api  five_hour  84% ", " full at about ", "claude/api  seven_day  17% ")
	got := commandtest.Belay(t, "limits", "--json").Ends(0).Says().Prints(`{"account":"claude/api","window":"five_hour","model":null,"used":0.84,`, `"told_by":"run-1","warning":true,"forecast":{"used":1.0`)
	if strings.Count(got.Stdout, "\n") != 2 {
		t.Error(got.Stdout)
	}
	commandtest.Write(t, "tasks.txt", "one\n", 0o600)
	commandtest.Belay(t, "batch", "tasks.txt", "-o", "done.jsonl", "--", "true").Ends(0)
	commandtest.Belay(t, "batch", "status", "done.jsonl").Ends(0).Prints("\nclaude/api: five_hour 84% used, resets ", " (forecast: full at about ", "\nclaude/api: seven_day 17% used")
	commandtest.Belay(t, "batch", "status", "--json", "done.jsonl").Ends(0).Prints(`"failures":[],"limits":[{"account":"claude/api",`)
	commandtest.Belay(t, "gates").Ends(0).Prints("all gates are healthy")
	commandtest.Belay(t, "gates", "reset", "claude/api").Ends(0).Prints("gate claude/api was reset\n") // as a run says that waits for a reserve
	commandtest.Belay(t, "limits", "--json").Ends(0).Says().Prints()
	commandtest.Belay(t, "gates", "reset", "--all").Ends(0).Prints("nothing to reset: all gates are healthy\n")
}
