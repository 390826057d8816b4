package claude

import (
	"cmp"
	"maps"
)

// call notes the call of a tool by a thread.
func (f *follower) call(thread string, b block) {
	c := b.Input.call
	c.Thread, c.Tool = thread, b.Name
	f.Tools.Call(b.ID, c)
	if b.Name == "Agent" || b.Name == "Task" { // as it was called before 2.1
		f.Agents.Begin(b.ID, "")
	}
}

// agentReturned takes the result of a call. That of a sub-agent in the background says only that it was started.
func (f *follower) agentReturned(call string) {
	if f.Agents[call] == "" {
		delete(f.Agents, call)
	}
}

// agentStarted takes a task that has begun. It may be a sub-agent: mostly one of a call that was seen.
func (f *follower) agentStarted(e event) {
	switch e.TaskType {
	case "local_agent", "remote_agent", "in_process_teammate":
		background := ""
		if e.Backgrounded == nil || *e.Backgrounded {
			background = e.TaskID
		}
		f.Agents.Begin(cmp.Or(e.ToolUseID, e.TaskID), background)
	}
}

// agentEnded takes a task that has ended.
func (f *follower) agentEnded(e event) {
	maps.DeleteFunc(f.Agents, func(id, background string) bool { return id == e.ToolUseID || id == e.TaskID || background == e.TaskID })
}
