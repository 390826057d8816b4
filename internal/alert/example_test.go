package alert_test

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/alert"
)

// Five failures within ten minutes are news, once: the sixth belongs to the same episode.
func ExampleState_Failed() {
	var s alert.State
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for n := 1; n <= 6; n++ {
		var raised bool
		if s, raised = s.Failed(alert.Settings{}, now); raised {
			fmt.Println("alert at failure", n)
		}
		now = now.Add(time.Minute)
	}
	// Output: alert at failure 5
}
