package gemini

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Judge implements [agent.Reader].
func (f *follower) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	f.Over = true
	stderr := ownStderr(o)
	f.readDocument()
	failed, hasFailed := lastDocument(stderr)
	if f.Session == "" && f.document != nil {
		f.Session = f.document.Session
	}
	if f.Session == "" && hasFailed {
		f.Session = failed.Session
	}
	v := f.judge(o, stderr, now)
	if v.Class != verdict.OK && v.Evidence == "" {
		v.Evidence = cmp.Or(lastWords(stderr), fmt.Sprintf("exit %d", o.ExitCode))
	}
	if v.Class == verdict.InvalidRequest {
		f.Misread = f.rejectsAddedOption(stderr)
	}
	v.SessionID = f.Session
	if models := f.models(); models != nil {
		v.Usage = reported(models)
	}
	f.class = v.Class
	return v
}

// readDocument reads what -o json has printed.
func (f *follower) readDocument() {
	if f.events {
		return
	}
	text := f.text.String()
	if at := strings.Index("\n"+text, "\n{\n"); at >= 0 {
		if d, ok := parseDocument(text[at:]); ok && (d.Session != "" || d.Stats != nil) {
			f.document = &d
		}
	}
}

func (f *follower) judge(o verdict.Outcome, stderr string, now time.Time) verdict.Verdict {
	if v, other := f.OtherSession(Name, "session"); other {
		return v
	}
	if v, ok := verdict.EndedBySignal(o); ok {
		return v
	}
	switch {
	case o.ExitCode == 0 && f.brokeOff():
		f.countUnseen(verdict.Network)
		return verdict.Verdict{Class: verdict.Network, Retryable: true, Rule: "broke-off", Evidence: "no stream of the answer has come to its end"}
	case f.result != nil && f.result.Status == "success" && o.ExitCode == 0:
		return f.success(f.said, f.result.Stats != nil && len(f.result.Stats.Models) > 0, f.warnings, stderr)
	case f.result != nil && f.result.Status != "success":
		return f.byFailure(f.resultFailure(), o, stderr, now)
	case f.document != nil && f.document.Error != nil:
		return f.byFailure(f.document.Error, o, stderr, now)
	case f.document != nil && o.ExitCode == 0:
		d := f.document
		return f.success(f.Answer(), d.Stats != nil && len(d.Stats.Models) > 0, d.Warnings, stderr)
	}
	if v, ok := verdict.EndedByCode(o); ok {
		return v
	}
	if o.ExitCode == 0 {
		return f.withoutResult(o, stderr, now)
	}
	if d, ok := lastDocument(stderr); ok {
		return f.byFailure(d.Error, o, stderr, now)
	}
	return f.byStderr(o, stderr, now)
}

// brokeOff reports whether gemini takes pieces for its answer although no stream of it has come to its end, as versions up to 0.40 do. Its record
// says so; else what it says of all its requests together, which leaves that open once a tool was called.
func (f *follower) brokeOff() bool {
	switch {
	case f.result != nil && f.result.Status != "success", f.result == nil && (f.document == nil || f.document.Error != nil):
		return false
	case f.readRecord():
		return f.record.cut >= brokenStreams
	}
	return f.document != nil && f.document.Stats != nil && f.document.Stats.brokeOff()
}

// success judges a run that says of itself that it has succeeded. asked says that a model was asked.
func (f *follower) success(answer agent.Answer, asked bool, warnings []string, stderr string) verdict.Verdict {
	nothing := strings.TrimSpace(answer.String()) == ""
	for _, w := range warnings {
		switch {
		case isStop(w) && (nothing || !asked):
			return verdict.Verdict{Class: verdict.Blocked, Rule: "hook", Evidence: agent.Evidence(w)}
		case strings.HasPrefix(w, "Loop detected"), strings.HasPrefix(w, "Maximum session turns"):
			return verdict.Verdict{Class: verdict.LimitReached, Rule: "warning", Evidence: agent.Evidence(w)}
		}
	}
	switch {
	case !nothing, f.usedTools():
		return verdict.Verdict{Class: verdict.OK, Rule: "result"}
	case strings.Contains(stderr, inputCutOff):
		return verdict.Verdict{Class: verdict.TooLarge, Rule: "stdin", Evidence: "stdin was longer than gemini reads, and it has asked nothing"}
	case !asked:
		return verdict.Verdict{Class: verdict.Blocked, Rule: "nothing-done", Evidence: "exit 0, and no model was asked"}
	}
	return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "empty-answer", Evidence: "exit 0 without an answer, and no tool has done anything"}
}

// inputCutOff is what gemini says of a stdin that is too long.
const inputCutOff = "stdin input truncated to "

// isStop reports whether a warning says that a hook has kept the agent from its work.
func isStop(warning string) bool {
	return strings.HasPrefix(warning, "Agent execution blocked: ") || strings.HasPrefix(warning, "Agent execution stopped: ")
}

// usedTools reports whether a tool has run.
func (f *follower) usedTools() bool {
	return f.Worked || f.document != nil && f.document.Stats != nil && f.document.Stats.Tools.Calls > 0
}

// resultFailure is why a stream ended without an answer. An answer that could not be used is told of in an event of its own.
func (f *follower) resultFailure() *failure {
	if f.result.Error != nil && f.result.Error.Message != "" {
		return f.result.Error
	}
	return &failure{Type: invalidStream, Message: f.complaint}
}

// invalidStream is the type of an error that is an answer which cannot be used.
const invalidStream = "INVALID_STREAM"

// midStreamRetries is how often gemini asks again, without a word, for an answer that can be used.
const midStreamRetries = 3

