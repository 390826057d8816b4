package jobs

import (
	"os"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/clock"
)

// PaceVar says by how much the times of leases are shorter, in an executable for tests.
const PaceVar = "BELAY_TEST_FLEET_PACE"

// paced is a time of the leases.
func paced(d time.Duration) time.Duration {
	if !clock.Open() {
		return d
	}
	if n, err := strconv.Atoi(os.Getenv(PaceVar)); err == nil && n > 0 {
		return d / time.Duration(n)
	}
	return d
}
