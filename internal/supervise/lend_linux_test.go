package supervise_test

import (
	"os"
	"time"

	"github.com/belay-run/belay/internal/supervise/terminal"
)

// A helper process with this variable holds the time open between the start of a child and its being given the terminal.
func init() {
	if d, err := time.ParseDuration(os.Getenv("SUPERVISE_TEST_LEND_LATE")); err == nil {
		terminal.BeforeLend = func() { time.Sleep(d) }
	}
}
