package engine

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// callRows are the last call of each thread of an agent, and how often that was made in a row. The key is that of [agent.Call.Thread].
type callRows map[string]callRow

type callRow struct {
	call  agent.Call
	times int
}

// add counts a call, and returns how often it was made without another one in between. A call of which the input is not known, or of another tool, breaks a
// row; what the model says, and what the tools answer, does not.
func (r callRows) add(call agent.Call) int {
	times := 1
	if last := r[call.Thread]; call.Same(last.call) {
		times += last.times
	}
	r[call.Thread] = callRow{call, times}
	return times
}

// maxCallShown is how much of a call is shown, in columns.
const maxCallShown = 120

// checkRunaway stops an attempt in which more sub-agents work at once than may, or that has made a call once too often. With the end of a turn of a
// conversation all rows end: its caller may ask for the same again.
func (t *eventLog) checkRunaway(told agent.LineInfo) {
	name, most, limit := t.call.command.name(), t.call.runner.Ceilings.Agents, t.call.runner.Ceilings.Repeats
	if most > 0 && t.follower.SubAgents != nil {
		told.SubAgents = t.follower.SubAgents()
	}
	if n := told.SubAgents; most > 0 && n > most {
		t.stop(ceiling(verdict.Runaway, "max-agents",
			fmt.Sprintf("%s had %d sub-agents at a time (limit %d) and was terminated", name, n, most),
			fmt.Sprintf("You were stopped because %d sub-agents of yours worked at a time, and at most %d may. "+
				"Start fewer, and wait until they are done before you start others.", n, most)))
	}
	if told.TurnOver {
		clear(t.rows)
	}
	for _, c := range told.Calls {
		if n := t.rows.add(c); limit > 0 && n >= max(2, limit) && c.Key != 0 {
			call := strings.TrimSpace(c.Tool + " " + t.call.secrets.Text(c.Argument))
			call = printable.CutEnd(printable.Line(call), maxCallShown, "…")
			t.stop(ceiling(verdict.Runaway, "max-repeats",
				fmt.Sprintf("%s made the same call %d times in a row (limit %d) and was terminated: %s", name, n, limit, call),
				fmt.Sprintf("You were stopped because you made the same tool call %d times in a row: %s. "+
					"Do not repeat it. Try another way, or say what keeps you from going on.", n, call)))
		}
	}
}
