package faulttest

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/verdict"
)

// codexEvent is a line of codex's.
func codexEvent(fields string) Op { return Op{Out: `{` + fields + `}` + "\n"} }

// codexInit is how a stream begins.
func codexInit() []Op {
	return []Op{codexEvent(`"type":"thread.started","thread_id":"` + sessionMark + `"`), codexEvent(`"type":"turn.started"`)}
}

// codexWork is the model at work with a tool, which prints so much.
func codexWork(n, size int) []Op {
	item := fmt.Sprintf(`"item":{"id":"item_%d","type":"command_execution","command":"make"`, n)
	return []Op{codexEvent(`"type":"item.started",` + item + `}`), codexEvent(`"type":"item.completed",` + item + `,"aggregated_output":"` + strings.Repeat("x", size) + `"}`)}
}

func codexSaid(text string) Op {
	return codexEvent(`"type":"item.completed","item":{"id":"item_9","type":"agent_message","text":` + quoted(text) + `}`)
}

func codexDone() Op {
	return codexEvent(`"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}`)
}

// codexSuccess is an answer.
func codexSuccess(answer string) Fault {
	return Fault{Name: "success", Ops: []Op{codexSaid(answer), codexDone()}, Class: verdict.OK, Answer: answer + "\n", Delivered: true, Begun: true, Active: true}
}

// codexFaults are the ways in which codex fails after it has begun. hint is a time to come back that some of them tell.
func codexFaults(hint time.Duration, answer string) []Fault {
	failed := func(name string, class verdict.Class, message string) Fault {
		return fails(name, class, codexEvent(`"type":"error","message":`+quoted(message)), codexEvent(`"type":"turn.failed","error":{"message":`+quoted(message)+`}`))
	}
	return []Fault{
		failed("throttled", verdict.RateLimit, "exceeded retry limit, last status: 429 Too Many Requests"),
		failed("throttled, with a time to come back", verdict.RateLimit, fmt.Sprintf("Rate limit reached for gpt-5 on tokens per min. Please try again in %ds.", hint/time.Second)).says(hint),
		failed("plan used up, for an unknown time", verdict.UsageLimit, "You've hit your usage limit."),
		failed("overloaded", verdict.Overloaded, "Selected model is at capacity. Please try a different model."),
		failed("500", verdict.ServerError, "unexpected status 500 Internal Server Error: oops"),
		failed("503 with exit code 0", verdict.ServerError, "unexpected status 503 Service Unavailable: no").exits(0),
		failed("connection lost", verdict.Network, "stream disconnected before completion: Transport error: network error: error decoding response body"),
		failed("request timed out", verdict.Timeout, "stream disconnected before completion: idle timeout waiting for SSE"),
		failed("session held", verdict.SessionBusy, "thread already has an active writer"),
		failed("wrong key", verdict.Auth, "unexpected status 401 Unauthorized: Missing bearer"),
		failed("no credit", verdict.Billing, "Quota exceeded. Check your plan and billing details."),
		failed("bad request", verdict.InvalidRequest, `{"error":{"message":"Unsupported value","type":"invalid_request_error","code":"unsupported_value"}}`),
		failed("unknown model", verdict.NotFound, "unexpected status 404 Not Found: no such model"),
		failed("prompt too long", verdict.TooLarge, "Codex ran out of room in the model's context window."),
		failed("refused", verdict.Refused, "stream disconnected before completion: Incomplete response returned, reason: content_filter"),
		failed("something new", verdict.Unknown, "something that is new"),
		fails("empty answer", verdict.BadOutput, codexDone()).exits(0),
		fails("ends in the middle", verdict.BadOutput, Op{Out: `{"type":"item.comp`}).exits(0),
		fails("ends in the middle with a failure", verdict.Interrupted, Op{Out: `{"type":"item.comp`}),
		fails("answer, then a failure", verdict.Unknown, codexSaid(answer), codexDone()),
		fails("panic", verdict.Crash, Op{Err: "thread 'main' panicked at src/main.rs:1:1\n"}).exits(101),
		fails("segmentation fault", verdict.Crash).dies(int(syscall.SIGSEGV)),
		fails("told to end", verdict.Interrupted).dies(int(syscall.SIGTERM)),
		{Name: "hang", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
		{Name: "never ends", Ops: []Op{alive(codexEvent(`"type":"future.event"`))}, Class: verdict.Timeout, Ends: ByTimeout},
	}
}

// codexEarly are the ways in which codex fails before a session has begun.
func codexEarly(session string) []Fault {
	return []Fault{
		fails("no such session", verdict.SessionNotFound, Op{Err: "Error: thread/resume failed: no rollout found for thread id " + session + "\n"}),
		fails("nothing at all", verdict.BadOutput).exits(0),
		fails("wrong settings", verdict.InvalidRequest, Op{Err: "Error: error loading config: bad TOML\n"}),
		{Name: "hang at the start", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
	}
}