// byFailure judges by an error in gemini's own form, and what stderr adds to it.
func (f *follower) byFailure(e *failure, o verdict.Outcome, stderr string, now time.Time) verdict.Verdict {
	c := complaintOf(e)
	if r, ok := lastReport(stderr); ok && e.Type != invalidStream {
		c = c.with(r)
	}
	c.status = cmp.Or(c.status, statusOfExit(o.ExitCode))
	v := c.classify(now)
	if v.Class == verdict.Unknown {
		if class, ok := byExit[o.ExitCode]; ok {
			v.Class, v.Rule = class, "exit-code"
		} else if w, ok := f.lastResort(o, c.message, now); ok {
			v = w
		}
	}
	if e.Type == invalidStream && repeatsStreams(c.message) {
		f.countUnseen(v.Class)
	}
	return v
}

// countUnseen counts the retries that gemini has made without a word. Those for an answer that can be used do not keep us from
// asking once more.
func (f *follower) countUnseen(class verdict.Class) {
	if class != verdict.BadOutput {
		f.unseen = midStreamRetries
	}
}

// repeatsStreams reports whether the message is one of a version that asks again for an answer that can be used.
func repeatsStreams(message string) bool { return !strings.HasPrefix(message, "Invalid stream:") }

// withoutResult judges an exit code of 0 without a result.
func (f *follower) withoutResult(o verdict.Outcome, stderr string, now time.Time) verdict.Verdict {
	// Where text is asked for, gemini says on stderr alone what was wrong.
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "[ERROR] "); ok {
			c := complaint{message: rest}
			if v := c.classify(now); v.Class != verdict.Unknown {
				f.countUnseen(v.Class)
				return v
			}
		}
		if rest := strings.TrimPrefix(line, "[WARNING] "); isStop(rest) && f.isBlank() {
			return verdict.Verdict{Class: verdict.Blocked, Rule: "hook", Evidence: agent.Evidence(rest)}
		}
	}
	switch {
	case f.isBlank() && strings.Contains(stderr, inputCutOff):
		return verdict.Verdict{Class: verdict.TooLarge, Rule: "stdin", Evidence: "stdin was longer than gemini reads, and it has asked nothing"}
	case f.events, f.isBlank() && (f.saved || f.profile.form() == agent.JSON), f.isCutOff(), f.saved && !strings.HasSuffix(o.Stdout.Text(), "\n"): // as every text does
		// That is how it ends when it is told to end.
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "no-result", Evidence: "exit 0 without a result"}
	}
	if v, ok := agent.WrongForm(f.profile.form(), f.profile.env, f.text.String()); ok {
		return v
	}
	// Text. If there is none, its tools may have done the work.
	return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
}

// isBlank reports whether nothing was printed.
func (f *follower) isBlank() bool { return strings.TrimSpace(f.text.String()) == "" }

// isCutOff reports whether what was printed is a document that breaks off.
func (f *follower) isCutOff() bool {
	return f.document == nil && strings.HasPrefix(f.text.String(), "{\n  \"session_id\": \"")
}

// byStderr judges a failure by gemini's own words on stderr.
func (f *follower) byStderr(o verdict.Outcome, stderr string, now time.Time) verdict.Verdict {
	if c, ok := lastReport(stderr); ok {
		c.status = cmp.Or(c.status, statusOfExit(o.ExitCode))
		if v := c.classify(now); v.Class != verdict.Unknown {
			return v
		}
	}
	for _, line := range ownLines(stderr) {
		if v, ok := rules.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(line)}, now); ok {
			return v
		}
	}
	if class, ok := byExit[o.ExitCode]; ok {
		return verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "exit-code", Evidence: lastWords(stderr)}
	}
	if class, ok := classOfStatus(statusOfExit(o.ExitCode), ""); ok {
		return verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "exit-status", Evidence: lastWords(stderr)}
	}
	if v, ok := f.lastResort(o, strings.Join(ownLines(stderr), "\n"), now); ok {
		return v
	}
	return verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code"}
}

// lastResort judges by the plain signals in gemini's own words, if nothing of the model or a tool has been seen.
func (f *follower) lastResort(o verdict.Outcome, words string, now time.Time) (verdict.Verdict, bool) {
	if f.Active || f.Worked || !f.events && !f.isBlank() {
		return verdict.Verdict{}, false
	}
	return verdict.LastResort(verdict.Outcome{ExitCode: max(o.ExitCode, 1), Stderr: verdict.ExcerptOf(words)}, now)
}

// foreignLines are how lines on stderr begin that quote a tool, a hook or a server.
var foreignLines = []string{"Error executing tool ", "Hook(s) [", "[WARNING] Hook(s) [", "MCP ", "    at ", "Attempt "}

// ownLines are gemini's own words on stderr, the last first.
func ownLines(stderr string) (own []string) {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for i := len(lines) - 1; i >= 0 && len(own) < 200; i-- {
		line := strings.TrimPrefix(strings.TrimRight(lines[i], " \r"), "[ERROR] ")
		foreign := line == ""
		for _, begin := range foreignLines {
			foreign = foreign || strings.HasPrefix(line, begin)
		}
		if !foreign {
			own = append(own, line)
		}
	}
	return own
}

// lastWords is what can be shown of stderr.
func lastWords(stderr string) string {
	own := ownLines(stderr)
	if len(own) == 0 {
		return ""
	}
	return agent.Evidence(own[0])
}

// rejectsAddedOption reports whether gemini does not know an option that we added.
func (f *follower) rejectsAddedOption(stderr string) bool {
	for _, added := range f.plan.Added {
		if name := strings.TrimLeft(added, "-"); name != added && strings.Contains(stderr, "Unknown argument") &&
			(strings.Contains(stderr, ": "+name) || strings.Contains(stderr, ", "+name)) {
			return true
		}
	}
	return false
}
