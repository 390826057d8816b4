package verdict_test

import (
	"testing"

	"github.com/belay-run/belay/verdict"
)

func TestEndedBySignal(t *testing.T) {
	for signal, want := range map[string]verdict.Class{
		"SIGINT": verdict.Interrupted, "SIGTERM": verdict.Interrupted, "SIGHUP": verdict.Interrupted,
		"SIGKILL": verdict.Crash, "SIGSEGV": verdict.Crash, "SIGABRT": verdict.Crash, "SIGPIPE": verdict.Crash,
	} {
		v, ok := verdict.EndedBySignal(verdict.Outcome{ExitCode: -1, Signal: signal})
		if !ok || v.Class != want || v.Retryable || v.Evidence == "" {
			t.Errorf("%s: %+v, %v", signal, v, ok)
		}
	}
	if v, ok := verdict.EndedBySignal(verdict.Outcome{ExitCode: 137}); ok {
		t.Errorf("an exit: %+v", v)
	}
}

func TestEndedByCode(t *testing.T) {
	for _, c := range []struct {
		code   int
		stderr string
		want   verdict.Class // empty: it abstains
	}{
		{0, "", ""},
		{1, "bash: claude: command not found", ""},
		{2, "", ""},
		{101, "", ""},
		{126, "bash: /usr/bin/codex: Permission denied", verdict.ToolMissing},
		{126, "bash: ./claude: Text file busy", verdict.ToolMissing},
		{126, "bash: /usr/bin/claude: Argument list too long", verdict.TooLarge},
		{127, "/usr/bin/env: ‘node’: No such file or directory", verdict.ToolMissing},
		{127, "", verdict.ToolMissing},
		{129, "", verdict.Interrupted},
		{130, "", verdict.Interrupted},
		{143, "", verdict.Interrupted},
		{134, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", verdict.Crash},
		{137, "Killed", verdict.Crash},
		{139, "Segmentation fault (core dumped)", verdict.Crash},
		{141, "", verdict.Crash},
		// Signals that end nothing: gemini ends with the HTTP status & 0xFF, 144 is 400 and 145 is 401.
		{144, "", ""},
		{145, "", ""},
		{173, "", ""},
		{255, "", ""},
	} {
		v, ok := verdict.EndedByCode(verdict.Outcome{ExitCode: c.code, Stderr: verdict.ExcerptOf(c.stderr)})
		if ok != (c.want != "") || v.Class != c.want && ok || v.Retryable || ok && v.Evidence == "" {
			t.Errorf("%d %q: %+v, %v", c.code, c.stderr, v, ok)
		}
	}
}
