package trace

import (
	"strings"
	"testing"
)

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
		if got := OfEnviron([]string{"A=1", "TRACEPARENT=" + value, "TRACEPARENTS=x"}); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
	if got := OfEnviron([]string{"XTRACEPARENT=" + good}); got != "" {
		t.Errorf("%q", got)
	}
}

// Both sides make the same ids of the same run, and different ones of different spans.
func TestIDs(t *testing.T) {
	const run, other = "01a1dfb1-a18b-78b2-9007-78e02857aef0", "01a1dfb1-c62c-7daf-9fc8-a777b0f859e7"
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, p := range []Parent{OfRun(run, ""), OfRun(run, "junk"), OfAttempt(run, "", 1), OfRun(run, caller)} {
		if got, ok := Parse(p.String()); !ok || got != p {
			t.Errorf("%s is read as %s", p, got)
		}
	}
	if a, b := OfRun(run, ""), OfRun(run, ""); a != b || a.Trace == OfRun(other, "").Trace || !a.Sampled() {
		t.Errorf("%s and %s", a, b)
	}
	if p := OfRun(run, caller); p.Trace != "0af7651916cd43dd8448eb211c80319c" || p.Span == "b7ad6b7169203331" || p.Sampled() {
		t.Errorf("%s", p)
	}
	seen := map[string]bool{}
	for _, id := range []string{OfRun(run, "").Span, OfAttempt(run, "", 1).Span, OfAttempt(run, "", 11).Span, Span(run, "wait", 1), Span(run, "tool", 1, 1), Span(run, "tool", 11), Span(other, "wait", 1)} {
		if seen[id] || len(id) != 16 {
			t.Errorf("%s again", id)
		}
		seen[id] = true
	}
}

func TestEnviron(t *testing.T) {
	p := OfRun("r", "")
	env := []string{"A=1", "TRACEPARENT=old", "TRACESTATE=x=y", "TRACEPARENT=older"}
	got := strings.Join(p.Environ(env), " ")
	if got != "A=1 TRACESTATE=x=y TRACEPARENT="+p.String() || env[1] != "TRACEPARENT=old" {
		t.Errorf("%s", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x")
	f.Fuzz(func(t *testing.T, value string) {
		p, ok := Parse(value)
		if again, ok2 := Parse(p.String()); ok && (!ok2 || again != p) {
			t.Errorf("%q gives %s", value, p)
		}
	})
}
