package database

import "testing"

// What is before the first single slash is a host to SQLite, which refuses any but localhost.
func TestAddress(t *testing.T) {
	for path, want := range map[string]string{
		"/home/u/a b/observability.sqlite": "file:///home/u/a%20b/observability.sqlite?mode=ro",
		"C:/Users/u/observability.sqlite":  "file:///C:/Users/u/observability.sqlite?mode=ro",
	} {
		if got := address(path, "mode=ro"); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
