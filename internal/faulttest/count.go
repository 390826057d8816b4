package faulttest

import (
	"os"
	"strconv"
	"testing"
)

// Rounds is how often a test repeats what depends on the moment. make test-full and make soak repeat it more often.
func Rounds(t testing.TB) int { t.Helper(); return Count(t, "BELAY_TEST_ROUNDS", 2) }

// Kills is how many processes a test kills.
func Kills(t testing.TB) int { t.Helper(); return Count(t, "BELAY_TEST_KILLS", 20) }

// Count is how often a test tries what it tries: the number in an environment variable, which make test and make soak set, or
// otherwise. With -short it is a tenth of that, and at least once.
func Count(t testing.TB, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" && testing.Short() {
		return (otherwise + 9) / 10
	}
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s is not a number", variable, text)
	}
	return n
}
