package message

import (
	"fmt"

	"github.com/belay-run/belay/gate"
)

// CannotDetach says that a run cannot be started in the background.
func CannotDetach(err error) string { return fmt.Sprintf("cannot detach: %v", err) }

// OutputLost says that a part of the output of a run could not be kept.
func OutputLost(bytes int64, why string) string {
	return fmt.Sprintf("%s of its output could not be kept: %s", Count(int(bytes), "byte"), why)
}

// StartsWhenLifted says that a command starts when a limit is over, and when that is.
func StartsWhenLifted(name, key string, r gate.Refusal) string {
	return fmt.Sprintf("%s; %s starts when it is lifted", refusal(key, r), name)
}

// Start is what a countdown counts down to.
func Start(name string) string { return "start of " + name }
