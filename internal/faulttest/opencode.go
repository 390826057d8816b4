package faulttest

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/verdict"
)

// opencodeEvent is a line of opencode's.
func opencodeEvent(kind, fields string) Op {
	return Op{Out: `{"type":"` + kind + `","timestamp":1794702635012,"sessionID":"` + sessionMark + `",` + fields + `}` + "\n"}
}

// opencodeInit is how a stream begins.
func opencodeInit() []Op { return []Op{opencodeEvent("step_start", `"part":{"type":"step-start"}`)} }

func opencodeStep(reason string) Op {
	return opencodeEvent("step_finish", `"part":{"type":"step-finish","reason":"`+reason+`","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.001}`)
}

// opencodeWork is the model at work with a tool, which prints so much, and then asked again.
func opencodeWork(n, size int) []Op {
	tool := fmt.Sprintf(`"part":{"type":"tool","callID":"c%d","tool":"bash","state":{"status":"completed","input":{},"output":"%s","title":""}}`, n, strings.Repeat("x", size))
	return append([]Op{opencodeEvent("tool_use", tool), opencodeStep("tool-calls")}, opencodeInit()...)
}

func opencodeSaid(text string) Op {
	return opencodeEvent("text", `"part":{"type":"text","text":`+quoted(text)+`}`)
}

// opencodeSuccess is an answer.
func opencodeSuccess(answer string) Fault {
	return Fault{Name: "success", Ops: []Op{opencodeSaid(answer), opencodeStep("stop")}, Class: verdict.OK, Answer: answer + "\n", Delivered: true, Begun: true, Active: true}
}

// opencodeFaults are the ways in which opencode fails after it has begun.
func opencodeFaults(hint time.Duration, answer string) []Fault {
	of := func(name string, class verdict.Class, kind, data string) Fault {
		return fails(name, class, opencodeEvent("error", `"error":{"name":"`+kind+`","data":{`+data+`}}`))
	}
	api := func(name string, class verdict.Class, status int, message, more string) Fault {
		return of(name, class, "APIError", fmt.Sprintf(`"message":%s,"statusCode":%d,"isRetryable":%t%s`, quoted(message), status, status == 429 || status >= 500, more))
	}
	return []Fault{
		api("throttled", verdict.RateLimit, 429, "Rate limit reached for requests", ""),
		api("throttled, with a time to come back", verdict.RateLimit, 429, "Rate limit reached for requests", fmt.Sprintf(`,"responseHeaders":{"retry-after":"%d"}`, hint/time.Second)).says(hint),
		api("plan used up, for an unknown time", verdict.UsageLimit, 429, "The usage limit has been reached", `,"responseBody":`+quoted(`{"error":{"type":"usage_limit_reached"}}`)),
		api("overloaded", verdict.Overloaded, 529, "Overloaded", ""),
		api("500", verdict.ServerError, 500, "The server had an error while processing your request.", ""),
		api("503 with exit code 0", verdict.ServerError, 503, "Service Unavailable", "").exits(0), // 1.3.2 and 1.15.3
		of("connection lost", verdict.Network, "APIError", `"message":"Cannot connect to API: The socket connection was closed unexpectedly.","isRetryable":true`),
		api("wrong key", verdict.Auth, 401, "Incorrect API key provided", ""),
		api("no credit", verdict.Billing, 429, "You exceeded your current quota", `,"responseBody":`+quoted(`{"error":{"code":"insufficient_quota"}}`)),
		api("bad request", verdict.InvalidRequest, 400, "Invalid value: 'x'.", ""),
		api("unknown model", verdict.NotFound, 404, "The model does not exist", ""),
		of("prompt too long", verdict.TooLarge, "ContextOverflowError", `"message":"Input exceeds context window of this model"`),
		of("refused", verdict.Refused, "ContentFilterError", `"message":"The response was blocked by the content filter"`),
		of("malformed answer", verdict.BadOutput, "UnknownError", `"message":"JSON parsing failed: Text: {nope."`),
		fails("empty answer", verdict.BadOutput, opencodeStep("stop")).exits(0).active(), // a model call was paid for
		fails("answer, then a failure", verdict.Unknown, opencodeSaid(answer), opencodeStep("stop")),
		fails("segmentation fault", verdict.Crash).dies(int(syscall.SIGSEGV)),
		fails("out of memory", verdict.Crash).dies(int(syscall.SIGKILL)),
		fails("told to end", verdict.Interrupted).dies(int(syscall.SIGTERM)),
		{Name: "hang", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
		{Name: "never ends", Ops: []Op{alive(opencodeEvent("step_start", `"part":{"type":"step-start"}`))}, Class: verdict.Timeout, Ends: ByTimeout},
	}
}

// opencodeEarly are the ways in which opencode fails before a session has begun.
func opencodeEarly(string) []Fault {
	return []Fault{
		fails("no such session", verdict.SessionNotFound, Op{Err: "\x1b[91m\x1b[1mError: \x1b[0mSession not found\n"}),
		fails("wrong settings", verdict.InvalidRequest, Op{Err: "\x1b[91m\x1b[1mError: \x1b[0mConfiguration is invalid at opencode.json\n"}),
		{Name: "hang at the start", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
	}
}
