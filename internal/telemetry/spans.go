package telemetry

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/trace"
)

// Kinds knows of profiles what the record does not say.
type Kinds struct {
	// Agent says that the CLI of a profile works for a model.
	Agent func(profile string) bool
	// Provider is the service that such a CLI calls unless it says otherwise; empty if that is not known.
	Provider func(profile string) string
}

// spans are the spans of a run: the run itself, and below it its attempts, what it has waited for, and the tools that an agent has used. There are none if
// its caller does not record the trace.
func (k Kinds) spans(r *record.Unsent) []*tracepb.Span {
	run := trace.OfRun(r.ID, r.Trace)
	if !run.Sampled() {
		return nil
	}
	root := newSpan(run, run.Span, "", r.Started, r.Ended)
	if caller, ok := trace.Parse(r.Trace); ok {
		root.ParentSpanId = bytesOf(caller.Span)
		root.Flags |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK | tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	var a attributes
	agent := k.Agent(r.Profile) || r.Model != "" || r.Session != "" // which only agents have
	if agent {
		root.Name, root.Kind = invokeAgent+" "+r.Profile, tracepb.Span_SPAN_KIND_CLIENT
		a.text(operationName, invokeAgent, providerName, provider(cmp.Or(r.Provider, k.Provider(r.Profile), r.Profile)))
		a.text(agentName, r.Profile, requestModel, r.Model, responseModel, r.Model, conversationID, r.Session)
		a.usage(&r.Usage)
	} else {
		root.Name = r.Profile
	}
	a.text("belay.run.id", r.ID, "belay.run.parent", r.Parent, "belay.profile", r.Profile, "belay.command", r.Command)
	a.text("belay.fallback", r.Fallback, "belay.class", r.Class, "belay.status", r.Status)
	a.number("belay.attempts", int64(r.Invocation.Attempts))
	a.some("belay.requests", r.Requests)
	a.some("belay.inner_retries", r.Inner)
	a.float("belay.wait", float64(r.WaitMS)/1000)
	if r.BelayCode != nil {
		a.number("belay.exit_code", int64(*r.BelayCode))
	}
	a.number("process.exit.code", int64(r.ExitCode))
	a.text("belay.gate", r.Gate, "belay.name", r.Name)
	for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
		a.text("belay.tag."+key, r.Tags[key])
	}
	finish(root, a, r.Class)
	return append([]*tracepb.Span{root}, k.below(r, run, agent)...)
}

// below are the spans below that of the run, in the order of time.
func (k Kinds) below(r *record.Unsent, run trace.Parent, agent bool) (list []*tracepb.Span) {
	left := r.Started // when the attempt before ended
	class := ""       // and why
	for i := range r.Attempts {
		at := &r.Attempts[i]
		began := at.Began()
		gate := began.Add(-time.Duration(at.GateWaitMS) * time.Millisecond)
		if class != "" && gate.Sub(left) > 0 {
			list = append(list, waitSpan(run, r.ID, at.Attempt, "backoff", class, "", left, gate))
		}
		if at.GateWaitMS > 0 {
			list = append(list, waitSpan(run, r.ID, at.Attempt, "gate", "", r.Gate, gate, began))
		}
		left, class = at.Ended, at.Class
		if at.Attempt > 0 {
			list = append(list, k.attempt(r, at, run, began, agent)...)
		}
	}
	return list
}

// waitSpan is a wait before an attempt: after a failure of that class, or for that gate.
func waitSpan(run trace.Parent, id string, attempt int, reason, class, gate string, from, to time.Time) *tracepb.Span {
	s := newSpan(run, trace.Span(id, "wait/"+reason, attempt), run.Span, from, to)
	s.Name = "wait " + reason
	(*attributes)(&s.Attributes).text("belay.wait.reason", reason, "belay.wait.class", class, "belay.gate", gate)
	return s
}

// attempt are the spans of an attempt: its own, and one for each call of a tool that the record has.
func (k Kinds) attempt(r *record.Unsent, at *record.Attempt, run trace.Parent, began time.Time, agent bool) []*tracepb.Span {
	own := trace.OfAttempt(r.ID, r.Trace, at.Attempt).Span
	s := newSpan(run, own, run.Span, began, at.Ended)
	s.Name = "attempt " + strconv.Itoa(at.Attempt)
	var a attributes
	if agent {
		a.text(agentName, at.Profile, requestModel, at.Model, responseModel, at.Model, conversationID, at.Session)
		a.usage(&at.Usage)
	}
	a.number("belay.attempt", int64(at.Attempt))
	a.text("belay.profile", at.Profile, "belay.command", at.Command, "belay.class", at.Class, "belay.status", at.Status, "belay.rule", at.Rule)
	a.some("belay.requests", at.Requests)
	a.some("belay.inner_retries", at.Inner)
	if at.InnerMS > 0 {
		a.float("belay.inner_wait", float64(at.InnerMS)/1000)
	}
	if at.FirstMS != nil {
		a.float("belay.first_token", float64(*at.FirstMS)/1000)
	}
	a.float("belay.cpu_time", float64(at.CPUMS)/1000)
	a.number("process.exit.code", int64(at.ExitCode))
	a.text("belay.signal", at.Signal)
	if at.Check != nil {
		a.number("belay.check.round", int64(at.Check.Round))
		a.number("belay.check.exit_code", int64(at.Check.ExitCode))
		a.float("belay.check.time", at.Check.Time)
	}
	a.some("belay.tools_cut", int64(at.ToolsCut))
	finish(s, a, at.Class)
	list := []*tracepb.Span{s}
	for i, call := range at.ToolCalls {
		from := began.Add(seconds(call.Start))
		to := from.Add(seconds(call.Time))
		if to.After(at.Ended) { // both are rounded
			to = at.Ended
		}
		if from.After(to) {
			from = to
		}
		t := newSpan(run, trace.Span(r.ID, "tool", at.Attempt, i), own, from, to)
		t.Name = executeTool + " " + call.Name
		(*attributes)(&t.Attributes).text(operationName, executeTool, toolName, call.Name)
		list = append(list, t)
	}
	return list
}

// newSpan is a span of the run's trace.
func newSpan(run trace.Parent, id, parent string, from, to time.Time) *tracepb.Span {
	flags, _ := strconv.ParseUint(run.Flags, 16, 8)
	s := &tracepb.Span{TraceId: bytesOf(run.Trace), SpanId: bytesOf(id), Kind: tracepb.Span_SPAN_KIND_INTERNAL, Flags: uint32(flags) | uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK),
		StartTimeUnixNano: nano(from), EndTimeUnixNano: max(nano(from), nano(to))}
	if parent != "" {
		s.ParentSpanId = bytesOf(parent)
	}
	return s
}

// finish adds attributes, and marks a span of what has failed. What went wrong is said by its class alone: messages hold output.
func finish(s *tracepb.Span, a attributes, class string) {
	if class != "ok" {
		a.text(errorType, class)
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	}
	s.Attributes = a
}

func bytesOf(id string) []byte {
	data, _ := hex.DecodeString(id) // it was made or checked by package trace
	return data
}

func nano(t time.Time) uint64 { return uint64(max(t.UnixNano(), 0)) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
