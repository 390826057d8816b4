// Package clock tells the time of day where it is compared with a time that another process has written down: the end of a
// hold, say. An executable that was linked for tests can be told that the clock was set; faketime does not reach Go
// programs. Durations within a process are measured with package time, which no set clock disturbs.
package clock

import (
	"os"
	"strings"
	"time"
)

// seam is set by the linker, and only in executables for tests (internal/built). With a build tag, everything that uses the clock would be compiled twice.
var seam string

// Open says that this executable is for tests, which may change its times.
func Open() bool { return seam != "" }

// OffsetVar names a file that holds by how much the clock is wrong, as in "-1h"; it may change at any time. It means nothing to an executable that is not [Open].
const OffsetVar = "BELAY_TEST_CLOCK"

// Now is the time of day.
func Now() time.Time {
	if Open() {
		return time.Now().Add(offset())
	}
	return time.Now()
}

func offset() time.Duration {
	data, err := os.ReadFile(os.Getenv(OffsetVar))
	if err != nil {
		return 0
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(data)))
	if err != nil {
		panic("the file that " + OffsetVar + " names holds no duration: " + err.Error())
	}
	return offset
}
