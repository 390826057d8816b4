package profile_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
)

// Each agent tells of the calls of its tools, whether they are the same, which thread makes them, and how many sub-agents work. The lines are those of the real
// CLIs, shortened.
func TestCalls(t *testing.T) {
	type step struct {
		line   string // of stderr, if it begins with timestamp=
		calls  string // thread, tool and argument of each; = before one that is the same as the call before
		agents int
	}
	const session = `"session_id":"64b6fe62-8433-463f-81b2-994c7d1c0981"`
	claudeCall := func(parent, id, name, input string) string {
		return `{"type":"assistant",` + session + `,"parent_tool_use_id":` + parent + `,"message":{"id":"m","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]}}`
	}
	claudeResult := func(id string) string {
		return `{"type":"user",` + session + `,"message":{"role":"user","content":[{"tool_use_id":"` + id + `","type":"tool_result","content":"x"}]}}`
	}
	task := func(subtype, id, call, fields string) string {
		return `{"type":"system",` + session + `,"subtype":"` + subtype + `","task_id":"` + id + `","tool_use_id":"` + call + `"` + fields + `}`
	}
	background := func(ids ...string) string {
		var tasks []string
		for _, id := range ids {
			tasks = append(tasks, `{"task_id":"`+id+`","task_type":"local_agent"}`)
		}
		return `{"type":"system",` + session + `,"subtype":"background_tasks_changed","tasks":[` + strings.Join(tasks, ",") + `]}`
	}
	sub := `{"description":"sub","prompt":"do it"}`
	codexItem := func(event, fields string) string { return `{"type":"item.` + event + `","item":{` + fields + `}}` }
	gemini := func(kind, fields string) string {
		return `{"type":"` + kind + `","timestamp":"2026-11-18T16:26:42.100Z",` + fields + `}`
	}
	opencodeLog := func(fields string) string {
		return "timestamp=2026-11-18T16:25:28.949Z level=INFO run=4607f757 message=" + fields
	}
	for command, steps := range map[string][]step{
		"claude -p": {
			{claudeCall("null", "t1", "Bash", `{"command":"make","description":"Build"}`), "/Bash make", 0},
			{claudeCall("null", "t1", "Bash", `{"command":"make","description":"Build"}`), "", 0}, // the same event once more
			{claudeResult("t1"), "", 0},
			{claudeCall("null", "t2", "Bash", `{"command":"make","description":"Build again"}`), "=/Bash make", 0},
			{claudeCall("null", "t3", "Agent", sub), "/Agent sub", 1},
			{background("a3"), "", 1},
			{task("task_started", "a3", "t3", `,"task_type":"local_agent","is_backgrounded":true`), "", 1},
			{claudeResult("t3"), "", 1}, // it was launched
			{claudeCall(`"t3"`, "t4", "Bash", `{"command":"make"}`), "t3/Bash make", 1},
			{claudeCall("null", "t5", "Agent", sub), "/Agent sub", 2},
			{task("task_started", "a5", "t5", `,"task_type":"local_agent","is_backgrounded":false`), "", 2},
			{background("a3", "b6"), "", 2},
			{task("task_started", "b6", "t6", `,"task_type":"local_bash","is_backgrounded":true`), "", 2},
			{task("task_notification", "a5", "t5", `,"status":"completed"`), "", 1},
			{claudeResult("t5"), "", 1},
			{task("task_started", "w7", "", `,"task_type":"local_agent"`), "", 2}, // of a workflow
			{background("b6"), "", 0},
			{claudeCall("null", "t8", "Task", sub), "/Task sub", 1}, // 2.0
			{claudeResult("t8"), "", 0},
		},
		"codex exec": {
			{`{"type":"thread.started","thread_id":"01a1ef77-7989-70c1-b6df-a726929cc75e"}`, "", 0},
			{codexItem("started", `"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'echo a'"`), "/exec echo a", 0},
			{codexItem("completed", `"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'echo a'","aggregated_output":"a"`), "", 0},
			{codexItem("completed", `"id":"item_1","type":"agent_message","text":"once more"`), "", 0},
			{codexItem("started", `"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo a'"`), "=/exec echo a", 0},
			{codexItem("completed", `"id":"item_3","type":"file_change","changes":[{"path":"x.go"}]`), "/patch x.go", 0},
			{codexItem("completed", `"id":"item_4","type":"file_change","changes":[{"path":"x.go"}]`), "/patch x.go", 0}, // its input is not told
			{codexItem("started", `"id":"item_5","type":"collab_tool_call","tool":"wait","receiver_thread_ids":[]`), "/wait", 0},
			{codexItem("started", `"id":"item_6","type":"collab_tool_call","tool":"wait","receiver_thread_ids":[]`), "/wait", 0},
			{codexItem("started", `"id":"item_7","type":"mcp_tool_call","server":"s","tool":"find","arguments":{"query":"x"}`), "/s.find x", 0},
			{codexItem("started", `"id":"item_8","type":"mcp_tool_call","server":"s","tool":"find","arguments":{"query":"x"}`), "=/s.find x", 0},
			{codexItem("started", `"id":"item_9","type":"todo_list","items":[]`), "/todo_list", 0},
		},
		"gemini -p hi": {
			{gemini("tool_use", `"tool_name":"run_shell_command","tool_id":"t1","parameters":{"command":"make","description":"a"}`), "/run_shell_command make", 0},
			{gemini("tool_use", `"tool_name":"run_shell_command","tool_id":"t2","parameters":{"command":"make","description":"b"}`), "=/run_shell_command make", 0},
			{gemini("tool_use", `"tool_name":"invoke_agent","tool_id":"t3","parameters":{"agent_name":"generalist","prompt":"x"}`), "/invoke_agent", 1},
			{gemini("tool_use", `"tool_name":"invoke_agent","tool_id":"t4","parameters":{"agent_name":"generalist","prompt":"y"}`), "/invoke_agent", 2},
			{gemini("tool_result", `"tool_id":"t3","status":"success"`), "", 1},
			{gemini("result", `"status":"success"`), "", 0},
		},
		"opencode run hi": {
			{opencodeLog("created id=ses_e1085d0b7ffeePBUq02wDinJ7F version=1.18.33 parentID=undefined"), "", 0},
			{opencodeLog("created id=ses_e1085bf8affeNvkfNzSLKWvIDq version=1.18.33 parentID=ses_e1085d0b7ffeePBUq02wDinJ7F"), "", 1},
			{opencodeLog(`"exiting loop" session.id=ses_e1085bf8affeNvkfNzSLKWvIDq`), "", 0},
			{`{"type":"tool_use","sessionID":"ses_e1085d0b7ffeePBUq02wDinJ7F","part":{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"make"}}}}`, "/bash make", 0},
			{`{"type":"tool_use","sessionID":"ses_e1085d0b7ffeePBUq02wDinJ7F","part":{"type":"tool","tool":"bash","callID":"c2","state":{"status":"completed","input":{"command":"make"}}}}`, "=/bash make", 0},
			{opencodeLog("created id=ses_e1085bf8affeNvkfNzSLKWvIDr version=1.18.33 parentID=ses_e1085d0b7ffeePBUq02wDinJ7F"), "", 1},
			{`{"type":"step_finish","sessionID":"ses_e1085d0b7ffeePBUq02wDinJ7F","part":{"type":"step-finish","reason":"tool-calls","tokens":{"input":1,"output":1}}}`, "", 0},
		},
	} {
		t.Run(command, func(t *testing.T) {
			args := strings.Fields(command)
			a := profile.OfCommand(args[0]).New(args, []string{"HOME=" + t.TempDir()}, "").(agent.Agent)
			if info := a.Info(); !info.TellsCalls || !info.TellsAgents {
				t.Error("it does not say that it tells")
			}
			plan, err := a.Plan(agent.Turn{})
			if err != nil {
				t.Fatal(err)
			}
			f := a.Follow(plan)
			var last agent.Call
			for i, step := range steps {
				var info agent.LineInfo
				if strings.HasPrefix(step.line, "timestamp=") {
					info, _ = f.StderrLine([]byte(step.line))
				} else {
					info = f.Line(agent.Line{Text: []byte(step.line)})
				}
				var calls []string
				for _, c := range info.Calls {
					same := ""
					if c.Same(last) {
						same = "="
					}
					last = c
					calls = append(calls, strings.TrimSpace(same+c.Thread+"/"+c.Tool+" "+c.Argument))
				}
				if got := strings.Join(calls, ", "); got != step.calls || info.SubAgents != step.agents {
					t.Errorf("step %d: %q and %d sub-agents, want %q and %d", i, got, info.SubAgents, step.calls, step.agents)
				}
			}
		})
	}
}
