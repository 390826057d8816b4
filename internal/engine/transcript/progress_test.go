package transcript

import (
	"reflect"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// What one line leads to, by how the attempt stands before it.
func TestProgress_Told(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := begun.Add(10 * time.Second)
	talk, ceilings := bounds{conversation: true}, bounds{agents: 2, repeats: 3}
	quiet := progress{begun: begun, session: "s", reported: report{at: now}, turn: talkTurn{begun: begun}} // of which there is nothing to report
	with := func(change func(*progress)) progress {
		p := quiet
		change(&p)
		return p
	}
	overload, used := &agent.Retrying{Verdict: verdict.Verdict{Class: verdict.Overloaded}, Wait: time.Minute}, &verdict.Usage{InputTokens: 3}
	test := agent.NewCall("Bash", []byte(`{"command":"go test"}`))
	for name, tt := range map[string]struct {
		before progress
		set    bounds
		info   agent.LineInfo
		after  progress
		want   actions
	}{
		"Nothing": {before: quiet, after: quiet},
		"FirstLine": {before: progress{begun: begun}, want: actions{report: true},
			after: progress{begun: begun, reported: report{at: now}, turn: talkTurn{begun: now}}},
		"Answered": {before: quiet, info: agent.LineInfo{Answered: true}, want: actions{answered: true},
			after: with(func(p *progress) { p.answered, p.first = true, 10*time.Second })},
		"AnsweredAgain": {before: with(func(p *progress) { p.answered, p.first = true, time.Second }), info: agent.LineInfo{Answered: true}, want: actions{answered: true},
			after: with(func(p *progress) { p.answered, p.first = true, time.Second })},
		"ToolBegins": {before: quiet, info: agent.LineInfo{Tools: 1}, want: actions{clock: true, report: true},
			after: with(func(p *progress) { p.tools = true })},
		"ToolGoesOn": {before: with(func(p *progress) { p.tools = true }), info: agent.LineInfo{Tools: 2}, after: with(func(p *progress) { p.tools = true })},
		"Delivered": {before: quiet, info: agent.LineInfo{Delivered: true}, want: actions{delivered: true, report: true},
			after: with(func(p *progress) { p.delivered = true })},
		"WorksOn": {before: with(func(p *progress) { p.delivered = true }), want: actions{working: true, report: true}, after: quiet},
		"Waiting": {before: quiet, set: talk, info: agent.LineInfo{Waiting: true}, want: actions{clock: true, report: true},
			after: with(func(p *progress) { p.waiting = true })},
		"WaitingWithoutACaller": {before: quiet, info: agent.LineInfo{Waiting: true}, after: quiet},
		"StillDue": {before: with(func(p *progress) { p.due = true }), set: talk, info: agent.LineInfo{Waiting: true}, // it is the line before what the caller has said
			after: with(func(p *progress) { p.due = true })},
		"TurnOver": {before: with(func(p *progress) { p.due = true }), set: talk, info: agent.LineInfo{Waiting: true, TurnOver: true},
			want: actions{clock: true, report: true, turnOver: true}, after: with(func(p *progress) { p.waiting = true })},
		"ModelCall": {before: quiet, info: agent.LineInfo{Turn: used}, want: actions{charge: used, report: true}, after: quiet},
		"Model": {before: quiet, info: agent.LineInfo{Models: agent.ModelUse{Used: "small"}}, want: actions{model: true},
			after: with(func(p *progress) { p.model.Used = "small" })},
		"SubAgents":        {before: quiet, set: ceilings, info: agent.LineInfo{SubAgents: 2}, after: quiet},
		"TooManySubAgents": {before: quiet, set: ceilings, info: agent.LineInfo{SubAgents: 3}, want: actions{agents: 3}, after: quiet},
		"Call": {before: quiet, set: ceilings, info: agent.LineInfo{Calls: []agent.Call{test}},
			after: with(func(p *progress) { p.rows = callRows{"": {test, 1}} })},
		"CalledOnceTooOften": {before: with(func(p *progress) { p.rows = callRows{"": {test, 2}} }), set: ceilings, info: agent.LineInfo{Calls: []agent.Call{test}},
			want: actions{repeated: callRow{test, 3}}, after: with(func(p *progress) { p.rows = callRows{"": {test, 3}} })},
		"Retrying": {before: quiet, info: agent.LineInfo{Retrying: overload}, want: actions{report: true, retrying: overload},
			after: with(func(p *progress) { p.reported.retrying, p.retries.trouble = true, now })},
		"RetryingAgain": { // it has waited a minute less than it said
			before: with(func(p *progress) {
				p.retries = innerRetries{count: 1, trouble: begun, paused: now.Add(-3 * time.Second), pause: time.Minute}
			}),
			info: agent.LineInfo{Retrying: overload, Troubled: true}, want: actions{report: true, retrying: overload, slept: 3 * time.Second},
			after: with(func(p *progress) {
				p.reported.retrying, p.retries = true, innerRetries{count: 1, trouble: begun, pause: time.Minute}
			})},
		"Repeated": {before: quiet, info: agent.LineInfo{Retrying: &agent.Retrying{Repeated: true}, Troubled: true}, want: actions{report: true},
			after: with(func(p *progress) { p.reported.retrying = true })},
		"OutOfTrouble": {before: with(func(p *progress) { p.retries = innerRetries{count: 1, trouble: begun} }),
			after: with(func(p *progress) { p.retries.count = 1 })},
		"LimitIsOver": {before: with(func(p *progress) { p.retries.limited = begun }), want: actions{unlimited: 10 * time.Second, slept: 10 * time.Second}, after: quiet},
	} {
		t.Run(name, func(t *testing.T) {
			before := tt.before
			after, got := before.told(tt.set, tt.info, now)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("leads to %+v, not to %+v", got, tt.want)
			}
			after.reported.at, after.reported.doing = tt.after.reported.at, tt.after.reported.doing
			if !reflect.DeepEqual(after, tt.after) {
				t.Errorf("stands at\n%+v, not at\n%+v", after, tt.after)
			}
			if !reflect.DeepEqual(before, tt.before) {
				t.Errorf("what was before is another one now: %+v", before)
			}
		})
	}
}

