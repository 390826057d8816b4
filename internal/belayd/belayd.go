// Package belayd says what belayd can be asked for: the commands that belay hands over to it, with their flags, arguments and
// help. belay makes its commands and their completion of this table, belayd its parsing, and docs/record.md and the man pages
// are checked against it; so a flag is declared once.
package belayd

import (
	"os"
	"slices"
	"strings"
)

// Command is one that belay hands over.
type Command struct {
	Name string
	// Use is the usage line, without belay and without the command that it is below.
	Use string
	// Summary is what it does, in a line; Long in all words. Examples can be typed as they stand there.
	Summary, Long, Examples string
	Flags                   []Flag
	Args                    Args
	// Hidden commands are for belay alone.
	Hidden bool
	// Unlisted commands are there for those who know them: another one does the same.
	Unlisted bool
	// Parent says that it does nothing itself: those whose names begin with its name and a space are below it.
	Parent bool
}

// Flag is one of a command.
type Flag struct {
	Name string
	// Short is the letter that stands for it too; empty for none.
	Short string
	// Arg is what it takes, as the help names it. Empty means that it takes nothing: it is on or off.
	Arg string
	// Default is its value where it is not given.
	Default string
	Help    string
	// Group is the heading that the help lists it under; empty for the usual one.
	Group string
	// Values are what it can be completed with. If it is Closed, it takes nothing else.
	Values []string
	Closed bool
	// Several says that it may be repeated, each time with one more value.
	Several bool
	// Hidden flags are passed by belay itself, and not for people.
	Hidden bool
}

// Filters is the group of flags that choose what is shown.
const Filters = "Filters"

// Args are the arguments that a command takes beside its flags. The zero value means none.
type Args struct {
	// What is what an argument names; empty if there is none.
	What string
	// Example shows a command with one.
	Example string
	// Command says that the rest of the line is a command to run, Several that there may be more than one argument. Else there is at most one.
	Command, Several bool
}

// traceback has a failure of the Go runtime end the process by SIGABRT, and aborting says that belay has set it. belayd cannot do so itself in
// time: packages that it links open files before its main begins, and where there are none left, the runtime fails. Its exit code 2 would say that
// the command line was wrong.
const traceback, aborting = "GOTRACEBACK", "BELAY_ABORTING"

// Environ is the environment that belay gives to belayd.
func Environ(env []string) []string {
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, traceback+"=") }) {
		return env
	}
	return append(slices.Clip(env), traceback+"=crash", aborting+"=1")
}

// RestoreEnviron makes the environment again what belay was given: what belayd starts gets that one.
func RestoreEnviron() {
	if os.Getenv(aborting) != "" {
		os.Unsetenv(traceback)
		os.Unsetenv(aborting)
	}
}
