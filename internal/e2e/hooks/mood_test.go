//go:build linux

package hooks_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/e2e/stage"
)

const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"nope"}}`

// behaviours are what a hook does before a tool is used, and what becomes of the tool.
var behaviours = []struct {
	name, does string
	blocks     bool   // the tool does not run, bare and behind belay alike
	onlyClaude bool   // thinks that this blocks
	class      string // what is on record behind belay; empty if nothing is
}{
	{name: "silent", does: ":"},
	{name: "exit-1", does: "echo oops >&2; exit 1", class: "unknown"},
	{name: "exit-2", does: "echo not this one >&2; exit 2", blocks: true},
	{name: "exit-127", does: "no-such-command-at-all", class: "tool_missing"},
	{name: "deny", does: "echo '" + deny + "'", blocks: true},
	{name: "deny-and-fail", does: "echo '" + deny + "'; exit 1", blocks: true, onlyClaude: true, class: "unknown"},
	{name: "broken-json", does: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse"'`, class: "bad_output"},
	{name: "plain-text", does: "echo all is well"},
	{name: "much", does: "head -c 10000000 /dev/zero | tr '\\0' x"},
	{name: "suicide", does: "kill -9 $$", class: "crash"},
	{name: "hang", does: "sleep $nap", class: "timeout"},
	{name: "deaf", does: "trap '' TERM; setsid sleep $nap & sh -c \"trap '' TERM; sleep $nap\"; sleep $nap", class: "timeout"},
	{name: "daemon", does: "setsid sleep $nap & echo started"},
}

// scriptedHook is a hook that does for each tool call what the call asks it to do, so that one run of an agent is enough. One
// that hangs does so for nap seconds.
func scriptedHook(nap int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\nnap=%d\nexport nap\ninput=$(cat)\ncase $input in\n", nap)
	for _, m := range behaviours {
		fmt.Fprintf(&b, "*ran-%s.*) %s ;;\n", m.name, m.does)
	}
	b.WriteString("esac\n")
	return b.String()
}

// calls is a script that lets the agent call a tool for each behaviour.
func calls() string {
	var b strings.Builder
	for _, m := range behaviours {
		fmt.Fprintf(&b, "tool(bash: touch ran-%s.), ", m.name)
	}
	return b.String() + `200(text="that is all")`
}

// settings are the settings of a project with one hook.
func settings(event, command string, timeout int) string {
	quoted, _ := json.Marshal(command)
	return fmt.Sprintf(`{"hooks":{%q:[{"hooks":[{"type":"command","command":%s,"timeout":%d}]}]}}`, event, quoted, timeout)
}

// recorded checks that each failure is on record, in order, and nothing else.
func recorded(s *stage.Stage, event, action string) {
	s.T.Helper()
	log := failures(s)
	for _, m := range behaviours {
		if m.class == "" {
			continue
		}
		if len(log) == 0 {
			s.T.Fatalf("%s is not on record", m.name)
		}
		e := log[0]
		log = log[1:]
		if e.Profile != "hook:hook.sh" || e.Kind != "hook" || e.Event != event || e.Status != "error" || e.ErrorType != m.class ||
			e.Session == "" || e.Detail.Name != "hook.sh" || e.Detail.Action != action || e.Detail.Session != e.Session ||
			e.Detail.Error != e.Error || e.Error == "" {
			s.T.Errorf("%s is on record as %+v; want %s of %s:%s", m.name, e, m.class, event, action)
		}
	}
	if len(log) > 0 {
		s.T.Errorf("on record beside the failures: %+v", log)
	}
}

// played checks what became of the tool calls.
func played(s *stage.Stage, r *stage.Ran, client string) {
	s.T.Helper()
	if r.Code != 0 || !strings.Contains(r.Stdout, "that is all") {
		s.T.Errorf("the run did not end as it should: exit code %d", r.Code)
	}
	for _, m := range behaviours {
		blocks := m.blocks && !(m.onlyClaude && client != "claude")
		if ran := s.Has("ran-" + m.name + "."); ran == blocks {
			s.T.Errorf("%s: the tool ran: %v", m.name, ran)
		}
	}
}
