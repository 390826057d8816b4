//go:build linux

package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// someUsed tells of windows, and usedSaid is what is then known of the account.
const someUsed, usedSaid = "200(used=5h:42%,7d:17%)", "five_hour 42% of 5h0m0s, seven_day 17% of 168h0m0s"

// quotaKnown is what the state has of the windows of all accounts.
func quotaKnown(s *stage.Stage) string {
	s.T.Helper()
	var known []string
	files, _ := filepath.Glob(filepath.Join(s.State, "gates", "*.json"))
	for _, path := range files {
		var file struct{ State gate.State }
		data, err := os.ReadFile(path)
		must.OK(s.T, err)
		must.OK(s.T, json.Unmarshal(data, &file))
		for _, w := range file.State.Quota {
			if !w.Known(time.Now()) || w.By == "" {
				s.T.Errorf("%+v is kept", w)
			}
			known = append(known, fmt.Sprintf("%s %.0f%% of %v", w.Name, w.Used*100, w.Length))
		}
	}
	slices.Sort(known)
	return strings.Join(known, ", ")
}
