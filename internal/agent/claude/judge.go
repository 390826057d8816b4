package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Judge implements [agent.Reader].
func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	if text := f.text.Bytes(); !f.events && len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		f.readMultiline(text) // the result was printed on several lines
	}
	v := f.judge(o, now)
	if v.Class == verdict.Unknown {
		if w, ok := f.byLastResort(o, now); ok {
			v = w
		}
	}
	v.SessionID, v.Usage = f.Session, f.ledger.reported()
	if v.Class != verdict.OK && v.Evidence == "" {
		v.Evidence = verdict.LastWords(o)
	}
	if v.Class == verdict.InvalidRequest {
		f.Misread = f.rejectsAddedOption(o)
	}
	f.class = v.Class
	return v
}

// judgeTurn judges a turn of a conversation. Claude goes on after a turn, as it were with the exit code that it would have ended with.
func (f *follower) judgeTurn(now time.Time) verdict.Verdict {
	if f.result == nil {
		return verdict.Verdict{Class: verdict.Unknown, Rule: "no-result"}
	}
	var o verdict.Outcome
	if f.result.IsError || f.subtype != "success" {
		o.ExitCode = 1
	}
	v := f.byResult(o, now)
	if v.Class == verdict.Unknown {
		if w, ok := f.byLastResort(o, now); ok {
			v = w
		}
	}
	v.SessionID = f.Session
	return v
}

func (f *follower) judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	if v, ok := verdict.EndedBySignal(o); ok {
		return v
	}
	if f.result != nil {
		return f.byResult(o, now)
	}
	if v, ok := verdict.EndedByCode(o); ok {
		return v
	}
	if o.ExitCode == 0 {
		return f.byText(o, now)
	}
	if f.complaint.Error != "" {
		return f.byComplaint(o, now)
	}
	return f.byWords(f.text.String(), o, now)
}

// byComplaint judges a run that ended without a result, but has told of a failure.
func (f *follower) byComplaint(o verdict.Outcome, now time.Time) verdict.Verdict {
	text := f.complaint.Message.Content.text()
	name := string(f.complaint.Error)
	v := verdict.Verdict{Class: verdict.UsageLimit, Rule: "rate_limit_event"}
	if !f.limit.resets() {
		v = f.byWords(text, o, now)
	}
	if class, ok := byError.Of(name); ok && v.Class == verdict.Unknown {
		v = verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "error " + name}
	}
	if v.Retryable || v.Class.Throttle() {
		v.Hint = f.hint(text, o, now)
	}
	v.Evidence = cmp.Or(verdict.LastLines(text, 3, 500), v.Evidence, "error "+name)
	return v
}

// byText judges a run that ended with 0 and has no result.
func (f *follower) byText(o verdict.Outcome, now time.Time) verdict.Verdict {
	text := f.text.String()
	switch {
	case f.torn:
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "torn", Evidence: "the result ends in the middle"}
	case f.events, text == "":
		// That is how it ends when it is interrupted while it waits for the API.
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "no-result", Evidence: "exit 0 without a result"}
	case strings.TrimSpace(text) == "" && f.plan.Plain:
		// An empty line is an empty result. Its tools may have done the work, of which this form shows nothing.
		return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
	case strings.TrimSpace(text) == "":
		// We would have asked for events. As all that is left of a run it is one that a hook has stopped, or that has not known
		// the command.
		return verdict.Verdict{Class: verdict.Blocked, Rule: "nothing-done", Evidence: "exit 0 with an empty answer"}
	case isNothing(text):
		first, _, _ := strings.Cut(text, "\n")
		return verdict.Verdict{Class: verdict.Blocked, Rule: "nothing-done", Evidence: first}
	case isCutResult(text):
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "torn", Evidence: "the result ends in the middle"}
	}
	if said := o.Stdout.Text(); !strings.HasSuffix(said, "\n") { // as every answer does
		for _, end := range noAnswerTexts {
			if strings.HasPrefix(said, end.words) && !strings.Contains(said, "\n") {
				if v := f.byWords("", o, now); v.Class != verdict.Unknown {
					return v // stderr says why
				}
				return verdict.Verdict{Class: end.class, Retryable: end.class.Retryable(), Rule: "no-answer", Evidence: said}
			}
		}
	}
	if v, ok := agent.WrongForm(f.profile.form(), f.profile.env, text); ok {
		return v
	}
	return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
}

