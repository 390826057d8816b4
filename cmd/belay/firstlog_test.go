//go:build linux

package main

import (
	"strings"
	"testing"
)

// The first run of claude that makes .logs in a directory says so, once, where a person sees it.
func TestTerminal_FirstLog(t *testing.T) {
	t.Parallel()
	s := newShell(t, "belay run")
	s.run(`printf '#!/bin/sh\necho "{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"is_error\\":false,\\"result\\":\\"done\\"}"\n' > claude; chmod +x claude`)
	const said = "runs of claude are also logged to .logs/claude_invocations.jsonl. To turn that off: --log-dir none"
	for _, step := range []struct {
		line string
		says bool
	}{
		{"$B --log-dir none -- ./claude -p hi", false},
		{"$B -- ./claude -p hi", true},
		{"$B -- ./claude -p hi", false},
		{"rm -r .logs; $B --quiet -- ./claude -p hi", false},
		{"rm -r .logs; $B -- ./claude -p hi 2> err; cat err", false},
	} {
		got := strings.ReplaceAll(s.run(step.line), "\r\n", "")
		if !strings.Contains(got, "done") || strings.Contains(got, said) != step.says {
			t.Errorf("%s: %q", step.line, got)
		}
	}
}
