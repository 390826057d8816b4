package verdict

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/signame"
)

// EndedBySignal is the verdict on a death by signal: the command was told to end, or it crashed. It abstains if the command
// exited by itself.
func EndedBySignal(o Outcome) (Verdict, bool) {
	if o.Signal == "" {
		return Verdict{}, false
	}
	return Verdict{Class: classOfSignal(o.Signal), Rule: "signal", Evidence: "ended by " + o.Signal}, true
}

// EndedByCode is the verdict on an exit code that means the same whatever the command is: shells and wrappers tell by one
// that it was not found, could not be executed or died by a signal. It abstains on all others.
func EndedByCode(o Outcome) (Verdict, bool) {
	v := Verdict{Rule: "exit-code", Evidence: fmt.Sprintf("exit %d", o.ExitCode)}
	switch o.ExitCode {
	case 126, 127:
		if words := LastWords(o); words != "" {
			v.Evidence = words
		}
		v.Class = ToolMissing
		if strings.Contains(strings.ToLower(v.Evidence), "argument list too long") {
			v.Class = TooLarge
		}
	case 129, 130, 131, 132, 133, 134, 135, 136, 137, 139, 141, 143: // those that end a process; the others are no signals
		name, _ := signame.Parse(strconv.Itoa(o.ExitCode - 128))
		v.Class = classOfSignal(name)
	default:
		return Verdict{}, false
	}
	return v, true
}

// classOfSignal tells a request to end from a crash.
func classOfSignal(name string) Class {
	switch name {
	case "SIGINT", "SIGTERM", "SIGHUP":
		return Interrupted
	}
	return Crash
}
