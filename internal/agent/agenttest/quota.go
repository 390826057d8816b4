package agenttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/quota"
)

// Credible fails a test if what an agent has told of its limits cannot be kept, or is nonsense after that.
func Credible(t *testing.T, told []quota.Window) {
	t.Helper()
	if len(told) == 0 {
		return
	}
	now := told[0].Resets.Add(-time.Minute)
	kept := quota.Quota(nil).Tell(now, now, "run", told)
	if _, err := json.Marshal(kept); err != nil {
		t.Errorf("%+v cannot be kept: %v", kept, err)
	}
	for _, w := range kept {
		if w.Name == "" || !(w.Used >= 0 && w.Used <= 1000) || !now.Before(w.Resets) || w.Resets.Sub(now) > 32*24*time.Hour {
			t.Errorf("%+v is kept", w)
		}
	}
}

// Windows are what an agent has told, one in a word: "five_hour 42% 1794944280 5h0m0s opus", in the order of their names.
func Windows(told []quota.Window) string {
	var list []string
	for _, w := range told {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %.4g%% %d %s", w.Name, w.Used*100, w.Resets.Unix(), w.Model)))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
