package custom

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Follow implements [agent.Agent].
func (p *Profile) Follow(plan agent.Plan) agent.Follower {
	f := &follower{profile: p, table: p.def.compiled(), Attempt: agent.Attempt{Plain: plan.Plain, Guess: p.line.Unknown != "", Added: plan.Added}}
	if len(plan.Args) == 0 {
		return agent.Follower{Reader: f}
	}
	if line := p.def.Options.Read(plan.Args[1:]); line.Unknown == "" {
		f.ResumeID = p.resumed(&line)
	}
	if f.ResumeID == "" && len(p.def.Session.New) > 0 {
		for i, arg := range withSession(p.def.Session.New, "") {
			if at := len(plan.Added) - len(p.def.Session.New) + i; at >= 0 && arg != p.def.Session.New[i] && strings.HasPrefix(plan.Added[at], arg) {
				f.ownID = strings.TrimPrefix(plan.Added[at], arg)
			}
		}
	}
	f.findRecord()
	if f.table.retry == nil {
		return agent.Follower{Reader: f}
	}
	return agent.Follower{Reader: f, StderrLine: f.stderrLine}
}

// follower reads the output of one attempt.
type follower struct {
	agent.Attempt
	profile *Profile
	table   *table
	ownID   string // the name that we gave to a new session

	began    bool // there was an event
	troubled bool // the model has not answered since it was last asked again
	texts    []agent.Answer
	result   bool // the run says that it has ended well
	failed   bool // it has said that it failed, and the model has done nothing since
	ended    bool // it has said that it has ended, in whichever way
	failure  *failure
	calls    verdict.Usage // what the model calls have used that were told of one by one
	total    *verdict.Usage
	turns    int
	status   int

	recorded   bool  // the record of the session is read at the end
	recordFrom int64 // where in it the attempt begins
}

// failure is what an event says of an error.
type failure struct {
	message string
	earlier string // what an event before it has said of the same status
	status  int
	class   verdict.Class // empty if the words tell
	hint    verdict.Hint
}

// Line implements [agent.Reader].
func (f *follower) Line(line agent.Line) agent.LineInfo {
	f.Lines++
	r, ok := readLine(f.table.events, line.Text)
	if f.Guess && !f.began {
		f.Plain = !r.known // the answer of a model may well look like JSON
	}
	if list := f.table.readList(line.Text); list != nil {
		for i := range list {
			f.take(&list[i], agent.Line{})
		}
		f.began = true
		info := f.info()
		info.Answered = f.Active
		return info
	}
	if f.Plain || !ok {
		f.Said = f.Said || len(bytes.TrimSpace(line.Text)) > 0
		info := f.info()
		info.Foreign = !f.Plain && (!f.began || !bytes.HasPrefix(line.Text, []byte("{"))) // else it is an event that was cut off
		return info
	}
	f.began = true
	show, turn, retrying := f.take(&r, line)
	info := f.info()
	info.Show, info.Turn, info.Retrying = show, turn, retrying
	switch r.Kind {
	case Text, Thinking, Tool:
		info.Answered, f.troubled = true, false
	}
	f.troubled = f.troubled || retrying != nil
	info.Troubled = f.troubled
	return info
}

// stderrLine takes a line of stderr that tells of a retry as an event would.
func (f *follower) stderrLine(line []byte) (info agent.LineInfo, ok bool) {
	groups := f.table.retry.FindSubmatch(line)
	if groups == nil {
		return info, false
	}
	_, _, retrying := f.take(told(Retry, f.table.retry, groups), agent.Line{})
	f.troubled = true
	info = f.info()
	info.Retrying, info.Troubled = retrying, true
	return info, true
}

// told is what the groups of a pattern have found, as an event.
func told(kind Kind, pattern *regexp.Regexp, groups [][]byte) *read {
	e, line := &Event{Kind: kind, Paths: map[Field]string{}}, map[string]any{}
	for i, name := range pattern.SubexpNames() {
		e.Paths[Field(name)], line[name] = name, string(groups[i])
	}
	return &read{&event{Event: e}, line, true}
}

// info says how the attempt stands as a whole.
func (f *follower) info() agent.LineInfo { return f.Info(agent.LineInfo{Delivered: f.ended}) }

