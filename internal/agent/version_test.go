package agent_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

func TestTested_Standing(t *testing.T) {
	tested := agent.Tested{"2.1.325", "2.0.77"}
	for version, want := range map[string]string{"2.1.325": "", "2.0.77": "", "2.1.400": "newer than 2.1.325", "2.2.0": "newer", "10.0.0": "newer",
		"2.0.9": "older than 2.0.77", "2.1.9": "between 2.0.77 and 2.1.325", "": ""} {
		got := tested.Standing(version)
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q", version, got)
		}
		if outside := strings.HasPrefix(want, "newer") || strings.HasPrefix(want, "older"); tested.Outside(version) != outside {
			t.Errorf("%q is outside: %v", version, !outside)
		}
	}
	if got := (agent.Tested{}).Standing("1.0.0"); got != "" {
		t.Errorf("nothing is known, and it is said: %q", got)
	}
}

func TestCompareVersions(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"2.1.90", "2.1.260", -1}, {"2.1.325", "2.1.325", 0}, {"0.166.0", "0.150.1", 1}, {"2.1", "2.1.0", -1}} {
		if got := agent.CompareVersions(tt.a, tt.b); got != tt.want {
			t.Errorf("%s to %s: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
