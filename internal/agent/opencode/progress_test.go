package opencode_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/opencode"
)

// What opencode tells people on stderr is what it prints there itself, to the byte.
func TestProgress(t *testing.T) {
	const part = `{"type":"tool_use","sessionID":"` + session + `","part":{"type":"tool","callID":"c","tool":"TOOL","state":STATE}}`
	for name, tt := range map[string]struct{ tool, state, want string }{
		"Bash":     {"bash", `{"status":"completed","input":{"command":"make"},"output":"ok\n"}`, "\x1b[0m$ \x1b[0mmake\nok\n\x1b[0m\n"},
		"Silent":   {"bash", `{"status":"completed","input":{"command":"true"},"output":""}`, "\x1b[0m$ \x1b[0mtrue\n"},
		"Read":     {"read", `{"status":"completed","input":{"filePath":"/src/there/a/b.go","offset":3,"limit":10}}`, "\x1b[0m→ \x1b[0mRead a/b.go\x1b[90m [offset=3, limit=10]\x1b[0m\n"},
		"Outside":  {"read", `{"status":"completed","input":{"filePath":"/etc/hosts"}}`, "\x1b[0m→ \x1b[0mRead /etc/hosts\n"},
		"Write":    {"write", `{"status":"completed","input":{"filePath":"x"},"output":"Wrote file."}`, "\x1b[0m← \x1b[0mWrite x\nWrote file.\n\x1b[0m\n"},
		"Edit":     {"edit", `{"status":"completed","input":{"filePath":"x"},"metadata":{"diff":"-a\n+b"}}`, "\x1b[0m← \x1b[0mEdit x\n-a\n+b\n\x1b[0m\n"},
		"Glob":     {"glob", `{"status":"completed","input":{"pattern":"*.go","path":"sub"},"metadata":{"count":1}}`, "\x1b[0m✱ \x1b[0mGlob \"*.go\"\x1b[90m in sub · 1 match\x1b[0m\n"},
		"Grep":     {"grep", `{"status":"completed","input":{"pattern":"x"},"metadata":{"matches":2}}`, "\x1b[0m✱ \x1b[0mGrep \"x\"\x1b[90m 2 matches\x1b[0m\n"},
		"Task":     {"task", `{"status":"completed","input":{"description":"Look","subagent_type":"general"}}`, "\x1b[0m✓ \x1b[0mLook\x1b[90m General Agent\x1b[0m\n"},
		"Todos":    {"todowrite", `{"status":"completed","input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}}`, "\x1b[0m# \x1b[0mTodos\n[✓] a\n[ ] b\n\x1b[0m\n"},
		"Other":    {"lab_ping", `{"status":"completed","input":{"a":1},"title":""}`, "\x1b[0m⚙ \x1b[0mlab_ping {\"a\":1}\n"},
		"Patch":    {"apply_patch", `{"status":"completed","metadata":{"files":[{},{}]}}`, "\x1b[0m% \x1b[0mPatch 2 files\n"},
		"Fetch":    {"webfetch", `{"status":"completed","input":{"url":"https://x"}}`, "\x1b[0m% \x1b[0mWebFetch https://x\n"},
		"List":     {"list", `{"status":"completed","input":{}}`, "\x1b[0m→ \x1b[0mList\n"},
		"Skill":    {"skill", `{"status":"completed","input":{"name":"x"}}`, "\x1b[0m→ \x1b[0mSkill \"x\"\n"},
		"Rejected": {"read", `{"status":"error","input":{"filePath":"/etc/hosts"},"error":"The user rejected permission"}`, "\x1b[0m✗ \x1b[0mRead /etc/hosts failed\n\x1b[91m\x1b[1mError: \x1b[0mThe user rejected permission\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := opencode.New([]string{"opencode", "run", "hi"}, nil, "/src/there")
			plan, err := p.Plan(agent.Turn{})
			if err != nil {
				t.Fatal(err)
			}
			plan.Progress.Wanted = true
			f := p.Follow(plan)
			filter := f.(agent.StderrFilter)
			filter.StderrLine([]byte("timestamp=1 level=INFO run=1 message=loop session.id=" + session + " step=0"))
			head, _ := filter.StderrLine([]byte("timestamp=1 level=INFO run=1 message=stream modelID=gpt-5 session.id=" + session + " small=false agent=build"))
			if got := head.Progress.Text(nil); got != "\x1b[0m\n> build · gpt-5\n\x1b[0m\n" {
				t.Errorf("%q", got)
			}
			line := strings.NewReplacer("TOOL", tt.tool, "STATE", tt.state).Replace(part)
			if got := f.Line(agent.Line{Text: []byte(line)}).Progress.Text(nil); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
