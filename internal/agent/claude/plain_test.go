package claude

import (
	"slices"
	"strings"
	"testing"
)

// Only what is known to start nothing passes, however it is written, and what does not is named.
func TestPlain(t *testing.T) {
	const tools = "--tools=TodoWrite,WebSearch"
	for _, tt := range []struct {
		args    []string
		refused string // empty if it is plain
	}{
		{[]string{"-p"}, ""},
		{[]string{"--print", "--model", "sonnet", "--max-turns=3", "--output-format", "json", "--append-system-prompt", "--settings", "a prompt"}, ""}, // that is the system prompt
		{[]string{"-p", "--allowedTools", "WebSearch", "TodoWrite", "--permission-mode=plan"}, ""},
		{[]string{"-p", "--disallowed-tools", "Edit", "Write"}, ""},
		{[]string{"-p", "--", "a prompt"}, ""},
		{nil, "claude"},
		{[]string{"-p", "--settings", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"id > x"}]}]}}`}, "--settings"},
		{[]string{"-p", `--settings={"hooks":{}}`}, "--settings"},
		{[]string{"-p", "--mcp-config", "x.json"}, "--mcp-config"},
		{[]string{"-p", "--plugin-dir=x"}, "--plugin-dir"},
		{[]string{"-p", "--agents", "{}"}, "--agents"},
		{[]string{"-p", "--add-dir", "/"}, "--add-dir"},
		{[]string{"-p", "--dangerously-skip-permissions"}, "--dangerously-skip-permissions"},
		{[]string{"-p", "--permission-mode", "bypassPermissions"}, "--permission-mode=bypassPermissions"},
		{[]string{"-p", "--permission-mode=acceptEdits"}, "--permission-mode=acceptEdits"},
		{[]string{"-p", "--allowedTools", "WebSearch,Bash(ls:*)"}, "--allowedTools=Bash(ls:*)"},
		{[]string{"-p", "--allowed-tools", "WebSearch Bash"}, "--allowed-tools=Bash"},
		{[]string{"-p", "--allowedTools", "WebSearch", "Read"}, "--allowedTools=Read"},
		{[]string{"-p", "--tools", "default"}, "--tools=default"},
		{[]string{"-p", "--input-format", "stream-json"}, "--input-format=stream-json"},
		{[]string{"-p", "--system-prompt-file", "/etc/passwd"}, "--system-prompt-file"},
		{[]string{"-p", "--resume", "x"}, "--resume"},
		{[]string{"-p", "-c"}, "-c"},
		{[]string{"-pc"}, "-pc"},
		{[]string{"-p", "-d"}, "-d"},
		{[]string{"-p", "--debug-file=/home/kim/.bashrc"}, "--debug-file"},
		{[]string{"-p", "--new-option"}, "--new-option"},
		{[]string{"-p", "--new-option=x"}, "--new-option"},
		{[]string{"-p", "mcp"}, "mcp"},
		{[]string{"mcp", "add", "x", "-p"}, "mcp"},
		{[]string{"-p", "--", "mcp"}, "mcp"},
		{[]string{"-p", " /deploy the site"}, " /deploy the site"},
		{[]string{"-p", "--", "--settings"}, "--settings"},
	} {
		with, refused := plain(tt.args)
		if refused != tt.refused || refused == "" && !slices.Equal(with, append([]string{noFiles, tools}, tt.args...)) {
			t.Errorf("%s: %q, %q", strings.Join(tt.args, " "), refused, with)
		}
	}
	if with, refused := plain([]string{"-p", "--tools", ""}); refused != "" || !slices.Equal(with, []string{noFiles, "-p", "--tools", ""}) {
		t.Errorf("%q, %q", refused, with)
	}
}