// A line that says nothing new is reported twice a second at most.
func TestProgress_Reports(t *testing.T) {
	p, now, reports := progress{session: "s"}, time.Now(), 0
	for range 100 {
		var a actions
		if p, a = p.told(bounds{}, agent.LineInfo{}, now); a.report {
			reports++
		}
		now = now.Add(100 * time.Millisecond)
	}
	if reports < 10 || reports > 21 {
		t.Errorf("%d reports in ten seconds", reports)
	}
}

// A limit on cost that is reached ends the attempt before its next model call, and not before the answer that has been paid for.
func TestProgress_Charged(t *testing.T) {
	reached := &belaytype.MaxCostReached{Spent: 2, Limit: 1}
	waiting, working, tools := agent.LineInfo{Waiting: true}, agent.LineInfo{}, agent.LineInfo{Continues: true}
	for name, tt := range map[string]struct {
		set   bounds
		lines []agent.LineInfo // the first one of which reaches the limit
		stops int              // which line stops it; 0 if none does
	}{
		"Answer":           {bounds{}, []agent.LineInfo{working, working, waiting}, 0},
		"AtOnce":           {bounds{}, []agent.LineInfo{tools}, 1},
		"BeforeTheNext":    {bounds{}, []agent.LineInfo{working, working, tools}, 3},
		"CallerAsksForOne": {bounds{conversation: true}, []agent.LineInfo{working, waiting, waiting, working}, 4},
		"CallerIsSilent":   {bounds{conversation: true}, []agent.LineInfo{working, waiting, waiting}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := progress{}.charged(tt.set, agent.LineInfo{Waiting: true, Continues: true}, nil) // before that, nothing is stopped
			stops, told := 0, reached
			for i, info := range tt.lines {
				var a actions
				if p, a = p.charged(tt.set, info, told); a.overspent && stops == 0 {
					stops = i + 1
				}
				told = nil
			}
			if stops != tt.stops {
				t.Errorf("stopped at line %d, not %d", stops, tt.stops)
			}
		})
	}
}

// What the caller says makes it the agent's turn, until the agent has answered that.
func TestProgress_Asked(t *testing.T) {
	talk := bounds{conversation: true}
	p, _ := progress{}.told(talk, agent.LineInfo{Waiting: true}, time.Now())
	p, a := p.asked()
	if p.waiting || !p.due || !a.clock {
		t.Errorf("asked: %+v, %+v", p, a)
	}
	if _, a := p.asked(); a.clock {
		t.Error("the clock of a working agent is set")
	}
	p, _ = p.told(talk, agent.LineInfo{}, time.Now()) // it has begun
	if p, a = p.told(talk, agent.LineInfo{Waiting: true}, time.Now()); !p.waiting || !a.clock {
		t.Errorf("answered: %+v, %+v", p, a)
	}
}

// A wait inside the CLI counts as long as it was, and no longer than the CLI has said.
func TestProgress_Over(t *testing.T) {
	begun := time.Now()
	limited := progress{}.goesOn(&agent.Retrying{}, true, begun)
	paused := progress{}.goesOn(&agent.Retrying{Wait: time.Minute}, false, begun)
	for name, tt := range map[string]struct {
		p    progress
		at   time.Duration
		want actions
	}{
		"Limit":     {limited, time.Hour, actions{unlimited: time.Hour, slept: time.Hour}},
		"Ended":     {paused, time.Second, actions{slept: time.Second}},
		"SleptLate": {paused, time.Hour, actions{slept: time.Minute}},
		"NoWait":    {progress{}, time.Hour, actions{}},
	} {
		t.Run(name, func(t *testing.T) {
			after, a := tt.p.over(begun.Add(tt.at))
			if !reflect.DeepEqual(a, tt.want) || after.retries.count != tt.p.retries.count {
				t.Errorf("%+v, %+v", a, after.retries)
			}
			if _, again := after.over(begun.Add(2 * tt.at)); !reflect.DeepEqual(again, actions{}) {
				t.Errorf("counted twice: %+v", again)
			}
		})
	}
}