// isCutResult reports whether text is a result that was cut off, which an answer never looks like.
func isCutResult(text string) bool {
	for _, begin := range []string{`{"type":"result",`, `{"type":"system",`, `[{"type":"system",`, `{"duration_api_ms":`} {
		if strings.HasPrefix(text, begin) {
			return !json.Valid([]byte(text))
		}
	}
	return false
}

// isNothing reports whether an answer is claude's own and says that nothing was done. The words must be all of it: a
// model may say the same in passing.
func isNothing(text string) bool {
	return slices.ContainsFunc(nothingDone, func(words string) bool {
		return strings.HasPrefix(text, words) && (!strings.HasPrefix(words, "Unknown") || !strings.Contains(strings.TrimSpace(text), "\n"))
	})
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
			v.Hint = f.hint(text, o, now)
		}
		v.Evidence = cmp.Or(v.Evidence, rule)
		return v
	}
	if class, ok := bySubtype.Of(f.subtype); ok {
		return said(class, f.subtype)
	}
	if f.subtype == "error_during_execution" && (f.aborted || o.ExitCode == 0 && strings.HasPrefix(text, "[ede_diagnostic]")) {
		return said(verdict.Interrupted, "interrupted") // before there was a terminal_reason
	}
	fine := f.subtype == "success" && !r.IsError
	if class, ok := byTerminal.Of(r.TerminalReason); ok && !(fine && text != "" && r.TerminalReason == stopPrevented) {
		return said(class, r.TerminalReason)
	}
	switch {
	case fine && r.LocalCommand != "" && !isNothing(text) && o.ExitCode == 0:
		return verdict.Verdict{Class: verdict.OK, Rule: "local_command"} // which may have nothing to say
	case fine && len(r.ModelUsage) == 0 && (isNothing(text) || text == ""):
		return said(verdict.Blocked, "nothing-done")
	case fine && f.unanswered && text == "" && r.TerminalReason == "" && !f.ledger.hasUnseenAnswer():
		return said(verdict.Blocked, "stopped") // after a tool, by a hook; later versions say so
	case fine && o.ExitCode == 0 && strings.TrimSpace(text) == "" && f.onlyEmptyAnswer():
		return said(verdict.BadOutput, "empty-answer")
	case fine && o.ExitCode == 0:
		return verdict.Verdict{Class: verdict.OK, Rule: "result"}
	case fine:
		if v, ok := verdict.EndedByCode(o); ok {
			return v
		}
		return f.byWords("", o, now) // the text is the model's
	case r.StartupFailure != "":
		class, ok := byStartup.Of(r.StartupFailure)
		if !ok {
			class = verdict.InvalidRequest
		}
		return said(class, "startup_failure_reason "+r.StartupFailure)
	case f.subtype == "error_during_execution" && !r.IsError && text == "":
		return said(verdict.BadOutput, "no-answer") // 2.0.77, of a page that is no answer of the API
	}
	if r.StopReason == "refusal" {
		return said(verdict.Refused, "stop_reason refusal")
	}
	if class, ok := byAPIError.Of(r.APIError); ok {
		if better, ok := refinedByText.Of(r.APIError); ok {
			if v := f.byWords(text, o, now); v.Class == better {
				return v
			}
		}
		return said(class, "api_error "+r.APIError)
	}
	if f.limit.resets() && (r.Status == 429 || r.Status == 0) {
		return said(verdict.UsageLimit, "rate_limit_event")
	}
	if v := f.byWords(text, o, now); v.Class != verdict.Unknown {
		return v
	}
	if class, ok := byType.Of(r.APIErrorType); ok {
		return said(class, "api_error_type "+r.APIErrorType)
	}
	if class := verdict.OfStatus(r.Status, text); class != verdict.Unknown {
		return said(class, fmt.Sprintf("api_error_status %d", r.Status))
	}
	if class, ok := byError.Of(string(f.complaint.Error)); ok {
		return said(class, "error "+string(f.complaint.Error))
	}
	return said(verdict.Unknown, "result")
}

