package claude

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/belay-run/belay/verdict"
)

const priced = "claude-opus-4-8" // 5 dollars a million in, 25 out

func piece(event string) string { return `"type":"stream_event","event":{` + event + `}` }

func starts(id string, in int) string {
	return piece(fmt.Sprintf(`"type":"message_start","message":{"id":%q,"model":%q,"usage":{"input_tokens":%d,"output_tokens":1}}`, id, priced, in))
}

func stops(out int, reason string) string {
	return piece(fmt.Sprintf(`"type":"message_delta","delta":{"stop_reason":%s},"usage":{"output_tokens":%d}`, reason, out))
}

func messageOf(id, parent string, in, out int) string {
	if parent != "" {
		parent = fmt.Sprintf(`"parent_tool_use_id":%q,`, parent)
	}
	return fmt.Sprintf(`"type":"assistant",%s"message":{"id":%q,"model":%q,"content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"output_tokens":%d}}`, parent, id, priced, in, out)
}

// Each model call is told once, when it ends, with its cost; together they are what the attempt has cost.
func TestFollow_Turns(t *testing.T) {
	const end = `"end_turn"`
	for name, tt := range map[string]struct {
		lines []string
		turns string  // of each turn the line that ends it, and the tokens out
		cost  float64 // of all
	}{
		"with pieces":              {[]string{begins, starts("m1", 1000), messageOf("m1", "", 1000, 1), stops(100, end), starts("m2", 2000), messageOf("m2", "", 2000, 1), messageOf("m2", "", 2000, 1), stops(200, end)}, "3:100 7:200", 0.0225},
		"whole messages":           {[]string{begins, messageOf("m1", "", 1000, 100), messageOf("m1", "", 1000, 100), messageOf("m2", "", 2000, 200)}, "1:100 3:200", 0.0225},
		"a message that grows":     {[]string{begins, messageOf("m1", "", 1000, 20), messageOf("m1", "", 1000, 100)}, "1:20 2:80", 0.0075},
		"a subagent's":             {[]string{begins, starts("m1", 1000), messageOf("m1", "", 1000, 1), stops(100, end), messageOf("s1", "t1", 2000, 200)}, "3:100 4:200", 0.0225},
		"a subagent's between":     {[]string{begins, starts("m1", 1000), messageOf("s1", "t1", 2000, 200), messageOf("m1", "", 1000, 1), stops(100, end)}, "2:200 4:100", 0.0225},
		"broken off":               {[]string{begins, starts("m1", 1000), messageOf("m1", "", 1000, 1), stops(50, "null")}, "", 0.00625},
		"after its pieces":         {[]string{begins, starts("m1", 1000), stops(100, end), messageOf("m1", "", 1000, 1)}, "2:100", 0.0075},
		"shown, and not counted":   {[]string{begins, strings.Replace(messageOf("m1", "", 1000, 1), `"text":"x"`, `"text":"`+strings.Repeat("word", 100)+`"`, 1)}, "1:1", 0.0075},
		"claude's own words":       {[]string{begins, strings.Replace(messageOf("m1", "", 0, 0), priced, "<synthetic>", 1)}, "", 0},
		"of a model without price": {[]string{begins, strings.ReplaceAll(messageOf("m1", "", 1000, 100), priced, "m")}, "1:100", 0},
	} {
		f := play(t, "-p hi")
		var turns []string
		var sum verdict.Usage
		for i, line := range tt.lines {
			if turn := f.show(line).Turn; turn != nil {
				turns = append(turns, fmt.Sprintf("%d:%d", i, turn.OutputTokens))
				sum = sum.Add(*turn)
			}
		}
		if got := strings.Join(turns, " "); got != tt.turns {
			t.Errorf("%s: turns %s, want %s", name, got, tt.turns)
		}
		estimate := f.Account().Estimate
		if (estimate == nil) != (tt.cost == 0) || estimate != nil && math.Abs(*estimate-tt.cost) > 1e-12 {
			t.Errorf("%s: estimated %v, want %v", name, estimate, tt.cost)
		}
		if tt.turns != "" && tt.cost > 0 && (sum.CostUSD == nil || math.Abs(*sum.CostUSD-tt.cost) > 1e-12 || !sum.Estimated) {
			t.Errorf("%s: the turns sum up to %+v", name, sum)
		}
	}
}

