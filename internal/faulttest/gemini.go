package faulttest

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/verdict"
)

// geminiEvent is a line of gemini's.
func geminiEvent(fields string) Op {
	return Op{Out: `{` + fields + `,"timestamp":"2026-11-16T12:00:00.000Z"}` + "\n"}
}

// geminiInit is how a stream begins: with the prompt, too.
func geminiInit() []Op {
	return []Op{geminiEvent(`"type":"init","session_id":"` + sessionMark + `","model":"gemini-2.5-flash"`), geminiEvent(`"type":"message","role":"user","content":"hi"`)}
}

// geminiWork is the model at work with a tool, which prints so much.
func geminiWork(n, size int) []Op {
	return []Op{geminiEvent(fmt.Sprintf(`"type":"tool_use","tool_name":"run_shell_command","tool_id":"t%d","parameters":{}`, n)),
		geminiEvent(fmt.Sprintf(`"type":"tool_result","tool_id":"t%d","status":"success","output":"%s"`, n, strings.Repeat("x", size)))}
}

const geminiStats = `"stats":{"total_tokens":15,"input_tokens":10,"output_tokens":5,"cached":0,"input":10,"duration_ms":1,"tool_calls":0,"models":{"gemini-2.5-flash":{"total_tokens":15,"input_tokens":10,"output_tokens":5,"cached":0,"input":10}}}`

func geminiSaid(text string) Op {
	return geminiEvent(`"type":"message","role":"assistant","content":` + quoted(text) + `,"delta":true`)
}

func geminiDone() Op { return geminiEvent(`"type":"result","status":"success",` + geminiStats) }

// geminiSuccess is an answer.
func geminiSuccess(answer string) Fault {
	return Fault{Name: "success", Ops: []Op{geminiSaid(answer), geminiDone()}, Class: verdict.OK, Answer: answer + "\n", Delivered: true, Begun: true, Active: true}
}

// geminiFaults are the ways in which gemini fails after it has begun: it ends with the last eight bits of a status, or with 0.
func geminiFaults(hint time.Duration, answer string) []Fault {
	of := func(name string, class verdict.Class, code int, kind, message string) Fault {
		return fails(name, class, geminiEvent(`"type":"result","status":"error","error":{"type":"`+kind+`","message":`+quoted(message)+`},`+geminiStats)).exits(code)
	}
	api := func(name string, class verdict.Class, status int, message string) Fault {
		f := of(name, class, status&0xFF, "Error", "[API Error: "+message+"]")
		f.AsText = 1
		return f
	}
	return []Fault{
		api("throttled", verdict.RateLimit, 429, "Resource has been exhausted (e.g. check quota)."),
		api("throttled, with a time to come back", verdict.RateLimit, 429, fmt.Sprintf("Resource has been exhausted (e.g. check quota).\nSuggested retry after %ds.", hint/time.Second)).says(hint),
		api("quota of the day used up", verdict.UsageLimit, 429, "You have exhausted your daily quota on this model."),
		api("overloaded", verdict.Overloaded, 503, "The model is overloaded. Please try again later."),
		api("500", verdict.ServerError, 500, "An internal error has occurred."),
		api("connection lost", verdict.Network, 1, "exception TypeError: fetch failed sending request"),
		api("wrong key", verdict.Auth, 400, "API key not valid. Please pass a valid API key."),
		api("no credit", verdict.Billing, 429, "Your prepayment credits are depleted."),
		api("bad request", verdict.InvalidRequest, 400, "Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"hot\""),
		api("prompt too long", verdict.TooLarge, 400, "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."),
		of("refused", verdict.Refused, 0, "INVALID_STREAM", "The model response was blocked due to safety settings."),
		of("empty answer", verdict.BadOutput, 0, "INVALID_STREAM", "The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again."),
		of("turns used up", verdict.LimitReached, 53, "FatalTurnLimitedError", "Reached max session turns for this session."),
		fails("ends in the middle", verdict.Interrupted, Op{Out: `{"type":"mess`}).exits(0),
		fails("segmentation fault", verdict.Crash).dies(int(syscall.SIGSEGV)),
		fails("out of memory", verdict.Crash).dies(int(syscall.SIGKILL)),
		fails("told to end", verdict.Interrupted).dies(int(syscall.SIGTERM)),
		{Name: "hang", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
		{Name: "never ends", Ops: []Op{alive(geminiEvent(`"type":"message","role":"user","content":"hi"`))}, Class: verdict.Timeout, Ends: ByTimeout},
	}
}

// geminiEarly are the ways in which gemini fails before a session has begun.
func geminiEarly(session string) []Fault {
	return []Fault{
		fails("no such session", verdict.SessionNotFound, Op{Err: "Error resuming session: Invalid session identifier \"" + session + "\".\n"}).exits(42),
		fails("wrong settings", verdict.InvalidRequest, Op{Err: "Error in settings.json: Unexpected end of JSON input\nPlease fix the configuration file(s) and try again.\n"}).exits(52),
		fails("no key", verdict.Auth, Op{Err: "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n"}).exits(41),
		{Name: "hang at the start", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
	}
}
