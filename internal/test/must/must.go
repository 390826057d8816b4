// Package must ends a test at what it needs and cannot have.
package must

import "testing"

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
