package faulttest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/verdict"
)

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// quoted is a string as JSON has it.
func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// claudeEvent is a line of claude's.
func claudeEvent(fields string) Op {
	return Op{Out: `{` + fields + `,"session_id":"` + sessionMark + `","uuid":"u"}` + "\n"}
}

// claudeInit is how a stream begins. Of a key of its own claude would not say that it was told to wait for long.
func claudeInit() []Op {
	return []Op{claudeEvent(`"type":"system","subtype":"init","model":"claude-opus-4-8","apiKeySource":"none","claude_code_version":"2.1.325"`)}
}

// claudeWork is the model at work with a tool, which prints so much.
func claudeWork(n, size int) []Op {
	return []Op{
		claudeEvent(fmt.Sprintf(`"type":"assistant","message":{"id":"m%d","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{}}],"usage":{"input_tokens":10,"output_tokens":1}}`, n, n)),
		claudeEvent(fmt.Sprintf(`"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`, n, strings.Repeat("x", size))),
	}
}

// claudeResult is how a stream ends.
func claudeResult(text, more string) Op {
	return claudeEvent(`"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":` + quoted(text) +
		`,"total_cost_usd":0.001,"usage":{"input_tokens":10,"output_tokens":5},"modelUsage":{"claude-opus-4-8":{"inputTokens":10,"outputTokens":5}}` + more)
}

// claudeFailed is a result that tells of a failure.
func claudeFailed(text, more string) Op {
	return claudeEvent(`"type":"result","subtype":"success","is_error":true,"result":` + quoted(text) + `,"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{}` + more)
}

// claudeRetry is a retry inside claude, and the pause before it.
func claudeRetry(n int, in Inner) Op {
	status := map[verdict.Class]int{verdict.RateLimit: 429, verdict.Overloaded: 529, verdict.ServerError: 500}[in.Class]
	op := claudeEvent(fmt.Sprintf(`"type":"system","subtype":"api_retry","attempt":%d,"max_retries":10,"retry_delay_ms":%d,"error_status":%d,"error":"x"`, n, in.Wait.Milliseconds(), status))
	op.Sleep = in.Wait
	return op
}

// claudeSuccess is an answer.
func claudeSuccess(answer string) Fault {
	said := claudeEvent(`"type":"assistant","message":{"id":"m9","model":"claude-opus-4-8","content":[{"type":"text","text":` + quoted(answer) + `}],"usage":{"input_tokens":10,"output_tokens":5}}`)
	return Fault{Name: "success", Ops: []Op{said, claudeResult(answer, `,"terminal_reason":"completed"`)}, Class: verdict.OK, Answer: answer + "\n", Delivered: true, Begun: true, Active: true}
}

// claudeFaults are the ways in which claude fails after it has begun. hint is a time to come back that some of them tell.
func claudeFaults(hint time.Duration, answer string) []Fault {
	limited := claudeEvent(`"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":` + resetMark + `,"rateLimitType":"five_hour"}`)
	api := func(status int, words string) Op {
		return claudeFailed(words, fmt.Sprintf(`,"api_error_status":%d`, status))
	}
	of := func(kind string) Op { return claudeFailed("it did not work", `,"api_error":"`+kind+`"`) }
	return []Fault{
		fails("throttled", verdict.RateLimit, api(429, "API Error: Request rejected (429)")),
		fails("throttled, with a time to come back", verdict.RateLimit, api(429, fmt.Sprintf("API Error: Request rejected (429) · Please try again in %ds.", hint/time.Second))).says(hint),
		fails("plan used up", verdict.UsageLimit, limited, api(429, "You've hit your session limit")).says(untilReset),
		fails("plan used up, for an unknown time", verdict.UsageLimit, of("usage_limit_reached")),
		fails("overloaded", verdict.Overloaded, api(529, "API Error: 529 Overloaded")),
		fails("500", verdict.ServerError, api(500, "API Error: 500 Internal server error")),
		fails("502 with exit code 0", verdict.ServerError, api(502, "API Error: 502 Bad gateway")).exits(0),
		fails("connection lost", verdict.Network, of("connection_failed")),
		fails("request timed out", verdict.Timeout, of("no_response")),
		fails("session held", verdict.SessionBusy, claudeFailed("x", `,"startup_failure_reason":"session_held_by_background"`)),
		fails("wrong key", verdict.Auth, api(401, "Failed to authenticate")),
		fails("wrong key with exit code 0", verdict.Auth, api(401, "Failed to authenticate")).exits(0),
		fails("no credit", verdict.Billing, api(400, "Credit balance is too low")),
		fails("bad request", verdict.InvalidRequest, api(400, "API Error: 400 messages: roles must alternate")),
		fails("unknown model", verdict.NotFound, api(404, "There's an issue with the selected model")),
		fails("prompt too long", verdict.TooLarge, claudeFailed("Prompt is too long", `,"terminal_reason":"prompt_too_long"`)),
		fails("refused", verdict.Refused, claudeFailed("Nope.", `,"stop_reason":"refusal"`)),
		fails("empty answer", verdict.BadOutput, claudeResult("", "")).exits(0),
		fails("ends in the middle", verdict.Interrupted, Op{Out: `{"type":"assistant","mess`}).exits(0),
		fails("ends in the middle with a failure", verdict.Unknown, Op{Out: `{"type":"assistant","mess`}),
		fails("answer, then a failure", verdict.Unknown, claudeResult(answer, `,"terminal_reason":"completed"`)),
		fails("segmentation fault", verdict.Crash).dies(int(syscall.SIGSEGV)),
		fails("out of memory", verdict.Crash).dies(int(syscall.SIGKILL)),
		fails("told to end", verdict.Interrupted).dies(int(syscall.SIGTERM)),
		{Name: "hang", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
		{Name: "never ends", Ops: []Op{alive(claudeEvent(`"type":"system","subtype":"status"`))}, Class: verdict.Timeout, Ends: ByTimeout},
	}
}

// claudeEarly are the ways in which claude fails before a session has begun.
func claudeEarly(session string) []Fault {
	return []Fault{
		fails("no connection at the start", verdict.Network, Op{Err: "Error: connect ECONNREFUSED 127.0.0.1:443\n"}),
		fails("torn result", verdict.BadOutput, Op{Out: `{"type":"result","subtype":"success","is_error":false,"result":"He`}).exits(0),
		fails("no such session", verdict.SessionNotFound, Op{Err: "No conversation found with session ID: " + session + "\n"}),
		{Name: "hang at the start", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
	}
}

// alive makes an op go on for ever.
func alive(op Op) Op {
	op.Alive = true
	return op
}
