package faulttest

import (
	"os"
	"strconv"
	"testing"
)

// Count is how often a test tries what it tries: the number in an environment variable, which make test and make soak set, or
// otherwise.
func Count(t testing.TB, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s is not a number", variable, text)
	}
	return n
}
