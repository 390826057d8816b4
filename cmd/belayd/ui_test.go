//go:build !norecord

package main

import (
	"strings"
	"testing"
)

// belay ui ends by itself when no page has been open for so long, and says so.
func TestRun_UIEndsWhenIdle(t *testing.T) {
	seedRecord(t)
	a := asked(t, "ui", "--no-open=true", "--port=0", "--address=127.0.0.1", "--idle=50ms", "--")
	if a.code != 0 || !strings.Contains(a.stdout, "/#token=") || a.stderr != "belay: no page was open for 50ms, so belay ui has ended (--idle)\n" {
		t.Errorf("code %d\n%s%s", a.code, a.stdout, a.stderr)
	}
}
