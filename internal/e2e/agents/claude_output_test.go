//go:build linux

package agents_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// Partial messages are the caller's only if it asks for them.
func TestClaude_PartialMessages(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "200")
		args := []string{"-p", "say hi", "--output-format", "stream-json", "--verbose"}
		r := s.Belay(nil, args)
		r.Exits(0)
		if strings.Contains(r.Stdout, `"stream_event"`) {
			t.Errorf("%s", r.Stdout)
		}
		r = s.Belay(nil, append(args, "--include-partial-messages"))
		r.Exits(0)
		if !strings.Contains(r.Stdout, `"stream_event"`) || !strings.Contains(r.Stdout, `"text_delta"`) {
			t.Errorf("%s", r.Stdout)
		}
	})
}

// json --verbose is an array of all events.
func TestClaude_JSONVerbose(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "200(in=100, out=7)")
		r := s.Belay(nil, []string{"-p", "say hi", "--output-format", "json", "--verbose"})
		r.Exits(0)
		r.Is("", 1)
		r.Used(100, 7)
		var all []map[string]any
		if err := json.Unmarshal([]byte(r.Stdout), &all); err != nil || len(all) < 3 {
			t.Errorf("%v in %s", err, r.Stdout)
		}
	})
}
