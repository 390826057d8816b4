//go:build linux

package agents_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// someUsed tells of windows, and usedSaid is what is then known of the account.
const someUsed, usedSaid = "200(used=5h:42%,7d:17%)", "five_hour 42%, seven_day 17%"

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
			known = append(known, fmt.Sprintf("%s %.0f%%", w.Name, w.Used*100))
		}
	}
	slices.Sort(known)
	return strings.Join(known, ", ")
}

// A batch that keeps a reserve starts its last task at or below it, ends none that is running, and goes on after the reset; one that keeps none meets the wall
// at most twice. No task fails of it. Before batches knew of windows each task that was running met the wall: 10 of the 60, which were all that were left.
func TestBatch_Reserve(t *testing.T) {
	t.Parallel()
	for _, a := range []*agent{claude, codex} {
		for _, keep := range []string{"20%", "nothing"} {
			tasks, each, lasts := 60, 2, "2m"
			if !full {
				if tasks, each, lasts = 12, 8, "20s"; a == claude || keep == "nothing" {
					continue
				}
			}
			t.Run(a.Name+"/"+keep, func(t *testing.T) {
				t.Parallel()
				s := a.New(t, "", fmt.Sprintf("200(fill=5h:%d%%/%s)x*", each, lasts))
				s.Longest = 20 * time.Minute
				line := batchOf(s, tasks, 1, a.ask()...)
				line, most := slices.Delete(line, 1, 3), 100 // without -j
				if keep != "nothing" {
					line, most = slices.Insert(line, 1, "--reserve", keep), 80
				}
				s.Run("belay", line...).Exits(0)
				batchResults(s, tasks)
				refused, fullest := 0, 0
				for _, q := range s.API.Main() {
					if q.Status == http.StatusTooManyRequests {
						refused++
					}
					_, at, _ := strings.Cut(q.Step, "(5h at ")
					used, _ := strconv.Atoi(strings.TrimSuffix(at, "%)"))
					fullest = max(fullest, used)
				}
				t.Logf("tried %d tasks of %s that keep %s: %d requests were refused, the last start was at %d%%", tasks, a.Name, keep, refused, fullest-each)
				if !full {
					most += each // its request comes seconds after the start, and others may come before it
				}
				if fullest-each > most || refused > 2 || keep == "20%" && refused > 0 || s.Requests() != tasks+refused {
					t.Errorf("%d requests, %d refused, the last start at %d%%", s.Requests(), refused, fullest-each)
				}
			})
		}
	}
}
