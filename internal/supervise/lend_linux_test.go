package supervise

import (
	"os"
	"time"
)

// A helper process with this variable holds the time open between the start of a child and its being given the terminal.
func init() {
	if d, err := time.ParseDuration(os.Getenv("SUPERVISE_TEST_LEND_LATE")); err == nil {
		beforeLend = func() { time.Sleep(d) }
	}
}
