package claude

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/verdict"
)

// follower reads one attempt.
type follower struct {
	agent.Attempt
	profile        *Profile
	plan           agent.Plan
	wantsPieces    bool // the caller wants to see pieces of messages too
	isConversation bool // the caller drives the session line by line
	events         bool // an event was seen
	torn           bool // the last line is a result that was cut off
	turnBegun      bool // what fails before that is said on stderr alone
	aborted        bool // the turn was interrupted
	ownKey         bool // the key is one that nothing refreshes
	answered       bool
	// unanswered says that a tool has ended and the model has not spoken since, usedTools that there was one.
	unanswered, usedTools bool
	// asks says that the model is about to be asked for more than it has answered: what its tools have found, or what claude
	// itself has to say, as when a hook does not let it stop or an answer was too long.
	asks bool
	// inTurn says that a turn has begun and not ended, questions what claude has asked its caller since the model spoke last:
	// for a permission, or to run a hook or a tool of the caller's. Only a conversation has the latter.
	inTurn    bool
	questions map[string]bool

	speaking   string          // the message whose pieces come
	midway     bool            // its end, with what it has used, is still to come
	open       string          // the last message, as long as nothing has followed it
	calls      string          // the tool that it calls
	cut        int             // messages that broke off, and were asked for again
	background map[string]bool // tasks that may outlast the result; true for sub-agents
	retried    int             // those since the model spoke last
	waits      event           // the last retry that it has told of
	limit      rateLimit       // the last refusal by a usage limit
	quota      []quota.Window  // what the line has told
	complaint  event           // the last assistant event that was none of the model's

	ledger  ledger
	result  *result      // the last one
	last    agent.Line   // its line
	subtype string       // of the last result
	text    bytes.Buffer // what was printed that is no event
	class   verdict.Class
}

// Follow implements [agent.Agent].
func (p *Profile) Follow(plan agent.Plan) agent.Follower {
	f := &follower{profile: p, plan: plan, wantsPieces: p.line.Has("--include-partial-messages"), isConversation: p.conversation() || p.inBackground(),
		background: map[string]bool{}, questions: map[string]bool{}, ledger: ledger{prices: plan.Prices}}
	if p.inBackground() {
		return p.followRecord(f)
	}
	return agent.Follower{Reader: f, JudgeTurn: f.judgeTurn}
}

// maxText bounds what is kept of output that holds no events: what a verdict needs.
const maxText = 256 << 10

// Line implements [agent.Reader].
func (f *follower) Line(line agent.Line) agent.LineInfo {
	text := line.Text
	f.quota = nil
	if bytes.HasPrefix(text, []byte("[")) && !f.events { // --output-format json --verbose
		f.readArray(text)
		return f.lineInfo(agent.Pass)
	}
	e, ok := parse(text)
	switch {
	case ok:
	case f.isConversation && e.Type == "control_request":
		f.questions[e.RequestID] = true
		return f.lineInfo(agent.Pass)
	case f.isConversation && e.Type == "control_cancel_request":
		delete(f.questions, e.RequestID)
		return f.lineInfo(agent.Pass)
	default:
		f.keep(text)
		f.torn = f.events && isCutResult(string(text))
		n := f.lineInfo(agent.Pass)
		n.Foreign = !f.events || !bytes.HasPrefix(text, []byte("{")) // else it is an event that was cut off
		return n
	}
	f.events = true
	return f.event(e, line)
}

// keep keeps a line that is no event, as far as a verdict needs it.
func (f *follower) keep(line []byte) {
	if room := maxText - f.text.Len(); room > 0 && !f.events {
		f.text.Write(line[:min(len(line), room)])
		f.text.WriteByte('\n')
	}
}

