package enginetest

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Agent is the profile of a scripted agent: what it prints are [Event] lines. The zero value is a headless one.
type Agent struct {
	CLI    string // its name; empty means claude, whose preset it has then
	Facts  agent.Info
	Person bool                        // it works for a person
	Turns  func(agent.Turn)            // is told of each turn that is planned
	Refuse func(agent.Turn) error      // says which turns cannot be planned
	Plans  func(agent.Turn) agent.Plan // how a turn is started; nil means as it is, with the prompt on stdin
	Asks   agent.Request               // what another CLI can be told of its command line
	Beside *Beside                     // what it tells beside its events; nil if that is nothing
}

// Beside is what an agent tells beside its events: an [Event] on a line of stderr, and what Record returns.
type Beside struct {
	Record func() (Event, bool) // is asked what is new on record
	Code   func(int) int        // the exit code in the form that was asked for
	Agents func() int           // the sub-agents on record; nil if there is nothing of them
}

func (a *Agent) Name() string {
	if a.CLI == "" {
		return "claude"
	}
	return a.CLI
}
func (a *Agent) Headless() bool                                       { return !a.Person }
func (a *Agent) Reads() bool                                          { return true }
func (a *Agent) Judge(verdict.Outcome, time.Time) (v verdict.Verdict) { return v }

// Info implements [agent.Agent].
func (a *Agent) Info() agent.Info {
	info := a.Facts
	info.Request = func() agent.Request { return a.Asks }
	info.WithModel = func(model string) []string { return []string{a.Name(), "-p", "--model", model} }
	if info.Ladder == nil {
		info.Ladder = supervise.Terminate
	}
	return info
}

// Plan implements [agent.Agent].
func (a *Agent) Plan(t agent.Turn) (agent.Plan, error) {
	if a.Refuse != nil {
		if err := a.Refuse(t); err != nil {
			return agent.Plan{}, err
		}
	}
	if a.Turns != nil {
		a.Turns(t)
	}
	if a.Plans != nil {
		return a.Plans(t), nil
	}
	p := agent.Plan{Args: []string{a.Name(), "-p"}, Stdin: t.Stdin, Plain: t.Plain}
	if t.Prompt != nil {
		p.Stdin = []byte(*t.Prompt)
	}
	return p, nil
}

// Follow implements [agent.Agent].
func (a *Agent) Follow(p agent.Plan) agent.Follower {
	f := &follower{plain: p.Plain}
	follower := agent.Follower{Reader: f, JudgeTurn: f.judgeTurn}
	if a.Beside == nil {
		return follower
	}
	follower.ExitCode, follower.SubAgents = a.Beside.Code, a.Beside.Agents
	follower.StderrLine = func(line []byte) (agent.LineInfo, bool) {
		info := f.Line(agent.Line{Text: line})
		return info, !info.Foreign
	}
	if a.Beside.Record != nil {
		follower.Look = func() (agent.LineInfo, bool) {
			e, ok := a.Beside.Record()
			data, _ := json.Marshal(e)
			return f.Line(agent.Line{Text: data}), ok
		}
	}
	return follower
}

// Event is a line of a scripted agent. What is not set says nothing.
type Event struct {
	Session  string          `json:"session,omitempty"`
	Text     string          `json:"text,omitempty"` // of the model: an answer
	Answered bool            `json:"answered,omitempty"`
	Tools    int             `json:"tools,omitempty"`
	Done     bool            `json:"done,omitempty"`    // the result is there
	Turn     *verdict.Usage  `json:"turn,omitempty"`    // a model call has ended
	GoesOn   bool            `json:"goes_on,omitempty"` // the model will be asked again
	Foreign  bool            `json:"foreign,omitempty"`
	Show     agent.Show      `json:"show,omitempty"`
	Retry    verdict.Class   `json:"retry,omitempty"` // it tries again by itself
	Wait     time.Duration   `json:"wait,omitempty"`
	Hopeless bool            `json:"hopeless,omitempty"`
	Repeated bool            `json:"repeated,omitempty"` // it has told of that retry before
	Class    verdict.Class   `json:"class,omitempty"`    // what it was worth, at the end
	Hint     time.Duration   `json:"hint,omitempty"`
	Models   agent.ModelUse  `json:"models,omitzero"`
	Quota    []quota.Window  `json:"quota,omitempty"`
	Account  json.RawMessage `json:"account,omitempty"` // an agent.Account, in place of what is known

	Use
	Talk
}

