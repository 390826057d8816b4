package codex

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// disconnected stands before many messages and says little: what follows it is the reason.
const disconnected = "stream disconnected before completion: "

// classify says what a message of codex means. The class is unknown if it means nothing to us.
func classify(message string, now time.Time) verdict.Verdict {
	return classifyExit(message, 1, now)
}

func classifyExit(message string, exit int, now time.Time) verdict.Verdict {
	message = strings.TrimSpace(message)
	reason, cut := strings.CutPrefix(message, disconnected)
	o := verdict.Outcome{ExitCode: exit, Stderr: verdict.ExcerptOf(reason)}
	v, ok := agent.OfService(reason, toldStatus(reason), now)
	if !ok {
		v, ok = fromBody(reason, now)
	}
	if !ok {
		v, ok = rules.Judge(o, now)
	}
	if ok {
		if v.Class == verdict.UsageLimit && v.Hint.Inferred {
			// Codex leaves out the seconds: the limit resets at some time within that minute.
			v.Hint.At = v.Hint.At.Add(time.Minute)
		}
		return v
	}
	v = verdict.Verdict{Class: verdict.Unknown, Rule: "message", Evidence: agent.Evidence(message)}
	if cut {
		// The reason is unknown, but the stream was cut.
		v.Class, v.Retryable, v.Rule = verdict.Network, true, "stream"
	}
	return v
}

// toldStatus is the HTTP status that codex names at the begin of a message; 0 if it names none. Of a 400 it shows the body alone.
func toldStatus(message string) int {
	for _, begin := range []string{"unexpected status ", "exceeded retry limit, last status: "} {
		if rest, ok := strings.CutPrefix(message, begin); ok && len(rest) >= 3 {
			n, _ := strconv.Atoi(rest[:3])
			return n
		}
	}
	return 0
}

// fromBody judges a message that is the body of an answer, which it is for a 400.
func fromBody(message string, now time.Time) (verdict.Verdict, bool) {
	var body struct {
		Error  struct{ Code, Type, Message string }
		Detail string
	}
	if !strings.HasPrefix(message, "{") || !json.Valid([]byte(message)) {
		return verdict.Verdict{}, false
	}
	json.Unmarshal([]byte(message), &body) // what is not there or of another kind stays empty
	v := verdict.Verdict{Class: verdict.InvalidRequest, Rule: "body", Evidence: agent.Evidence(message)}
	for _, name := range []string{body.Error.Code, body.Error.Type} {
		if class, ok := agent.ClassOfCode(name, codes); ok {
			v.Class, v.Rule = class, "body-"+name
			break
		}
	}
	if v.Class == verdict.InvalidRequest { // gateways that leave the code out
		words := verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(cmp.Or(body.Error.Message, body.Detail))}
		if w, ok := rules.Judge(words, now); ok && slices.Contains(refusals, w.Class) {
			v.Class, v.Rule = w.Class, "body-"+w.Rule
		}
	}
	v.Retryable = v.Class.Retryable()
	if v.Retryable || v.Class.Throttle() {
		v.Hint, _ = verdict.ParseHint(message, now)
	}
	return v, true
}

// refusals are what a 400 may be as well. What is worth another try is not said by one.
var refusals = []verdict.Class{verdict.TooLarge, verdict.NotFound, verdict.Refused, verdict.Billing, verdict.UsageLimit, verdict.Auth, verdict.SessionBroken}

// overWebSocket reports whether the message is about a WebSocket.
func overWebSocket(message string) bool {
	return strings.Contains(message, "url: ws://") || strings.Contains(message, "url: wss://") || strings.Contains(message, "WebSocket")
}

// silentlyRetried matches what codex has tried several times before it tells of it.
var silentlyRetried = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(unexpected status 5\d\d |We['’]re currently experiencing high demand|Selected model is at capacity|(stream disconnected before completion: |Connection failed: )error sending request)`)
})

// silentPause is the least that codex waits before its first silent retry: 0.2 s, give or take a tenth. Each pause is
// twice as long as the one before.
const silentPause = 180 * time.Millisecond

// silentRetries is how many retries codex has made without telling before it said this: all that it makes, or none. An
// error inside a stream comes with the same words, and without the time that retries take; on a busy machine even that
// takes a while.
func (f *follower) silentRetries(message string) int {
	if _, why, ok := reconnecting(message); ok {
		message = why
	}
	if f.silentLimit == nil || overWebSocket(message) || !silentlyRetried().MatchString(message) {
		return 0
	}
	n := f.silentLimit()
	if f.silence < silentPause*(1<<min(n, 20)-1) {
		return 0
	}
	return n
}