func (f *follower) event(e event, line agent.Line) agent.LineInfo {
	if f.Session == "" || e.Type == "system" && e.Subtype == "init" {
		f.Session = e.Session
	}
	f.inTurn = f.inTurn || e.Type == "assistant" || e.Type == "user" || e.Type == "stream_event"
	switch e.Type {
	case "system":
		return f.system(e)
	case "rate_limit_event":
		f.limit = rateLimit{}
		if e.RateLimit.Status == "rejected" {
			f.limit = e.RateLimit
		}
		f.quota = append(f.quota, e.RateLimit.windows()...)
	case "stream_event":
		return f.piece(e)
	case "assistant":
		return f.assistant(e)
	case "user":
		f.open = ""
		f.Writes, f.calls = agent.Thinking, ""
		f.asks = f.asks || f.isAsked(e)
		for _, b := range e.Message.Content {
			f.Tools.End(b.ToolUseID)
			f.aborted = f.aborted || b.Type == "text" && strings.HasPrefix(b.Text, interruptedText)
			f.unanswered = f.unanswered || b.ToolUseID != "" && e.Parent == ""
			if b.ToolUseID != "" {
				f.usedTools = true
				f.complaint.Error = "" // whatever it was, it went on
			}
		}
	case "result":
		f.takeResult(e, line)
		info := f.lineInfo(agent.Pass)
		info.TurnOver = f.isConversation
		if e.IsError || e.Subtype != "success" {
			info.Show = agent.Hold
			return info
		}
		if r := f.result; f.isConversation && !f.resumed() && r.CostUSD != nil && len(r.ModelUsage) > 0 {
			info.Turn = f.ledger.settle(*r.CostUSD)
		}
		return info
	}
	return f.lineInfo(agent.Pass)
}

func (f *follower) system(e event) agent.LineInfo {
	switch e.Subtype {
	case "init":
		f.turnBegun = true
		f.Version, f.Model, f.ownKey = e.Version, e.Model, e.KeySource == "ANTHROPIC_API_KEY"
		f.Models = agent.ModelUse{}
		if strings.Contains(e.Model, Name) && f.profile.model() != planAlias { // else it may be the name of a deployment
			f.Models.Begun = e.Model
		}
		f.result, f.aborted, f.inTurn, f.asks = nil, false, true, false
	case "model_fallback", "model_refusal_fallback", "model_consent_fallback":
		if e.Scope != "local" {
			f.Models = agent.ModelUse{Begun: e.Original, Used: e.Fallback, Overloaded: e.Trigger == "overloaded" || e.Trigger == "server_error"}
		}
	case "status": // comes with the pieces
		if !f.wantsPieces {
			return f.lineInfo(agent.Drop)
		}
	case "background_tasks_changed": // all of them
		before := maps.Clone(f.background)
		clear(f.background)
		for _, t := range e.Tasks {
			f.background[t.ID] = before[t.ID]
		}
	case "task_started": // by a call that was seen, but for a few
		isAgent, aside := slices.Contains(agentTasks, e.TaskType), e.Backgrounded == nil || *e.Backgrounded
		if aside {
			f.background[e.TaskID] = isAgent
		}
		if isAgent {
			f.Tools.SetAgent(e.ToolUseID, !aside)
		}
	case "task_notification", "task_completed", "task_ended":
		delete(f.background, e.TaskID)
		f.Tools.SetAgent(e.ToolUseID, false)
	case "api_retry":
		f.retried++
		f.midway = false
		if f.open != "" && f.Tools.Running() == 0 { // what is whole is followed by a tool's result, or by the end
			f.cut++
			f.open = ""
		}
		n := f.lineInfo(agent.Pass)
		if n.Retrying = f.retrying(e); !n.Retrying.Repeated {
			f.Retries++
		}
		return n
	}
	return f.lineInfo(agent.Pass)
}

// piece is a part of the model's answer.
func (f *follower) piece(e event) agent.LineInfo {
	var turn *verdict.Usage
	switch e.Event.Type {
	case "message_start":
		f.modelSpoke(e, e.Event.Message.Model)
		f.ledger.answer(e.Event.Message.ID, e.Event.Message.Model, e.Event.Message.Usage)
		f.speaking, f.midway = e.Event.Message.ID, true
		f.open = f.speaking
		f.Writes, f.calls = agent.Thinking, ""
	case "content_block_start":
		f.Writes, f.calls = agent.Thinking, ""
		switch e.Event.Block.Type {
		case "text":
			f.Writes = agent.Writing
		case "tool_use", "server_tool_use":
			f.calls = e.Event.Block.Name
		}
	case "message_delta":
		f.midway = f.midway && e.Event.Delta.StopReason == ""
		f.ledger.answer(f.speaking, "", e.Event.Usage)
		if e.Event.Delta.StopReason != "" {
			f.ledger.end(f.speaking)
			turn = f.ledger.turn(f.speaking)
		}
	}
	info := f.lineInfo(agent.Drop)
	if f.wantsPieces {
		info.Show = agent.Pass
	}
	info.Turn = turn
	return info
}

