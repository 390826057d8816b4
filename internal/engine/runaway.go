package engine

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// runaway is what tells an agent that has got out of hand, as a value: how often each of its threads has made the same call in a row. The key is that
// of [agent.Call.Thread].
type runaway map[string]sameCalls

// sameCalls is the last call of a thread, and how often it was made without another one in between.
type sameCalls struct {
	call  agent.Call
	times int
}

// excess is a limit that was reached: on calls in a row, with the call, or on sub-agents at once.
type excess struct {
	call  agent.Call // of no tool if it is about sub-agents
	count int
}

// after is the state after a line, and the limit that the line reaches; nil if it reaches none. 0 is no limit: maxAgents says how many sub-agents may work at
// once, maxRepeats which identical call in a row is one too many. A call of which the input is not known, or of another tool, breaks a row; what the
// model says, and what the tools answer, does not. With the end of a turn of a conversation all rows end: its caller may ask for the same again.
func (s runaway) after(told *agent.LineInfo, maxAgents, maxRepeats int) (runaway, *excess) {
	if maxAgents > 0 && told.SubAgents > maxAgents {
		return s, &excess{count: told.SubAgents}
	}
	if told.TurnOver {
		return nil, nil
	}
	if maxRepeats == 0 || len(told.Calls) == 0 {
		return s, nil
	}
	next := runaway{}
	maps.Copy(next, s)
	for _, call := range told.Calls {
		row := next[call.Thread]
		if !call.Same(row.call) {
			row = sameCalls{call: call}
		}
		row.times++
		next[call.Thread] = row
		if call.Key != 0 && row.times >= maxRepeats {
			return next, &excess{call: call, count: row.times}
		}
	}
	return next, nil
}

// TellsWork reports whether a command of that profile tells of its tool calls, and of its sub-agents, so that they can be counted.
func TellsWork(p agent.Profile) (calls, agents bool) {
	if a, ok := p.(agent.Agent); ok && a.Headless() {
		info := a.Info()
		return info.TellsCalls, info.TellsAgents
	}
	return false, false
}

// untold is what a command of that profile does not tell of though there is a limit on it; empty if it tells.
func (c *Ceilings) untold(p agent.Profile) string {
	if c.Agents == 0 && c.Repeats == 0 {
		return ""
	}
	switch calls, agents := TellsWork(p); {
	case c.Repeats > 0 && !calls:
		return "tool calls"
	case c.Agents > 0 && !agents:
		return "sub-agents"
	}
	return ""
}

// checkRunaway stops an attempt that has reached a limit on what an agent does.
func (t *eventLog) checkRunaway(told *agent.LineInfo) {
	limits := &t.call.runner.Ceilings
	if limits.Agents == 0 && limits.Repeats == 0 {
		return
	}
	if limits.Agents > 0 && t.follower.SubAgents != nil {
		told.SubAgents = t.follower.SubAgents()
	}
	var over *excess
	if t.rows, over = t.rows.after(told, limits.Agents, limits.Repeats); over != nil {
		t.stop(t.runawayStop(over, limits))
	}
}

// maxCallShown is how much of a call is shown, in columns.
const maxCallShown = 120

func (t *eventLog) runawayStop(over *excess, limits *Ceilings) *earlyStop {
	name := t.call.command.name()
	if over.call.Tool == "" {
		return ceiling(verdict.Runaway, "max-agents", fmt.Sprintf("%s had %d sub-agents at a time (limit %d) and was terminated", name, over.count, limits.Agents),
			fmt.Sprintf("You were stopped because %d sub-agents of yours worked at a time, and at most %d may. Start fewer, and wait until they are done before you start others.",
				over.count, limits.Agents))
	}
	call := strings.TrimSpace(over.call.Tool + " " + t.call.secrets.Text(over.call.Argument))
	call = printable.CutEnd(printable.Line(call), maxCallShown, "…")
	return ceiling(verdict.Runaway, "max-repeats", fmt.Sprintf("%s made the same call %d times in a row (limit %d) and was terminated: %s", name, over.count, limits.Repeats, call),
		fmt.Sprintf("You were stopped because you made the same tool call %d times in a row: %s. Do not repeat it. Try another way, or say what keeps you from going on.", over.count, call))
}

// agentsInterval is how often sub-agents are counted that show only on the CLI's own record.
const agentsInterval = time.Second

// countAgents counts them from then on, if there is a limit.
func (t *eventLog) countAgents() {
	if t.follower.SubAgents == nil || t.call.runner.Ceilings.Agents == 0 {
		return
	}
	time.AfterFunc(agentsInterval, func() {
		t.reading.Lock()
		defer t.reading.Unlock()
		if !t.closed {
			t.checkRunaway(&agent.LineInfo{})
			t.countAgents()
		}
	})
}
