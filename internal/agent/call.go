package agent

import (
	"encoding/json"
	"hash/maphash"
)

// Call is the call of a tool, as far as it matters whether the next one is the same.
type Call struct {
	// Thread is the sub-agent that makes it; empty for the agent itself.
	Thread string
	// Tool and Argument are those of an [Activity].
	Tool, Argument string
	// Key is the same for the same input. 0 says that the input is not known: no call is the same as this one.
	Key uint64
}

// Same reports whether the call is known to be the same as another.
func (c Call) Same(as Call) bool { return c.Key != 0 && c.Key == as.Key && c.Tool == as.Tool }

// keySeed makes keys that mean nothing outside of this process.
var keySeed = maphash.MakeSeed()

// NewCall is the call of a tool with that input, which is JSON or the only thing that the tool takes. Nil means that it is not known. What a model
// says about a command for people to read is not part of it.
func NewCall(tool string, input []byte) Call {
	c := Call{Tool: tool, Argument: ToolArgument(input)}
	var fields map[string]json.RawMessage
	if c.Argument != "" && json.Unmarshal(input, &fields) == nil && fields["command"] != nil {
		delete(fields, "description")
		input, _ = json.Marshal(fields)
	}
	if len(input) > 0 {
		c.Key = maphash.Bytes(keySeed, input) | 1
	}
	return c
}

// Note says that a tool has been called where nothing else is followed of the call.
func (t *Tools) Note(c Call) { t.noted = append(t.noted, c) }

// Noted are the calls since it was last asked.
func (t *Tools) Noted() []Call {
	calls := t.noted
	t.noted = nil
	return calls
}

// agentTools start a sub-agent and run as long as it works: those of claude, also before 2.1, and of gemini.
var agentTools = []string{"Agent", "Task", "invoke_agent"}

// SetAgent says whether a call that runs is a sub-agent at work. One in the background has ended, or goes on, by itself.
func (t *Tools) SetAgent(id string, works bool) {
	if one, ok := t.open[id]; ok {
		one.agent = works
		t.open[id] = one
	}
}