// take follows an event.
func (f *follower) take(r *read, line agent.Line) (show agent.Show, turn *verdict.Usage, retrying *agent.Retrying) {
	set := func(to *string, field Field) {
		if text := r.text(field); text != "" {
			*to = text
		}
	}
	set(&f.Session, FieldSession)
	set(&f.Model, FieldModel)
	set(&f.Version, FieldVersion)
	usage, used := r.usage()
	switch r.Kind {
	case Text:
		f.Active, f.Writes = true, agent.Writing
		f.say(r, line)
	case Thinking:
		f.Active, f.Writes = true, agent.Thinking
	case Tool:
		f.Active, f.Worked = true, true
		f.beginTools(r)
		if r.text(FieldText) != "" {
			f.say(r, line)
		}
	case ToolEnd:
		for _, id := range r.values(FieldToolID) {
			f.Tools.End(textOf(id))
		}
		f.Writes = agent.Thinking
	case Retry:
		f.Retries++
		show, retrying = agent.Hold, f.retrying(r)
	case Error:
		f.fail(r)
		show = agent.Hold
	case Failed:
		f.ended, f.failed = true, true
		f.Tools.EndAll()
		f.fail(r)
		show = agent.Hold
	case Result:
		f.ended = true
		f.Tools.EndAll()
		if f.failed {
			show = agent.Hold
		} else {
			f.result, f.failure = true, nil // what went wrong before did not keep it from its end
			if r.text(FieldText) != "" {
				f.Final = f.answerIn(r, line)
			}
		}
	}
	switch r.Kind {
	case Text, Thinking, Tool:
		f.failed, f.ended = false, false
	case Failed, Result:
		if used {
			f.total = &usage
			return show, nil, retrying
		}
	}
	if used {
		f.calls = f.calls.Add(usage)
		f.turns++
		turn = &usage
	}
	return show, turn, retrying
}

// beginTools notes the tools that were called: one, or several in one line.
func (f *follower) beginTools(r *read) {
	ids, names, inputs := r.values(FieldToolID), r.values(FieldTool), r.values(FieldToolInput)
	for i, name := range names {
		id := textOf(name)
		if i < len(ids) {
			id = textOf(ids[i])
		}
		var input []byte
		if i < len(inputs) {
			input = []byte(textOf(inputs[i]))
		}
		f.Tools.Call(id, agent.NewCall(textOf(name), input))
	}
}

// say notes what the model has said.
func (f *follower) say(r *read, line agent.Line) {
	a := f.answerIn(r, line)
	if strings.TrimSpace(a.String()) == "" {
		return
	}
	f.Final = a
	f.texts = append(f.texts, a)
}

// answerIn is the text of an event.
func (f *follower) answerIn(r *read, line agent.Line) agent.Answer {
	if len(r.values(FieldText)) > 1 { // which of them a long line has cut is not known
		line = agent.Line{}
	}
	return agent.NewAnswer(line, strings.ReplaceAll(r.Paths[FieldText], "[]", "."), r.text(FieldText))
}

// fail notes an error.
func (f *follower) fail(r *read) {
	one := f.failureIn(r)
	f.failure = &one
}

// failureIn is the error that an event tells of. What it does not tell is known from the one before it.
func (f *follower) failureIn(r *read) (one failure) {
	now := time.Now()
	one.message, one.class = r.text(FieldError), r.Class
	if n, ok := r.number(FieldStatus); ok && n >= 100 && n < 600 {
		one.status = int(n)
	}
	if one.status == 0 {
		one.status = cmp.Or(f.table.statusIn(one.message), r.Status, ofPage(one.message))
	}
	one.message = f.table.messageIn(one.message)
	if h, ok := verdict.ParseRetryAfter(r.text(FieldRetryAfter), now); ok {
		one.hint = h
	} else if text := r.text(FieldResetAt); text != "" {
		one.hint, _ = verdict.ParseHint("resetsAt: "+text, now)
	}
	if before := f.failure; before != nil {
		one.message = cmp.Or(one.message, before.message)
		one.status = cmp.Or(one.status, before.status)
		if before.status == one.status {
			one.earlier = cmp.Or(before.earlier, before.message)
		}
		if one.hint.IsZero() {
			one.hint = before.hint
		}
	}
	return one
}

// retrying is what an event says of a retry inside the CLI.
func (f *follower) retrying(r *read) *agent.Retrying {
	one := f.failureIn(r)
	v := f.classify(&one, 1, time.Now())
	again := &agent.Retrying{Verdict: v}
	seconds, _ := r.number(FieldWait)
	if millis, ok := r.number(FieldWaitMillis); ok {
		seconds = millis / 1000
	}
	if seconds > 0 {
		again.Wait = time.Duration(min(seconds, 24*3600) * float64(time.Second))
	}
	switch v.Class {
	case verdict.Auth, verdict.Billing, verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge:
		again.Hopeless = true // the service will say the same again
	}
	return again
}

// usage is what an event says that was used; ok is false if it says nothing.
func (r *read) usage() (u verdict.Usage, ok bool) {
	u = verdict.Usage{InputTokens: r.count(FieldInput), OutputTokens: r.count(FieldOutput), CacheReadInputTokens: r.count(FieldCacheRead),
		CacheCreationInputTokens: r.count(FieldCacheWrite)}
	if usd, told := r.number(FieldCost); told && usd >= 0 && usd < 1e6 {
		u.CostUSD = &usd
	}
	_, in := r.number(FieldInput)
	_, out := r.number(FieldOutput)
	return u, in || out || u.CostUSD != nil
}
