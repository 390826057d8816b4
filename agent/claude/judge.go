package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Judge implements [agent.Follower].
func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	v := f.judge(o, now)
	v.SessionID, v.Usage = f.session, f.ledger.reported()
	if v.Class != verdict.OK && v.Evidence == "" {
		v.Evidence = verdict.LastWords(o)
	}
	if v.Class == verdict.InvalidRequest {
		f.misunderstood = f.stumbles(o)
	}
	f.class = v.Class
	return v
}

func (f *follower) judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	switch {
	case o.Signal == "SIGINT", o.Signal == "SIGTERM", o.Signal == "SIGHUP":
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "signal", Evidence: "ended by " + o.Signal}
	case o.Signal != "":
		return verdict.Verdict{Class: verdict.Crash, Rule: "signal", Evidence: "ended by " + o.Signal}
	case f.result != nil:
		return f.byResult(o, now)
	case o.ExitCode == 129, o.ExitCode == 130, o.ExitCode == 143:
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "exit-code", Evidence: fmt.Sprintf("exit %d", o.ExitCode)}
	case o.ExitCode == 0:
		return f.byText()
	}
	return f.byWords(f.text.String(), o, now)
}

// byText judges a run that ended with 0 and has no result.
func (f *follower) byText() verdict.Verdict {
	text := f.text.String()
	switch {
	case f.events, strings.TrimSpace(text) == "":
		// That is how it ends when it is interrupted while it waits for the API.
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "no-result", Evidence: "exit 0 without a result"}
	case isNothing(text):
		return verdict.Verdict{Class: verdict.Blocked, Rule: "nothing-done", Evidence: firstLine(text)}
	}
	return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
}

// isNothing reports whether an answer is claude's own and says that nothing was done. The words must be all of it: a
// model may say the same in passing.
func isNothing(text string) bool {
	for _, words := range nothingDone {
		if strings.HasPrefix(text, words) && (!strings.HasPrefix(words, "Unknown") || !strings.Contains(strings.TrimSpace(text), "\n")) {
			return true
		}
	}
	return false
}

// byResult judges a run by its last result.
func (f *follower) byResult(o verdict.Outcome, now time.Time) verdict.Verdict {
	r := f.result
	text := r.Text
	if len(r.Errors) > 0 {
		text = strings.Join(r.Errors, "\n")
	}
	said := func(class verdict.Class, rule string) verdict.Verdict {
		v := verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: rule, Evidence: verdict.LastLines(text, 3, 500)}
		if v.Retryable || class.Throttle() {
			v.Hint = f.hint(text, now)
		}
		if v.Evidence == "" {
			v.Evidence = rule
		}
		return v
	}
	if class, ok := bySubtype[f.kind]; ok {
		return said(class, f.kind)
	}
	if class, ok := byTerminal[r.TerminalReason]; ok {
		return said(class, r.TerminalReason)
	}
	fine := f.kind == "success" && !r.IsError
	switch {
	case fine && len(r.ModelUsage) == 0 && isNothing(text):
		return said(verdict.Blocked, "nothing-done")
	case fine && o.ExitCode == 0:
		return verdict.Verdict{Class: verdict.OK, Rule: "result"}
	case r.StartupFailure != "":
		return said(verdict.InvalidRequest, "startup_failure_reason")
	case f.kind == "error_during_execution" && !r.IsError && text == "":
		return said(verdict.BadOutput, "no-answer") // 2.0.77, of a page that is no answer of the API
	}
	if class, ok := byAPIError[r.APIError]; ok {
		return said(class, "api_error "+r.APIError)
	}
	if f.limit.resets() && (r.Status == 429 || r.Status == 0) {
		return said(verdict.UsageLimit, "rate_limit_event")
	}
	if v := f.byWords(text, o, now); v.Class != verdict.Unknown {
		return v
	}
	if class, ok := byType[r.APIErrorType]; ok {
		return said(class, "api_error_type "+r.APIErrorType)
	}
	if class, ok := classOfStatus(r.Status, text); ok {
		return said(class, fmt.Sprintf("api_error_status %d", r.Status))
	}
	if class, ok := byError[string(f.complaint.Error)]; ok {
		return said(class, "error "+string(f.complaint.Error))
	}
	return said(verdict.Unknown, "result")
}

// byWords judges by what claude says of itself: text, and stderr.
func (f *follower) byWords(text string, o verdict.Outcome, now time.Time) verdict.Verdict {
	own := verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(text), Stderr: o.Stderr}
	if class, rule, ok := rawError(text); ok {
		return verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: rule, Evidence: verdict.LastLines(text, 3, 500), Hint: f.hint(text, now)}
	}
	v, ok := words().Judge(own, now)
	if !ok {
		v = verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code"}
		if o.ExitCode == 0 {
			v.Rule = "result"
		}
	}
	if v.Class.Throttle() || v.Retryable {
		v.Hint = f.hint(text, now)
	}
	return v
}

// rawError reads "API Error: 429 {"type":"error","error":{…}}", as versions before 2.1 print it.
func rawError(text string) (verdict.Class, string, bool) {
	rest, ok := strings.CutPrefix(text, "API Error: ")
	if !ok {
		return "", "", false
	}
	_, body, ok := strings.Cut(rest, "{")
	if !ok {
		return "", "", false
	}
	var raw struct {
		Error struct{ Type, Message string }
	}
	if json.NewDecoder(strings.NewReader("{"+body)).Decode(&raw) != nil {
		return "", "", false
	}
	// What the types do not tell apart, words do.
	if v, ok := words().Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(raw.Error.Message)}, time.Time{}); ok {
		return v.Class, v.Rule, true
	}
	class, ok := byType[raw.Error.Type]
	return class, raw.Error.Type, ok
}

// hint is when to come back: the reset of the limit that refused it, or what the text says.
func (f *follower) hint(text string, now time.Time) verdict.Hint {
	if f.limit.resets() {
		return verdict.Hint{At: time.Unix(int64(f.limit.ResetsAt), 0)}
	}
	h, _ := verdict.ParseHint(text, now)
	return h
}

// stumbles reports whether claude does not know an option that we added.
func (f *follower) stumbles(o verdict.Outcome) bool {
	text := o.Stderr.Text()
	for _, added := range f.plan.Added {
		if strings.HasPrefix(added, "--") && strings.Contains(text, "'"+added) {
			return true
		}
	}
	return false
}

// array reads the form of --output-format json --verbose.
func (f *follower) array(line []byte) {
	var all []json.RawMessage
	if json.Unmarshal(line, &all) != nil {
		f.keep(line)
		return
	}
	for _, one := range all {
		if e, ok := parse(one); ok {
			f.events = true
			f.event(e, one)
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
