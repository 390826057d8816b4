package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/test/must"
)

// What agents have told of their limits is shown with where it leads; a gate stays healthy for it.
func TestLimits(t *testing.T) {
	place(t)
	belay(t, "limits").ends(0).says().prints("no agent has told of its limits yet. claude with a subscription and codex do")
	belay(t, "limits", "--json").ends(0).says().prints()
	belay(t, "limits", "claude").ends(2)
	now := time.Now()
	files := &gate.Files{Dir: filepath.Join(os.Getenv("BELAY_STATE_DIR"), "gates")}
	must.OK(t, files.Update("claude/api", now, func(s gate.State) gate.State {
		s.Quota = quota.Quota{{Name: "five_hour", Used: 0.84, Resets: now.Add(time.Hour), Told: now, By: "run-1", Trail: []quota.Point{{At: now.Add(-time.Hour), Used: 0.64}}},
			{Name: "seven_day", Used: 0.17, Resets: now.Add(50 * time.Hour), Told: now}}
		return s
	}))
	belay(t, "limits").ends(0).says().prints("ACCOUNT     WINDOW     USED  RESETS", "FORECAST\n", "claude/api  five_hour  84% ", " full at about ", "claude/api  seven_day  17% ")
	got := belay(t, "limits", "--json").ends(0).says().prints(`{"account":"claude/api","window":"five_hour","model":null,"used":0.84,`, `"told_by":"run-1","warning":true,"forecast":{"used":1.0`)
	if strings.Count(got.stdout, "\n") != 2 {
		t.Error(got.stdout)
	}
	write(t, "tasks.txt", "one\n", 0o600)
	belay(t, "batch", "tasks.txt", "-o", "done.jsonl", "--", "true").ends(0)
	belay(t, "batch", "status", "done.jsonl").ends(0).prints("\nclaude/api: five_hour 84% used, resets ", " (forecast: full at about ", "\nclaude/api: seven_day 17% used")
	belay(t, "batch", "status", "--json", "done.jsonl").ends(0).prints(`"failures":[],"limits":[{"account":"claude/api",`)
	belay(t, "gates").ends(0).prints("all gates are healthy")
	belay(t, "gates", "reset", "claude/api").ends(0).prints("gate claude/api was reset\n") // as a run says that waits for a reserve
	belay(t, "limits", "--json").ends(0).says().prints()
	belay(t, "gates", "reset", "--all").ends(0).prints("nothing to reset: all gates are healthy\n")
}
