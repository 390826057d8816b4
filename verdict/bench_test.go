package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/verdict"
)

// table is about as large as that of one CLI.
func table(tb testing.TB) *verdict.Rules {
	words := []string{
		"rate limit", "too many requests", `you've hit your (?:\w+ )?limit`, "quota exceeded|resource exhausted",
		"overloaded", "at capacity", "internal server error", "bad gateway", `connection (?:refused|reset|closed)`,
		"no such host", "timed out", `idle timeout waiting for \w+`, "invalid api key", "not logged in",
		"credit balance", "context window", `prompt is too (?:long|large)`, "no conversation found",
		"already in use", "max turns", "unknown option", "permission denied", `status:? 5\d\d`, `status:? 429\b`,
	}
	var rules []verdict.Rule
	for i, w := range words {
		rules = append(rules, verdict.Rule{Name: fmt.Sprint(i), Class: verdict.RateLimit, Match: w})
	}
	return compile(tb, rules...)
}

// tenMiB is output that talks about failures all the time, and ends in that.
func tenMiB(end string) string {
	const line = "2026-11-15T00:20:00Z resetting the retry counter after waiting; will read again: \"status\": \"ok\"\n"
	return strings.Repeat(line, 10<<20/len(line)) + end
}

// The bar is 30 ms of CPU for 10 MiB.
func BenchmarkJudge10MiB(b *testing.B) {
	for _, bench := range []struct{ name, end string }{
		{"LastRule", "error: status 429, try again in 17s\n"},
		{"NoRule", "error: something else\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			rules, stream := table(b), []byte(tenMiB(bench.end))
			b.ReportAllocs()
			for b.Loop() {
				c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
				for p := stream; len(p) > 0; p = p[min(32<<10, len(p)):] {
					_, _ = c.Write(p[:min(32<<10, len(p))])
				}
				rules.Judge(verdict.Outcome{ExitCode: 1, Stdout: c.Excerpt()}, now)
			}
		})
	}
}

func BenchmarkParseHint10MiB(b *testing.B) {
	text := tenMiB("error: try again in 17s\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		verdict.ParseHint(text, now)
	}
}

func BenchmarkCapture(b *testing.B) {
	c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	chunk := pattern(32 << 10)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = c.Write(chunk)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		table(b)
	}
}

// The worst that text can do: nothing but places where a hint might be.
func BenchmarkParseHintHostile(b *testing.B) {
	for name, unit := range map[string]string{
		"Fields":  "x-ratelimit-reset-a: 1794709284 x-ratelimit-remaining-a: 1 ",
		"Phrases": "resets monday nov 17, 99 ",
		"Stems":   "reset",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, (verdict.DefaultHead+verdict.DefaultTail)/len(unit))
			for b.Loop() {
				verdict.ParseHint(text, now)
			}
		})
	}
}
