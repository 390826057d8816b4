//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

func TestMain(m *testing.M) { fleettest.Main(m) }

func TestFleet_InitAndStatus(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("PGHOST", "")
	os.Unsetenv("PGHOST")
	asked(t, "fleet status", "--").is(2, "the fleet's PostgreSQL is not set; use --dsn")
	asked(t, "fleet init", "--dsn=postgres://belay:plum@db/belay", "--").is(2, "PGPASSFILE")
	dsn := fleettest.Empty(t)
	t.Setenv("BELAY_FLEET_DSN", dsn)
	asked(t, "fleet status", "--").is(125, "there is no fleet at ", "create it with: belay fleet init")
	asked(t, "fleet init", "--").is(0, "created the fleet at ")
	asked(t, "fleet init", "--dsn="+dsn, "--").is(0, "is up to date")
	asked(t, "fleet status", "--").is(0, "no machine has joined the fleet at ")
	database := strings.Fields(strings.SplitAfter(dsn, "dbname=")[1])[0]
	fleettest.Shared(t).Exec(t, database, `insert into belay.machine (name, instance, version, labels, clock_ahead) values ('ant', 'x', '1.0', '{gpu}', 3600);
insert into belay.machine (name, instance, seen) values ('bee', 'y', now() - interval '1 minute')`)
	asked(t, "fleet status", "--").is(0, "MACHINE", "ant", "joined", "1h", "gpu", "bee", "away")
	fleettest.Shared(t).Exec(t, database, `insert into belay.job (batch, task, hash, state, machine) values ('b', '1', 'x', 'running', 'ant'), ('b', '2', 'x', 'running', 'ant'), ('b', '3', 'x', 'over', 'ant'),
	('b', '4', 'x', 'ready', null)`)
	asked(t, "fleet status", "--").is(0, " JOBS ", "\n1 job waits for a machine\n")
	now := time.Now()
	fleettest.Shared(t).Exec(t, database, fmt.Sprintf(`insert into belay.gate (key, machine, version, state) values ('claude:api', 'ant', 1, '{"quota":[{"name":"five_hour","used":0.5,"resets":%q,"told":%q}]}')`,
		now.Add(time.Hour).Format(time.RFC3339), now.Format(time.RFC3339)))
	asked(t, "fleet status", "--").is(0, "bee", "\nclaude:api: five_hour 50% used, resets ")
	lines := strings.Split(strings.TrimSpace(asked(t, "fleet status", "--json", "--").is(0).stdout), "\n")
	var first struct {
		Name, State string
		Jobs        int
		ClockAhead  float64 `json:"clock_ahead_seconds"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != 2 || first.Name != "ant" || first.State != "joined" || first.ClockAhead != 3600 || first.Jobs != 2 {
		t.Errorf("%v %v %+v", err, lines, first)
	}
}
