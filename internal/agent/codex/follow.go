package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/verdict"
)

// follower reads the output of one attempt.
type follower struct {
	agent.Attempt
	resumes     bool // it resumes one, whichever
	reviews     bool // it is a review
	start       time.Time
	from        int64      // where its part begins in the record of a thread that was there before
	home        string     // where codex keeps its records
	silentLimit func() int // how many retries codex makes before it reports one
	prices      *price.Table
	model       func() string // the one that the command line or the config asks for; empty if none does

	completed       bool
	failure         string // why the turn failed, in codex's words
	usage           json.RawMessage
	answered        bool             // there is an answer, be it empty
	asking          bool             // the model is being asked, unless a tool runs
	aside           string           // what the model has said last; its answer, unless it works on
	continues       bool             // the last that the model has done is to call a tool
	unseen          int              // retries that codex has not told of
	unseenAtFailure int              // those before the failure
	last            time.Time        // when the line before came
	silence         time.Duration    // before the present line
	records         []*rolloutReader // that of the thread, and those of the reviewers; empty as long as there is none
	limits          quota.Quota      // what the records tell of the limits of the account, and was not told yet
	looked          time.Time        // when the record was last looked for
	reviewersAt     int64            // how much of the first was read when it was last searched for reviewers
	record          *rollout         // all of it, once it is whole
	context         string           // the model of the last turn_context
	threads         []*rolloutReader // its own, and those of sub-agents; empty if they are not counted
}

// Line implements agent.Reader.
func (f *follower) Line(line agent.Line) agent.LineInfo {
	f.Lines++
	now := time.Now()
	f.silence, f.last = now.Sub(f.last), now
	e := readEvent(line.Text)
	if f.Guess && f.Lines == 1 && (e.Type != "thread.started" || !agent.IsUUID(e.ThreadID)) {
		f.Plain = true
	}
	if f.Plain {
		f.Said = f.Said || len(bytes.TrimSpace(line.Text)) > 0
		return agent.LineInfo{} // it is the answer, and nothing else comes on stdout
	}
	if e.Item.Type == "agent_message" && f.reviews && f.failure != "" {
		return agent.LineInfo{Show: agent.Hold} // codex's own: "Review was interrupted. …"
	}
	if e.Item.Type == "agent_message" && e.Type == "item.completed" {
		f.Final, f.answered, f.aside = agent.NewAnswer(line, "item.text", e.Item.Text), true, e.Item.Text
		f.Said = f.Said || strings.TrimSpace(e.Item.Text) != ""
	}
	info, turn := f.take(e), f.turn(now)
	if len(f.records) > 0 && f.records[0].sum.model != f.context {
		f.context = f.records[0].sum.model
		f.Models.Begun = cmp.Or(f.Models.Begun, f.context)
		f.Models.Answer(f.context)
	}
	// model rerouted: gpt-5.3-codex -> gpt-5.2 (HighRiskCyberActivity)
	if m := strings.Fields(e.Item.Message); e.Item.Type == "error" && len(m) > 4 && m[1] == "rerouted:" {
		f.Models = agent.ModelUse{Begun: m[2], Used: m[4]}
	}
	info = f.Info(info)
	info.Turn, info.Continues, info.Quota, f.limits = turn, f.continues, f.limits, nil
	info.Activity.Tool = shortName(info.Activity.Tool)
	if info.Begun.Tool != "" {
		info.Begun.Tool, info.Said, f.aside = shortName(info.Begun.Tool), agent.ShortArgument(f.aside), ""
	}
	info.Foreign = e.Type == "" && (f.Session == "" || !bytes.HasPrefix(line.Text, []byte("{"))) // else it is an event that was cut off
	return info
}

// take follows an event.
func (f *follower) take(e event) (info agent.LineInfo) {
	switch e.Type {
	case "thread.started":
		f.Session = e.ThreadID
	case "turn.started":
		f.asking = true
	case "item.started", "item.updated", "item.completed":
		f.work(e)
		info.Answered = e.Item.ofModel()
	case "turn.completed":
		f.completed, f.failure, f.asking, f.continues = true, "", false, false
		f.Tools.EndAll()
		if len(e.Usage) > 0 && e.Usage[0] == '{' {
			f.usage = e.Usage
		}
		info.Delivered = true
	case "turn.failed":
		f.fail(e.Error.Message)
		info.Show = agent.Hold
	case "error":
		if info.Retrying = retrying(e.Message); info.Retrying != nil {
			f.asking = false // until there is something of the model again
			f.Retries++
			f.unseen += f.silentRetries(e.Message)
			return info // the caller sees it as from the bare CLI
		}
		f.fail(e.Message)
		info.Show = agent.Hold
	}
	return info
}

// work follows an item.
func (f *follower) work(e event) {
	if !e.Item.ofModel() {
		return
	}
	f.Active, f.asking = true, true
	f.continues = e.Item.Type != "agent_message" && e.Item.Type != "reasoning"
	f.Worked = f.Worked || f.continues
	if !e.Item.tool() {
		if f.continues {
			f.Tools.Note(agent.Call{Tool: e.Item.Type})
		}
		return
	}
	if f.Tools.Begin(e.Item.ID, e.Item.toolName()) { // some are told of only when they have ended
		f.Tools.Note(e.Item.call())
	}
	f.Tools.Argue(e.Item.ID, e.Item.argument())
	if e.Type == "item.completed" {
		f.Tools.End(e.Item.ID)
	}
}

// fail notes why the turn failed. The same comes twice: as an error, and in turn.failed.
func (f *follower) fail(message string) {
	if message == "" {
		return
	}
	if f.failure == "" {
		f.unseenAtFailure = f.silentRetries(message)
	}
	f.failure, f.asking = message, false
}

// retrying says what a message of progress means; nil if it is not one.
func retrying(message string) *agent.Retrying {
	what, why, ok := reconnecting(message)
	if !ok {
		return nil
	}
	r := &agent.Retrying{Verdict: classify(why, time.Now())}
	switch {
	case what == "waiting for network":
		r.Verdict.Class, r.Verdict.Retryable = verdict.Network, true
	case overWebSocket(why):
		// Whatever it is, HTTPS comes next and may well work.
		return r
	}
	r.Wait = r.Verdict.Hint.Wait(time.Now())
	switch r.Verdict.Class {
	case verdict.Auth, verdict.Billing, verdict.UsageLimit, verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge:
		// The service will say the same again. What can differ from try to try, a refusal or an answer cut short,
		// is left to codex to retry.
		r.Hopeless = true
	}
	return r
}

// Render implements agent.Reader: codex prints the last message, and nothing if the turn failed. There is no form JSON.
func (f *follower) Render(w io.Writer, _ agent.Form) error {
	if !f.completed || !f.answered {
		return nil
	}
	if _, err := f.Final.WriteTo(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
