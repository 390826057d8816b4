// Package agent says what Belay must know of a command-line tool to make calls to it dependable. There is a folder
// for each tool; what belongs to one tool is in its folder and nowhere else.
package agent

import (
	"time"

	"github.com/belay-run/belay/verdict"
)

// Profile is what Belay knows of one CLI.
type Profile interface {
	// Name is the profile's name, as in --profile.
	Name() string
	// Headless says that the command never needs the terminal: it leads a session of its own.
	Headless() bool
	// Reads says that the verdict depends on what the command prints, beyond how it ends.
	Reads() bool
	// Judge says what an outcome means. It is asked only about commands that ended by themselves.
	Judge(o verdict.Outcome, now time.Time) verdict.Verdict
}
