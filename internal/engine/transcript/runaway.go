package transcript

import (
	"fmt"
	"maps"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
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

// after are the rows after a line, and the first of its calls that was made once too often; the zero value if none was. With the end of a turn of a
// conversation all rows end: its caller may ask for the same again.
func (r callRows) after(info agent.LineInfo, limit int) (rows callRows, repeated callRow) {
	if rows = maps.Clone(r); rows == nil || info.TurnOver {
		rows = callRows{}
	}
	for _, c := range info.Calls {
		if n := rows.add(c); n >= max(2, limit) && c.Key != 0 && repeated.times == 0 {
			repeated = rows[c.Thread]
		}
	}
	return rows, repeated
}

// maxCallShown is how much of a call is shown, in columns.
const maxCallShown = 120

// tooManyAgents is why an attempt is stopped in which n sub-agents work at a time, where at most that many may.
func tooManyAgents(name string, n, most int) *EarlyStop {
	return AboveCeiling(verdict.Runaway, "max-agents",
		fmt.Sprintf("%s had %d sub-agents at a time (limit %d) and was terminated", name, n, most),
		fmt.Sprintf("You were stopped because %d sub-agents of yours worked at a time, and at most %d may. "+
			"Start fewer, and wait until they are done before you start others.", n, most))
}

// tooManyRepeats is why an attempt is stopped that has made a call as often as the row says.
func tooManyRepeats(name string, r callRow, limit int, secrets *redact.Known) *EarlyStop {
	call := strings.TrimSpace(r.call.Tool + " " + secrets.Text(r.call.Argument))
	call = printable.CutEnd(printable.Line(call), maxCallShown, "…")
	return AboveCeiling(verdict.Runaway, "max-repeats",
		fmt.Sprintf("%s made the same call %d times in a row (limit %d) and was terminated: %s", name, r.times, limit, call),
		fmt.Sprintf("You were stopped because you made the same tool call %d times in a row: %s. "+
			"Do not repeat it. Try another way, or say what keeps you from going on.", r.times, call))
}
