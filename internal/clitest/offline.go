package clitest

import (
	"fmt"
	"os"
	"testing"
)

// Main is a TestMain for packages whose tests start CLIs: it runs them offline, where signals have their usual effect.
//
//	func TestMain(m *testing.M) { clitest.Main(m) }
func Main(m *testing.M) {
	if code, done := Offline(); done {
		os.Exit(code)
	}
	HearSignals()
	os.Exit(m.Run())
}

// Offline runs this program once more, with the same arguments, in a network namespace that has only loopback. In the
// first one it returns the exit code of the second and true; in the second, false. Where the system allows no such
// namespace it says so on stderr and returns false: the tests then run on the network as it is, and still talk only to
// their own stand-ins.
//
// A TestMain that has more to do than [Main] calls it first.
func Offline() (code int, done bool) {
	if os.Getenv(insideVar) != "" {
		return 0, false
	}
	code, err := runInside()
	if err != nil {
		fmt.Fprintf(os.Stderr, "clitest: no network namespace, the tests can reach the network: %v\n", err)
		return 0, false
	}
	return code, true
}

// IsOffline says whether the process runs in a namespace that [Offline] made.
func IsOffline() bool { return os.Getenv(insideVar) == "tests" }

// insideVar is set in the namespace: to "setup" while it is being made ready, to "tests" from then on.
const insideVar = "CLITEST_OFFLINE"