// onlyEmptyAnswer reports whether an empty answer is all that has come of a turn: no tool has done anything, and the model was
// asked, which a command of claude's own does not do. The caller of a conversation sees that itself.
func (f *follower) onlyEmptyAnswer() bool {
	r := f.result
	var used tokens
	json.Unmarshal(r.Usage, &used)
	switch {
	case f.isConversation || f.usedTools || len(r.Structured) > 0 || used == (tokens{}) && !f.Active:
		return false
	case f.turnBegun:
		return true
	}
	// The result alone: each tool takes another turn, as does claude's own request for an answer that can be seen. If nothing of the
	// model has ever come, it has called no tool.
	return r.Turns <= 1 || r.Turns == 2 && (asksAgain(r.Usage) || r.StreamBegan != nil && r.FirstToken == nil)
}

// asksAgain reports whether a usage belongs to a version that asks once more for an empty answer. Those from 2.1.183 on do, and
// perhaps some before; the field came after 2.1.212.
func asksAgain(usage json.RawMessage) bool {
	return bytes.Contains(usage, []byte(`"output_tokens_details"`))
}

// byWords judges by what claude says of itself: text, and else stderr.
func (f *follower) byWords(text string, o verdict.Outcome, now time.Time) verdict.Verdict {
	if v, ok := f.byService(text, now); ok {
		return v
	}
	v, ok := verdict.Verdict{Evidence: verdict.LastLines(text, 3, 500)}, false
	if v.Class, v.Rule, ok = rawError(text); ok {
		v.Retryable = v.Class.Retryable()
	}
	if !ok {
		v, ok = textRules.Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(text)}, now)
	}
	if !ok {
		v, ok = f.byStderr(o, now)
	}
	if !ok {
		v = verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code"}
		if o.ExitCode == 0 {
			v.Rule = "result"
		}
	}
	if v.Class.Throttle() || v.Retryable {
		v.Hint = f.hint(text, o, now)
	}
	return v
}

// byService judges by what claude passes on of the service: "API Error: 429 {…}", "API Error: Request rejected (429) · …".
func (f *follower) byService(text string, now time.Time) (verdict.Verdict, bool) {
	said, ok := strings.CutPrefix(strings.TrimPrefix(text, "Failed to authenticate. "), "API Error")
	if !ok {
		return verdict.Verdict{}, false
	}
	status := statusIn(said)
	v, ok := agent.OfService(strings.TrimLeft(said, ": "), status, now)
	if !ok {
		return v, false
	}
	if v.Rule == agent.TornBody && (f.profile.line.Has("-r") || f.profile.line.Has("-c") || slices.Contains(f.plan.Added, "--resume")) {
		v.Class = verdict.SessionBroken // it is the history that has it
	}
	if f.limit.resets() {
		v.Hint = verdict.Hint{At: f.limit.resetTime()}
	} else if v.Hint.IsZero() && (v.Retryable || v.Class.Throttle()) {
		v.Hint = f.hint(text, verdict.Outcome{}, now)
	}
	return v, true
}