// Use is what an event says of tools.
type Use struct {
	Tool     string `json:"tool,omitempty"` // begins
	Argument string `json:"argument,omitempty"`
	Input    string `json:"input,omitempty"`  // of the tool, all of it
	Times    int    `json:"times,omitempty"`  // that it is called, side by side; 0 means once
	Agents   int    `json:"agents,omitempty"` // that work now
	Said     string `json:"said,omitempty"`   // before that
}

// Talk is what an event says of a conversation.
type Talk struct {
	Waiting  bool `json:"waiting,omitempty"`
	TurnOver bool `json:"turn_over,omitempty"`
}

// Line prints an event.
func Line(e Event) Step { return Print(Text(e)) }

// Text is an event as it is printed.
func Text(e Event) string {
	data, _ := json.Marshal(e)
	return string(data) + "\n"
}

// Lines are attempts' steps that print events one after the other.
func Lines(events ...Event) (steps []Step) {
	for _, e := range events {
		steps = append(steps, Line(e))
	}
	return steps
}

// Account is an account in an event.
func Account(a agent.Account) json.RawMessage {
	data, _ := json.Marshal(a)
	return data
}

type follower struct {
	plain   bool // all that is printed is the answer
	account agent.Account
	tools   agent.Tools
	final   verdict.Verdict
	judged  bool
	answer  agent.Answer
}

func (f *follower) Line(line agent.Line) agent.LineInfo {
	var e Event
	if json.Unmarshal(line.Text, &e) != nil {
		return agent.LineInfo{Foreign: true}
	}
	if e.Session != "" {
		f.account.Session = e.Session
	}
	if e.Text != "" {
		f.answer = agent.NewAnswer(line, "text", e.Text)
		f.account.Active = true
	}
	if e.Tool != "" {
		f.tools.Begin(e.Tool, e.Tool)
		f.account.Tools = f.tools.Use()
	}
	if e.Account != nil {
		json.Unmarshal(e.Account, &f.account)
	}
	if e.Class != "" {
		f.final, f.judged = verdict.Verdict{Class: e.Class, Retryable: e.Class.Retryable(), Evidence: e.Text, Hint: verdict.Hint{After: e.Hint}}, true
	}
	info := agent.LineInfo{Answered: e.Answered || e.Text != "", Tools: e.Tools, Delivered: e.Done, Waiting: e.Waiting, TurnOver: e.TurnOver, Turn: e.Turn, Continues: e.GoesOn, Show: e.Show, Foreign: e.Foreign, Models: e.Models, Quota: e.Quota, SubAgents: e.Agents}
	if e.Tool != "" {
		info.Activity = agent.Activity{Doing: agent.UsingTool, Tool: e.Tool, Argument: e.Argument}
		info.Begun, info.Said = info.Activity, e.Said
		info.Calls = slices.Repeat([]agent.Call{agent.NewCall(e.Tool, []byte(e.Input))}, max(e.Times, 1))
	}
	if e.Retry != "" {
		info.Retrying = &agent.Retrying{Wait: e.Wait, Hopeless: e.Hopeless, Repeated: e.Repeated,
			Verdict: verdict.Verdict{Class: e.Retry, Retryable: e.Retry.Retryable(), Evidence: "HTTP error", Hint: verdict.Hint{After: e.Hint}}}
	}
	return info
}

func (f *follower) judgeTurn(time.Time) verdict.Verdict { return f.final }

func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	v := f.final
	switch {
	case f.judged:
	case o.ExitCode == 0 && o.Signal == "":
		v = verdict.Verdict{Class: verdict.OK}
	default:
		v = verdict.Verdict{Class: verdict.Unknown}
	}
	v.SessionID, v.Usage = f.account.Session, f.account.Usage.JSON()
	return v
}

func (f *follower) Account() agent.Account { return f.account }

func (f *follower) Render(w io.Writer, form agent.Form) error {
	if f.answer.String() == "" {
		return nil
	}
	_, err := f.answer.WriteTo(w)
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

func (f *follower) Answer() agent.Answer {
	if f.plain {
		return agent.Printed
	}
	return f.answer
}

// ErrUsedUp is the error of a turn for which nothing is left.
var ErrUsedUp error = &agent.UsedUp{Option: "--max-turns"}

// ErrNoPlan is the error of a turn that cannot be planned.
var ErrNoPlan = errors.New("the prompt is too long")
