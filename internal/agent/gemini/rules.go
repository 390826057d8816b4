package gemini

import (
	"cmp"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// The exit codes that gemini gives to failures of its own. After others it ends with 1, or with the last eight bits of the
// status of HTTP.
const (
	exitAuth      = 41
	exitInput     = 42
	exitSandbox   = 44
	exitConfig    = 52
	exitTurns     = 53
	exitTool      = 54
	exitUntrusted = 55
	exitCancelled = 130
)

// byExit is what they mean where there are no words that say more.
var byExit = map[int]verdict.Class{exitAuth: verdict.Auth, exitInput: verdict.InvalidRequest, exitSandbox: verdict.InvalidRequest,
	exitConfig: verdict.InvalidRequest, exitUntrusted: verdict.InvalidRequest, exitTurns: verdict.LimitReached, exitCancelled: verdict.Interrupted}

// statuses are the statuses of HTTP that an exit code can stand for.
var statuses = []int{400, 401, 402, 403, 404, 408, 413, 429, 499, 500, 501, 502, 503, 504}

// statusOfExit is the status of HTTP that an exit code stands for; 0 if it stands for none.
func statusOfExit(code int) int {
	for _, status := range statuses {
		if status&0xFF == code {
			return status
		}
	}
	return 0
}

// byReason has the service's own names for failures.
var byReason = agent.Classes{
	verdict.UsageLimit: perDay + " QUOTA_EXHAUSTED",
	verdict.RateLimit:  "RATE_LIMIT_EXCEEDED",
	verdict.Overloaded: "MODEL_CAPACITY_EXHAUSTED MODEL_CAPACITY_EXCEEDED",
	verdict.Billing:    "INSUFFICIENT_G1_CREDITS_BALANCE BILLING_DISABLED",
	verdict.Auth: "API_KEY_INVALID API_KEY_EXPIRED ACCESS_TOKEN_EXPIRED VALIDATION_REQUIRED SERVICE_DISABLED " +
		"CONSUMER_SUSPENDED",
}

// classOfStatus is the class of an HTTP status. Google has one more for a request that was cancelled on the way.
func classOfStatus(status int, text string) (class verdict.Class, ok bool) {
	if status == 499 {
		return verdict.ServerError, true
	}
	class = verdict.OfStatus(status, text)
	return class, class != verdict.Unknown
}

// rules tell failures apart by what gemini, or the service through it, says of them. They are asked about messages of a failure and
// about gemini's own lines on stderr, never about what the model or a tool has said.
var rules = agent.Rules{Table: ruleTable}

var ruleTable = []verdict.Rule{
	// Money. The advice to check one's billing details comes with every limit, and means nothing.
	{Name: "credits", Class: verdict.Billing, Match: `credits? (are|is|have been|has been|were) (depleted|exhausted|used up)|insufficient[\w ]* (credit|balance)|\bout of credits?\b|\bspend(ing)? cap\b`},
	{Name: "no-quota", Class: verdict.Billing, Match: `\blimit: ?0($|[^\d.]|\.($|\D))`},

	// Limits.
	{Name: "daily-quota", Class: verdict.UsageLimit, Match: `\bPerDay\b|\bper day\b|\bdaily (quota|limit)`},
	{Name: "capacity", Class: verdict.Overloaded, Match: `\bmodel is overloaded\b|\bat capacity\b|no capacity available|capacity exceeded|\bMODEL_CAPACITY_EX`},

	// The history, which it rejects each time.
	{Name: "history", Class: verdict.SessionBroken, Match: `function call turn comes immediately after|number of function response parts is equal|function response turn comes immediately after|thought.?signature is (not valid|missing)|unable to process input image|provided image is not valid`},

	// What is not wanted.
	{Name: "api-key", Class: verdict.Auth, Match: `\bAPI key (is )?invalid`},
	{Name: "auth", Class: verdict.Auth, Match: `must specify the \w+( or \w+)? environment variable|set an auth method|invalid auth method|enforced authentication type|auth type '[\w-]+' is enforced|^error authenticating|authentication (consent|failed|required)|failed to (login|log in|authenticate|sign in)|please (re-?authenticate|log in|sign in)|verify your account`},
	{Name: "too-large", Class: verdict.TooLarge, Match: `payload size exceeds|exceeds the (model's )?context window|request (is )?too large`},
	{Name: "model", Class: verdict.NotFound, Match: `^models?/\S+ is not found|requested entity was not found|^model not found|\bmodel \S+ (does not exist|was not found|not found)\b`},

	// The stream had no answer in it.
	{Name: "policy", Class: verdict.Refused, Match: `blocked due to (safety settings|recitation|other policy|the prohibited content)|due to (safety|recitation|other) settings \(`},
	{Name: "max-tokens", Class: verdict.LimitReached, Match: `truncated because it exceeded the token limit|token limit exhaustion|\bMAX_TOKENS\b`},
	{Name: "cut", Class: verdict.Network, Match: `^model stream ended without a finish reason`},
	{Name: "empty", Class: verdict.BadOutput, Match: `returned an empty response|response body is empty|returned reasoning thoughts but no|ended with (an? )?(empty response|malformed|unexpected tool)|^invalid stream\b|malformed function call`},
	{Name: "malformed", Class: verdict.BadOutput, Match: `incomplete json segment|\bin JSON at position\b|is not valid JSON|unexpected (token|end of JSON|non-whitespace)|^expected (property name|',' or|double-quoted)|unterminated string in JSON|bad control character`},

	// How it ended, and how it was used.
	{Name: "turns", Class: verdict.LimitReached, Match: `reached max session turns|maximum session turns exceeded`},
	{Name: "loop", Class: verdict.LimitReached, Match: `^loop detected`},
	{Name: "cancelled", Class: verdict.Interrupted, Match: `^operation cancelled`},
	{Name: "no-session", Class: verdict.SessionNotFound, Match: `^error resuming session: `},
	{Name: "session-exists", Class: verdict.InvalidRequest, Match: `^error (starting|importing) session`},
	{Name: "usage", Class: verdict.InvalidRequest, Match: `^(unknown arguments?: |not enough arguments following|invalid values:|cannot use both|the flags --resume|the --worktree flag|missing required argument)|^usage: gemini|option cannot be empty|^invalid session id`},
	{Name: "no-input", Class: verdict.InvalidRequest, Match: `^no input provided via stdin|cannot be used when input is piped`},
	{Name: "untrusted", Class: verdict.InvalidRequest, Match: `not running in a trusted directory|not trusted`},
	{Name: "config", Class: verdict.InvalidRequest, Match: `^error in .*settings\.json|invalid (configuration|settings) in|please fix the configuration|^invalid custom base url`},
	{Name: "command", Class: verdict.InvalidRequest, Match: `^exiting due to (a confirmation prompt|command result|an error processing the @)`},
	{Name: "sandbox", Class: verdict.InvalidRequest, Match: `\bsandbox (command|image|profile)\b|GEMINI_SANDBOX`},
	{Name: "disk-full", Class: verdict.InvalidRequest, Match: `\bENOSPC\b|no space left on device`},

	// The way to the service.
	{Name: "certificate", Class: verdict.InvalidRequest, Match: `self[- ]signed certificate|unable to (verify|get) (the first|local issuer) certificate|certificate has expired|\bCERT_\w+`},
	{Name: "network", Class: verdict.Network, Match: `fetch failed|\b(E(CONN(RESET|REFUSED|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE|HOSTUNREACH|NETUNREACH|PROTO)|UND_ERR_\w+|ERR_(SSL|STREAM)_\w+)\b|^(error: )?terminated$|socket hang up|premature close|other side closed|getaddrinfo|network (error|is unreachable)`},
	{Name: "crashed", Class: verdict.Crash, Match: `JavaScript heap out of memory|^fatal error: |^CRITICAL: unhandled promise rejection`},
}

// classify says what a complaint means. The class is unknown if it means nothing to us.
func (c complaint) classify(now time.Time) verdict.Verdict {
	v := verdict.Verdict{Class: verdict.Unknown, Rule: "message", Evidence: agent.Evidence(c.message)}
	if class, ok := byReason.Of(c.reason); ok {
		v.Class, v.Rule = class, "reason "+c.reason
	} else if w, ok := agent.OfService(cmp.Or(c.body, c.message), c.status, now); ok {
		v.Class, v.Rule, v.Hint = w.Class, w.Rule, w.Hint
	} else if w, ok := rules.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(c.message)}, now); ok && !contradicts(c.status, w.Class) {
		v.Class, v.Rule = w.Class, w.Rule
	} else if class, ok := classOfStatus(c.status, c.message); ok {
		v.Class, v.Rule = class, "status"
	}
	v.Retryable = v.Class.Retryable()
	switch {
	case !v.Retryable && !v.Class.Throttle():
	case c.delay > 0:
		v.Hint = verdict.Hint{After: c.delay}
	case v.Hint.IsZero():
		v.Hint, _ = verdict.ParseHint(cmp.Or(c.body, c.message), now)
	}
	return v
}

// contradicts reports whether a status rules a class out that the words of the same answer speak for.
func contradicts(status int, class verdict.Class) bool {
	switch {
	case status >= 500: // whatever the service writes into its page
		return class != verdict.Overloaded
	case status == 429:
		return class != verdict.UsageLimit && class != verdict.Billing && class != verdict.Overloaded
	}
	return false
}
