//go:build unix

package companion

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/companion/fleet/fleettest"
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
	fleettest.Shared(t).Exec(t, strings.Fields(strings.SplitAfter(dsn, "dbname=")[1])[0], `insert into belay.machine (name, instance, version, labels, clock_ahead) values ('ant', 'x', '1.0', '{gpu}', 3600);
insert into belay.machine (name, instance, seen) values ('bee', 'y', now() - interval '1 minute')`)
	asked(t, "fleet status", "--").is(0, "MACHINE", "ant", "joined", "1h", "gpu", "bee", "away")
	lines := strings.Split(strings.TrimSpace(asked(t, "fleet status", "--json", "--").is(0).stdout), "\n")
	var first machineJSON
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != 2 || first.Name != "ant" || first.State != "joined" || first.ClockAhead != 3600 {
		t.Errorf("%v %v %+v", err, lines, first)
	}
}
