package codex

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

// The records of threads tell of sub-agents, in each of the two ways that 0.166 has, and of those of sub-agents.
func TestSubAgents(t *testing.T) {
	const root, a, b, c = "01a1ef77-7989-70c1-b6df-a726929cc75e", "01a1ef77-7a13-70e1-9a4b-87e943cb4257", "01a1ef77-ed98-7dc3-a8c4-ddf6945e0e98", "01a1ef79-aae9-7760-9452-35f4dcda28f0"
	const at = `{"timestamp":"2026-11-18T16:22:27.115Z","type":"event_msg","payload":`
	activity := func(kind, thread string) string {
		return at + `{"type":"item_completed","item":{"type":"SubAgentActivity","id":"call_1","kind":"` + kind + `","agent_thread_id":"` + thread + `","agent_path":"/root/one"}}}`
	}
	collab := func(tool, thread, state string) string {
		return at + `{"type":"item_completed","item":{"type":"CollabAgentToolCall","id":"call_1","tool":"` + tool + `","agents_states":{"` + thread + `":` + state + `}}}}`
	}
	begins, ends, stops := at+`{"type":"task_started","turn_id":"x"}}`, at+`{"type":"task_complete","last_agent_message":"done"}}`, at+`{"type":"turn_aborted","reason":"interrupted"}}`
	home := t.TempDir()
	day := filepath.Join(home, "sessions", "2026", "11", "18")
	must.OK(t, os.MkdirAll(day, 0o700))
	write := func(thread, line string) {
		f, err := os.OpenFile(filepath.Join(day, "rollout-2026-11-18T16-22-26-"+thread+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must.OK(t, err)
		_, err = f.WriteString(line + "\n")
		must.OK(t, err)
		must.OK(t, f.Close())
	}
	write(root, activity("started", "01a1ef70-0000-7000-8000-000000000000")) // in an attempt before
	p := New(words("codex exec resume "+root+" hi"), []string{"CODEX_HOME=" + home}, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	f := p.Follow(plan)
	if n := f.SubAgents(); n != 0 {
		t.Errorf("%d before it has begun", n)
	}
	f.Line(agent.Line{Text: []byte(`{"type":"thread.started","thread_id":"` + root + `"}`)})
	for i, step := range []struct {
		thread, line string
		agents       int
	}{
		{root, begins, 0},
		{root, activity("started", a), 1}, // which has no record yet
		{a, begins, 1},                    // a copy of what its parent did
		{a, stops, 0},
		{a, begins, 1},
		{a, activity("started", b), 2},
		{b, begins, 2},
		{b, ends, 1},
		{root, activity("interacted", a), 1},
		{a, ends, 0},
		{root, activity("completed", a), 0},
		{a, begins, 1}, // a further task
		{a, ends, 0},
		{root, collab("spawn_agent", c, `"pending_init"`), 1},
		{c, begins, 1},
		{root, collab("wait", c, `{"completed":"done"}`), 1},
		{c, ends, 0},
		{root, activity("started", "../../../*"), 0},
	} {
		write(step.thread, step.line)
		if n := f.SubAgents(); n != step.agents {
			t.Errorf("step %d: %d", i, n)
		}
		if active := f.Account().Active; active != (i > 0) {
			t.Errorf("step %d: active is %v", i, active)
		}
	}
}
