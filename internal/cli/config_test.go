package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// What is set, where it comes from, and which files are read.
func TestConfigShow(t *testing.T) {
	dir := place(t)
	belay(t, "config", "show").ends(0).says().prints("nothing is set; defaults apply\n", "state directory: ", "config.toml (not there)\n")
	write(t, home(".config", "belay", "config.toml"), `
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
	write(t, filepath.Join(dir, ".belay.toml"), "base_delay = \"3s\"\n", 0o600)
	t.Setenv("BELAY_TIMEOUT", "90s")
	t.Setenv("BELAY_MAX_RETIRES", "3")
	t.Setenv("BELAY_DRY_RUN", "1")
	got := belay(t, "config", "show").ends(0).says().prints("SETTING", "VALUE", "FROM", "max-retries", "timeout", "BELAY_TIMEOUT", "base-delay", "rule: flaky", "alert failures", "config.toml (read)\n", ".belay.toml (read)\n",
		"not read: BELAY_MAX_RETIRES is not a setting; did you mean BELAY_MAX_RETRIES?\n", "not read: BELAY_DRY_RUN has no effect because it applies to a single call only. Use --dry-run\n")
	if !strings.Contains(got.stdout, "4 ") {
		t.Errorf("%s", got.stdout)
	}
	belay(t, "config", "show", "--profile", "claude").ends(0).prints("gate hold", "doubling to")
	type row struct{ Kind, Name, Value, From string }
	var rows []row
	asked := belay(t, "config", "show", "--json", "--profile", "claude").ends(0).says()
	must.OK(t, json.Unmarshal([]byte(asked.stdout), &rows))
	found := map[string]string{}
	for _, r := range rows {
		found[r.Name] = r.Value
	}
	if found["max-retries"] != "6" || found["timeout"] != "90s" || found["state directory"] == "" {
		t.Errorf("%v", found)
	}
	// What is shown is what a run uses.
	belay(t, "run", "--dry-run", "--", "true").ends(0).prints("retries:   4, after 3s", "limits:    1m30s per attempt", "set:       timeout = 90s (BELAY_TIMEOUT)\n")
}

// A file that cannot be understood stops everything that depends on it, with its place.
func TestConfig_Damaged(t *testing.T) {
	place(t)
	write(t, home(".config", "belay", "config.toml"), "max_retries = \"many\"\n", 0o600)
	for _, args := range [][]string{{"config", "show"}, {"run", "--", "true"}, {"explain", "--exit-code", "1"}} {
		belay(t, args...).ends(2).prints().says("config.toml", "many")
	}
}
