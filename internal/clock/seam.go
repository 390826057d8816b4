//go:build clockseam

package clock

import (
	"os"
	"strings"
	"time"
)

// OffsetVar names a file that holds by how much the clock is wrong, as in "-1h"; it may change at any time.
const OffsetVar = "BELAY_TEST_CLOCK"

// Now is the time of day as a clock shows it that was set.
func Now() time.Time {
	data, err := os.ReadFile(os.Getenv(OffsetVar))
	if err != nil {
		return time.Now()
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(data)))
	if err != nil {
		panic("the file that " + OffsetVar + " names holds no duration: " + err.Error())
	}
	return time.Now().Add(offset)
}