// statusIn is the HTTP status that such a text begins with; 0 if it has none.
func statusIn(said string) int {
	before, rest, _ := strings.Cut(said[:min(len(said), 40)], "(")
	for _, word := range []string{before, rest} {
		if word = strings.TrimLeft(word, ": "); len(word) >= 3 {
			if n, err := strconv.Atoi(word[:3]); err == nil && n >= 400 && n < 600 {
				return n
			}
		}
	}
	return 0
}

// rawError reads "API Error: 429 {"type":"error","error":{…}}", as versions before 2.1 print it and later ones what they
// do not know. The status may be missing: then the error came in the middle of an answer.
func rawError(text string) (verdict.Class, string, bool) {
	rest, ok := strings.CutPrefix(text, "API Error: ")
	if !ok {
		return "", "", false
	}
	before, body, ok := strings.Cut(rest, "{")
	if !ok {
		return "", "", false
	}
	var raw struct {
		Error struct{ Type, Message string }
	}
	if agent.Lenient(json.NewDecoder(strings.NewReader("{"+body)).Decode(&raw)) != nil {
		return "", "", false
	}
	status, _ := strconv.Atoi(strings.TrimSpace(before))
	class, known := byType.Of(raw.Error.Type)
	if status == 529 || !known {
		class = verdict.OfStatus(status, raw.Error.Message)
		known = class != verdict.Unknown
	}
	if known && class.Retryable() && class != verdict.RateLimit {
		return class, cmp.Or(raw.Error.Type, "status"), true
	}
	// What the types of a refusal do not tell apart, words do.
	if v, ok := textRules.Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(raw.Error.Message)}, time.Time{}); ok {
		return v.Class, v.Rule, true
	}
	return class, cmp.Or(raw.Error.Type, "status"), known
}

// hint is when to come back: the reset of the limit that refused it, or what the text says, or stderr.
func (f *follower) hint(text string, o verdict.Outcome, now time.Time) verdict.Hint {
	if f.limit.resets() {
		return verdict.Hint{At: f.limit.resetTime()}
	}
	if h, ok := verdict.ParseHint(text, now); ok {
		return h
	}
	if h, ok := verdict.ParseHint(ownStderr(o), now); ok {
		return h
	}
	if f.gaveUpAtOnce() {
		return verdict.Hint{At: now.Add(longestWait), Inferred: true}
	}
	return verdict.Hint{}
}

// longestWait is the longest retry-after that claude waits for. It gives up at once on a longer one, and does not print it.
const longestWait = time.Minute

// gaveUpAtOnce reports whether claude has been throttled and has not tried again, though it may: it was told to wait for
// longer than it does. With a subscription some versions never try again.
func (f *follower) gaveUpAtOnce() bool {
	return f.result != nil && f.result.Status == 429 && f.ownKey && f.retried == 0 && tellsRetries(f.Version) && f.maxRetries() != 0
}

// rejectsAddedOption reports whether claude does not know an option that we added.
func (f *follower) rejectsAddedOption(o verdict.Outcome) bool {
	text := o.Stderr.Text()
	return slices.ContainsFunc(f.plan.Added, func(added string) bool {
		return strings.HasPrefix(added, "--") && strings.Contains(text, "'"+added)
	})
}

// readMultiline reads a result that does not stand on one line. An answer may be JSON, too, and stays as it is.
func (f *follower) readMultiline(text []byte) {
	var line bytes.Buffer
	if json.Compact(&line, text) != nil {
		return
	}
	if e, ok := parse(line.Bytes()); ok {
		f.events = true
		f.event(e, agent.Line{Text: line.Bytes()})
	} else if text[0] == '[' {
		f.readArray(line.Bytes())
	}
}

// readArray reads the form of --output-format json --verbose.
func (f *follower) readArray(line []byte) {
	var all []json.RawMessage
	if json.Unmarshal(line, &all) != nil {
		f.keep(line)
		return
	}
	for _, one := range all {
		if e, ok := parse(one); ok {
			f.events = true
			f.event(e, agent.Line{Text: one})
		}
	}
}
