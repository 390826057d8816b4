package redact_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/redact"
)

// A name costs next to nothing: every run puts some on record. An error costs less than the line of the log that it stands in.
func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{"name": "generic", "gate": "claude:api.anthropic.com:3f9c1a52",
		"error": `claude exited 1 (overloaded): API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`,
		"4KiB":  strings.Repeat("dial tcp 10.0.0.1:443: connect: connection refused; open /home/ann/src/main.go: no such file\n", 43)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				redact.Text(text)
			}
		})
	}
}
