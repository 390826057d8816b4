package engine

import "testing"

func TestTraceparent(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for value, want := range map[string]string{
		good: good,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00":      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
		"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what": "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":      "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"": "", "00": "", "0": "", "-": "",
		good + "-more":        "",
		good[:54]:             "",
		"01" + good[2:] + "0": "",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": "",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01": "",
		"00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01": "",
		" " + good: "",
	} {
		if got := traceparent([]string{"A=1", "TRACEPARENT=" + value, "TRACEPARENTS=x"}); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
	if got := traceparent([]string{"XTRACEPARENT=" + good}); got != "" {
		t.Errorf("%q", got)
	}
}

func TestEnclosingRun(t *testing.T) {
	const a, b = "01a1dfb1-a18b-78b2-9007-78e02857aef0", "01a1dfb1-c62c-7daf-9fc8-a777b0f859e7"
	for value, want := range map[string]string{"": "", a: a, a + "," + b: b, a + ",": a, "../x": "", "x," + a: a, a + ",hook-0-1-2": a, "mcp-0-1": ""} {
		t.Setenv("BELAY_RUN_ID", value)
		if got := EnclosingRun(); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
}
