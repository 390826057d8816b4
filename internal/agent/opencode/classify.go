package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// byName are the errors of opencode that mean one thing.
var byName = agent.Classes{
	verdict.Auth:           "ProviderAuthError ProviderInitError",
	verdict.NotFound:       "ProviderModelNotFoundError",
	verdict.Interrupted:    "MessageAbortedError",
	verdict.LimitReached:   "MessageOutputLengthError",
	verdict.TooLarge:       "ContextOverflowError",
	verdict.Refused:        "ContentFilterError",
	verdict.BadOutput:      "StructuredOutputError",
	verdict.InvalidRequest: "ConfigJsonError ConfigInvalidError",
}

// classify says what an error of opencode's means. The class is unknown if it means nothing to us.
func (e *failure) classify(now time.Time) verdict.Verdict {
	d := &e.Data
	v := verdict.Verdict{Class: verdict.Unknown, Rule: "error " + e.Name, Evidence: e.evidence()}
	served, known := agent.OfService(d.Message+"\n"+d.Body, d.Status, now)
	if class, ok := byName.Of(e.Name); ok {
		v.Class = class
	} else if known {
		v.Class, v.Rule = served.Class, served.Rule
	} else if class, rule, ok := e.byBody(now); ok {
		v.Class, v.Rule = class, rule
	} else if class := verdict.OfStatus(d.Status, d.Message+" "+d.Body); class != verdict.Unknown {
		v.Class, v.Rule = class, fmt.Sprintf("status %d", d.Status)
	} else if w := classifyText(d.Message, now); w.Class != verdict.Unknown {
		v.Class, v.Rule = w.Class, w.Rule
	} else if e.Name == "APIError" && d.Status == 0 && d.Retryable != nil && *d.Retryable {
		v.Class, v.Rule = verdict.Network, "no-status" // there was no answer
	}
	v.Retryable = v.Class.Retryable()
	if v.Retryable || v.Class.Throttle() {
		if v.Hint = e.hint(now); v.Hint.IsZero() || v.Hint.Inferred {
			v.Hint = cmp.Or(served.Hint, v.Hint)
		} else if v.Class == verdict.UsageLimit && served.Hint.Wait(now) > v.Hint.Wait(now) {
			v.Hint = served.Hint // a gateway asks for a short wait, whatever its service says
		}
	}
	return v
}

// byBody says what the body of the answer and its message say beyond the status: which limit, and whether it is about money.
func (e *failure) byBody(now time.Time) (verdict.Class, string, bool) {
	d := &e.Data
	if d.Status >= 500 && d.Status != 529 {
		return "", "", false // whatever it writes into its page
	}
	var body struct {
		Type  string
		Error struct {
			Code    any
			Type    string
			Status  string
			Message string
		}
	}
	json.Unmarshal([]byte(d.Body), &body) // what is not there or of another kind stays empty
	code, _ := body.Error.Code.(string)
	for _, name := range []string{code, body.Error.Type, body.Error.Status} {
		class, ok := agent.ClassOfCode(name, codes)
		if ok && (d.Status != 429 || class == verdict.Billing || class.Throttle()) {
			return class, "code " + name, true
		}
	}
	// Gateways leave the code out. Of what the words of a refusal can say, only what the status cannot is believed.
	words := classifyText(cmp.Or(d.Message, body.Error.Message)+"\n"+body.Error.Message, now)
	if slices.Contains(refined[d.Status], words.Class) {
		return words.Class, words.Rule, true
	}
	return "", "", false
}

// refined are what a status may also mean.
var refined = map[int][]verdict.Class{
	400: {verdict.TooLarge, verdict.NotFound, verdict.Refused, verdict.Billing, verdict.UsageLimit, verdict.Auth},
	401: {verdict.Billing},
	403: {verdict.Billing, verdict.Refused, verdict.UsageLimit},
	422: {verdict.TooLarge, verdict.Refused},
	429: {verdict.UsageLimit, verdict.Billing, verdict.Overloaded},
	529: {verdict.Overloaded},
}

// hint is when to come back: as the headers say, which opencode heeds too, else as the message says.
func (e *failure) hint(now time.Time) verdict.Hint {
	for name, value := range e.Data.Headers {
		if strings.EqualFold(name, "retry-after-ms") {
			if h, ok := verdict.ParseHint("retry-after-ms: "+value, now); ok {
				return h
			}
		}
	}
	for name, value := range e.Data.Headers {
		if strings.EqualFold(name, "retry-after") {
			if h, ok := verdict.ParseRetryAfter(value, now); ok {
				return h
			}
		}
	}
	h, _ := verdict.ParseHint(cmp.Or(e.Data.Message, e.Data.Body), now)
	return h
}

// evidence is what can be shown of an error.
func (e *failure) evidence() string {
	text := cmp.Or(agent.Evidence(e.Data.Message), agent.Evidence(e.Data.Body), e.Name)
	if s := e.Data.Status; s != 0 && !strings.Contains(text, fmt.Sprint(s)) {
		text = fmt.Sprintf("%s (HTTP %d)", text, s)
	}
	return text
}

// classifyText says what a message means. The class is unknown if it means nothing to us.
func classifyText(message string, now time.Time) verdict.Verdict {
	message = strings.TrimSpace(message)
	o := verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(message)}
	if v, ok := agent.OfService(message, 0, now); ok {
		return v
	}
	if v, ok := rules.Judge(o, now); ok {
		return v
	}
	return verdict.Verdict{Class: verdict.Unknown, Rule: "message", Evidence: agent.Evidence(message)}
}