// The model is about to be asked again as long as tools run, when they have answered, and when claude itself goes on: a hook
// has not let it stop, the answer was cut off at its longest, or is not of the form that was asked for. A loop of that kind
// would otherwise pass every limit on cost.
func TestFollow_Continues(t *testing.T) {
	call := func(name string) string {
		return fmt.Sprintf(`"type":"assistant","message":{"id":"m1","model":%q,"content":[{"type":"tool_use","id":"t1","name":%q}],"usage":{}}`, priced, name)
	}
	const (
		answer  = `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`
		refusal = `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x","is_error":true}]}`
		goOn    = `"type":"user","message":{"content":[{"type":"text","text":"Stop hook feedback: not yet"}]},"isSynthetic":true`
		again   = `"type":"user","message":{"content":[{"type":"text","text":"and now?"}]},"isReplay":true`
		abort   = `"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}`
		result  = `"type":"result","subtype":"success","result":"x","usage":{}`
	)
	says, of := messageOf("m2", "", 10, 1), func(line string) string { return `"parent_tool_use_id":"t0",` + line }
	for name, tt := range map[string]struct {
		args  string
		lines []string
		want  bool
	}{
		"answers":                          {"-p hi", []string{says}, false},
		"a tool runs":                      {"-p hi", []string{call("Bash")}, true},
		"a tool has answered":              {"-p hi", []string{call("Bash"), answer}, true},
		"and so has the model":             {"-p hi", []string{call("Bash"), answer, says}, false},
		"gives the form":                   {"-p hi", []string{call(answerTool)}, false},
		"has given the form":               {"-p hi", []string{call(answerTool), answer}, false},
		"has given another form":           {"-p hi", []string{call(answerTool), refusal}, true},
		"is not let stop":                  {"-p hi", []string{says, goOn}, true},
		"is not let stop in a talk":        {"-p --input-format stream-json --output-format stream-json --verbose", []string{says, goOn}, true},
		"the caller asks on, and is shown": {"-p --input-format stream-json --output-format stream-json --verbose", []string{says, again}, false},
		"was interrupted":                  {"-p hi", []string{says, abort}, false},
		"a subagent is asked":              {"-p hi", []string{says, of(goOn)}, false},
		"has its result":                   {"-p hi", []string{says, goOn, result}, false},
		"goes on after its result":         {"-p hi", []string{says, result, goOn}, false},
	} {
		f := play(t, tt.args)
		f.show(begins)
		got := false
		for _, line := range tt.lines {
			got = f.show(line).Continues
		}
		if got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What the answers of a conversation have cost is known for certain when claude tells it with a result; until then there may be
// only what was shown of them. If the next turn is broken off, what was told still holds.
func TestFollow_ConversationIsSettled(t *testing.T) {
	result := func(cost float64) string {
		return fmt.Sprintf(`"type":"result","subtype":"success","result":"x","total_cost_usd":%v,"usage":{},"modelUsage":{%q:{"inputTokens":1000}}`, cost, priced)
	}
	f := play(t, "-p --input-format stream-json --output-format stream-json --verbose")
	sum := 0.0
	for i, tt := range []struct {
		line string
		want float64 // what was told until then
	}{
		{begins, 0}, {messageOf("m1", "", 1000, 1), 0.005025}, {result(0.0125), 0.0125}, {result(0.0125), 0.0125},
		{begins, 0.0125}, {messageOf("m2", "", 1000, 1), 0.017525}, {result(0.03), 0.03},
		{begins, 0.03}, {messageOf("m3", "", 1000, 1), 0.035025},
	} {
		if turn := f.show(tt.line).Turn; turn != nil {
			sum += *turn.CostUSD
		}
		if math.Abs(sum-tt.want) > 1e-9 {
			t.Errorf("after line %d: %v, want %v", i, sum, tt.want)
		}
	}
	if got := f.Account().Estimate; got == nil || math.Abs(*got-0.035025) > 1e-9 {
		t.Errorf("estimate %v", got)
	}
}
