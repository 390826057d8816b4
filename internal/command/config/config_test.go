package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/test/must"
)

// The file that users begin with has no mistake, in any of its parts.
func TestConfigShow_Example(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "config.toml"))
	must.OK(t, err)
	commandtest.Place(t)
	commandtest.Write(t, commandtest.Home(".config", "belay", "config.toml"), string(text), 0o600)
	commandtest.Belay(t, "config", "check").Ends(0)
	commandtest.Belay(t, "config", "show", "--profile", "claude").Ends(0).Says().Prints("total-timeout", "6h", "max-cost", "rule: maintenance", "alert command")
	commandtest.Belay(t, "run", "--dry-run", "--name", "nightly", "--", "sh").Ends(0).Prints("make test", "nightly")
}

// What is set, where it comes from, and which files are read.
func TestConfigShow(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Belay(t, "config", "show").Ends(0).Says().Prints("nothing is set; defaults apply\n", "state directory: ", "config.toml (not there)\n")
	commandtest.Write(t, commandtest.Home(".config", "belay", "config.toml"), `
max_retries = 4
[profile.claude]
max_retries = 6
[alert]
failures = 9
[[rule]]
name = "flaky"
match = "flaky"
class = "network"
`, 0o600)
	commandtest.Write(t, filepath.Join(dir, ".belay.toml"), "base_delay = \"3s\"\n", 0o600)
	t.Setenv("BELAY_TIMEOUT", "90s")
	t.Setenv("BELAY_MAX_RETIRES", "3")
	t.Setenv("BELAY_DRY_RUN", "1")
	got := commandtest.Belay(t, "config", "show").Ends(0).Says().Prints("SETTING", "VALUE", "FROM", "max-retries", "timeout", "BELAY_TIMEOUT", "base-delay", "rule: flaky", "alert failures", "config.toml (read)\n", ".belay.toml (read)\n",
		"not read: BELAY_MAX_RETIRES is not a setting; did you mean BELAY_MAX_RETRIES?\n", "not read: BELAY_DRY_RUN has no effect because it applies to a single call only. Use --dry-run\n")
	if !strings.Contains(got.Stdout, "4 ") {
		t.Errorf("%s", got.Stdout)
	}
	commandtest.Belay(t, "config", "show", "--profile", "claude").Ends(0).Prints("gate hold", "doubling to")
	type row struct{ Kind, Name, Value, From string }
	var rows []row
	asked := commandtest.Belay(t, "config", "show", "--json", "--profile", "claude").Ends(0).Says()
	must.OK(t, json.Unmarshal([]byte(asked.Stdout), &rows))
	found := map[string]string{}
	for _, r := range rows {
		found[r.Name] = r.Value
	}
	if found["max-retries"] != "6" || found["timeout"] != "90s" || found["state directory"] == "" {
		t.Errorf("%v", found)
	}
	// What is shown is what a run uses.
	commandtest.Belay(t, "run", "--dry-run", "--", "true").Ends(0).Prints("retries:   4, after 3s", "limits:    1m30s per attempt", "set:       timeout = 90s (BELAY_TIMEOUT)\n")
}

// A file that cannot be understood stops everything that depends on it, with its place.
func TestConfig_Damaged(t *testing.T) {
	commandtest.Place(t)
	commandtest.Write(t, commandtest.Home(".config", "belay", "config.toml"), "timeout = \"many\"\n", 0o600)
	for _, args := range [][]string{{"config", "show"}, {"run", "--", "true"}, {"explain", "--exit-code", "1"}} {
		commandtest.Belay(t, args...).Ends(2).Prints().Says("config.toml", "many")
	}
}
