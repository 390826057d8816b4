package engine

import "testing"

func TestEnclosingRun(t *testing.T) {
	const a, b = "01a1dfb1-a18b-78b2-9007-78e02857aef0", "01a1dfb1-c62c-7daf-9fc8-a777b0f859e7"
	for value, want := range map[string]string{"": "", a: a, a + "," + b: b, a + ",": a, "../x": "", "x," + a: a, a + ",hook-0-1-2": a, "mcp-0-1": ""} {
		t.Setenv("BELAY_RUN_ID", value)
		if got := EnclosingRun(); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
}