// modelSpoke notes output of the model. Until there is some, what claude has asked its caller may be open: the answers go
// to claude directly, and are not seen.
func (f *follower) modelSpoke(e event, model string) {
	f.Active, f.answered = true, true
	if e.Parent == "" {
		f.Models.Answer(model)
		f.unanswered, f.asks, f.retried = false, false, 0
		clear(f.questions)
	}
}

func (f *follower) assistant(e event) agent.LineInfo {
	if e.Message.Model == "<synthetic>" || e.Error != "" { // claude's own words
		f.complaint = e
		return f.lineInfo(agent.Hold)
	}
	f.modelSpoke(e, e.Message.Model)
	f.complaint.Error = "" // whatever it was, it went on
	f.ledger.answer(e.Message.ID, e.Message.Model, e.Message.Usage)
	f.ledger.show(e.Message.ID, e.Message.Content)
	f.open = e.Message.ID
	f.ledger.hadSubagents = f.ledger.hadSubagents || e.Parent != ""
	for _, b := range e.Message.Content {
		if b.Type == "tool_use" {
			call := b.Input.call
			call.Thread, call.Tool = e.Parent, b.Name
			f.Tools.Call(b.ID, call)
		}
		f.usedTools = f.usedTools || strings.HasSuffix(b.Type, "tool_use")
	}
	info := f.lineInfo(agent.Pass)
	if e.Message.ID != f.speaking || !f.midway { // else its pieces tell, and know more
		info.Turn = f.ledger.turn(e.Message.ID)
	}
	return info
}

func (f *follower) takeResult(e event, line agent.Line) {
	r := e.result
	r.CostUSD = price.Credible(r.CostUSD)
	r.answer = agent.NewAnswer(line, "result", r.Text)
	f.result, f.subtype = &r, e.Subtype
	f.last = line.Keep()
	f.ledger.results = append(f.ledger.results, r)
	f.Tools.EndAll()
	clear(f.questions)
	f.open, f.inTurn, f.asks = "", false, false
	f.midway = f.midway && (r.IsError || e.Subtype != "success")
}

func (f *follower) lineInfo(show agent.Show) agent.LineInfo {
	info := f.Info(agent.LineInfo{Answered: f.answered, Show: show, Delivered: f.result != nil && len(f.background) == 0,
		Waiting: !f.inTurn || len(f.questions) > 0, Continues: f.continues(), Quota: f.quota})
	info.Tools += len(f.background)
	for _, isAgent := range f.background {
		if isAgent {
			info.SubAgents++
		}
	}
	if info.Activity.Tool == "" && f.calls != "" {
		info.Activity = agent.Activity{Doing: agent.UsingTool, Tool: f.calls}
	}
	return info
}

// agentTasks are the kinds of tasks that are sub-agents.
var agentTasks = []string{"local_agent", "remote_agent", "in_process_teammate"}

// answerTool is the tool by which the model gives the answer that --json-schema asks for.
const answerTool = "StructuredOutput"

// continues reports whether the model is about to be asked again. Where there has been a result, what follows is the work of
// background tasks, which the result did not wait for.
func (f *follower) continues() bool {
	return (f.asks || f.Tools.RunningBut(answerTool) > 0) && (f.isConversation || len(f.ledger.results) == 0)
}

// isAsked reports whether what is said to the model is a question to it. After an answer in the form that was asked for
// comes the result; what the caller of a conversation says is seen only if it wants to see it again.
func (f *follower) isAsked(e event) bool {
	if e.Parent != "" {
		return false // by a tool, which runs
	}
	for _, b := range e.Message.Content {
		switch {
		case b.ToolUseID != "" && (b.IsError || !f.Tools.Runs(b.ToolUseID, answerTool)):
			return true
		case b.Type == "text" && (e.Synthetic || !f.isConversation) && !strings.HasPrefix(b.Text, interruptedText):
			return true
		}
	}
	return false
}

// interruptedText is how claude tells the model that it was interrupted. It asks nothing more.
const interruptedText = "[Request interrupted by user"
