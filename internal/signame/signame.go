// Package signame knows signals by their names, as saved outcomes, settings and rules have them.
package signame

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// signals holds the names by number. The numbers are Linux's: 1–6, 8, 9, 11 and
// 13–15 are the same everywhere, the rest differ, and a saved outcome does not
// tell where it was saved. Package syscall would give those of this machine,
// and on Windows hardly any.
var signals = [...]string{
	1: "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1",
	"SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP",
	"TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
}

// Parse returns the canonical name of a signal given as "KILL",
// "sigkill" or, by Linux's numbers, "9": "SIGKILL".
func Parse(s string) (string, error) {
	if n, err := strconv.Atoi(s); err == nil {
		if n > 0 && n < len(signals) {
			return "SIG" + signals[n], nil
		}
		return "", fmt.Errorf("unknown signal number %d", n)
	}
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	switch name { // other names of the same signals
	case "IOT":
		name = "ABRT"
	case "CLD":
		name = "CHLD"
	case "POLL":
		name = "IO"
	case "EMT", "INFO": // not on Linux
		return "SIG" + name, nil
	}
	if name != "" && slices.Contains(signals[:], name) {
		return "SIG" + name, nil
	}
	return "", fmt.Errorf("unknown signal %q", s)
}

// Number is Linux's number of a signal given by its canonical name; 0 if it has none. A shell shows a death by
// signal n as exit code 128+n.
func Number(name string) int {
	short, ok := strings.CutPrefix(name, "SIG")
	if !ok || short == "" {
		return 0
	}
	return max(0, slices.Index(signals[:], short))
}
