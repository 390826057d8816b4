package custom

import (
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
	f.Over = true
	if f.Session == "" && f.began {
		f.Session = f.ownID
	}
	f.readRecord()
	v := f.judge(o, now)
	if v.Class != verdict.OK && v.Evidence == "" {
		v.Evidence = cmp.Or(verdict.LastLines(o.Stderr.Text(), 3, 500), fmt.Sprintf("exit %d", o.ExitCode))
	}
	if v.Class == verdict.InvalidRequest && !f.began {
		f.Misread = slices.ContainsFunc(f.Added, func(added string) bool {
			return strings.HasPrefix(added, "-") && strings.Contains(o.Stderr.Text(), strings.TrimLeft(added, "-"))
		})
	}
	v.SessionID, v.Usage = f.Session, f.used().JSON()
	return v
}

func (f *follower) judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	if v, other := f.OtherSession(f.profile.def.Name, "session"); other {
		return v
	}
	if v, ok := verdict.EndedBySignal(o); ok {
		return v
	}
	if re := f.table.failed; re != nil && f.failure == nil && o.ExitCode != 0 {
		if all := re.FindAllSubmatch([]byte(o.Stderr.Text()), -1); len(all) > 0 {
			f.fail(told(Failed, re, all[len(all)-1]))
		}
	}
	if f.failure != nil {
		return f.classify(f.failure, o.ExitCode, now)
	}
	if v, ok := f.byRules(o, now); ok {
		return v
	}
	if f.hasSucceeded(o) {
		return f.success()
	}
	if v, ok := verdict.EndedByCode(o); ok {
		return v
	}
	if o.ExitCode == 0 {
		// That is how a CLI ends when it is told to end.
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "no-result", Evidence: "exit 0 without a result"}
	}
	return f.byStderr(o, now)
}

// hasSucceeded reports whether the run shows what a success has: its exit code and, where there are events of the end, such a one.
func (f *follower) hasSucceeded(o verdict.Outcome) bool {
	codes := f.profile.def.Success.Exit
	if !slices.Contains(codes, o.ExitCode) && (len(codes) > 0 || o.ExitCode != 0) {
		return false
	}
	tellsEnd := slices.ContainsFunc(f.table.events, func(e event) bool { return e.Kind == Result })
	if !f.began { // text, or nothing at all
		return f.Plain || f.Guess && f.Said || !tellsEnd
	}
	return f.result || !tellsEnd
}

// success judges a run that has ended well: one without an answer and without any tool has done nothing.
func (f *follower) success() verdict.Verdict {
	needsAnswer := f.began
	if own := f.profile.def.Success.Answer; own != nil {
		needsAnswer = *own
	}
	answered := strings.TrimSpace(f.Final.String()) != "" || !f.began && f.Said
	if needsAnswer && !answered && !f.Worked {
		return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "empty-answer", Evidence: "exit 0 without an answer, and no tool has done anything"}
	}
	rule := "exit-code"
	if f.result {
		rule = "result"
	}
	return verdict.Verdict{Class: verdict.OK, Rule: rule}
}

// classify says what an error in the CLI's own words means. The class is unknown if it means nothing to us.
func (f *follower) classify(e *failure, exit int, now time.Time) verdict.Verdict {
	f.status = e.status
	o := verdict.Outcome{ExitCode: cmp.Or(max(exit, 0), 1), Stderr: verdict.ExcerptOf(e.message)}
	v := verdict.Verdict{Class: verdict.Unknown, Rule: "error"}
	if e.class != "" {
		v = verdict.Verdict{Class: e.class, Retryable: e.class.Retryable(), Rule: "event"}
	} else if w, ok := f.asked(o, e.status, now, func(r *row) bool { return r.Stream == "" }); ok {
		v = w
	} else if w, ok := agent.OfService(e.message, e.status, now); ok {
		v = w
	} else if w, ok := agent.OfService(e.earlier, e.status, now); ok && e.earlier != "" {
		v = w
	} else if class := verdict.OfStatus(e.status, e.message); class != verdict.Unknown {
		v.Class, v.Retryable, v.Rule = class, class.Retryable(), "status "+strconv.Itoa(e.status)
	} else if w, ok := common.Judge(o, now); ok {
		v = w
	} else if w, ok := verdict.LastResort(o, now); ok {
		v = w
	}
	if v.Retryable || v.Class.Throttle() {
		if v.Hint.IsZero() {
			v.Hint, _ = verdict.ParseHint(e.message, now)
		}
		if !e.hint.IsZero() {
			v.Hint = e.hint
		}
	} else {
		v.Hint = verdict.Hint{}
	}
	v.Evidence = evidence(e)
	return v
}

// evidence is what can be shown of an error.
func evidence(e *failure) string {
	text := verdict.LastLines(e.message, 3, 500)
	if status := strconv.Itoa(e.status); e.status != 0 && !strings.Contains(text, status) {
		text = strings.TrimSpace(text + " (HTTP " + status + ")")
	}
	return text
}

// byRules asks the rules about stderr and, where stdout is text, about that. Those for any exit code are asked about successes too.
func (f *follower) byRules(o verdict.Outcome, now time.Time) (verdict.Verdict, bool) {
	if !f.Plain && f.began {
		o.Stdout = verdict.Excerpt{} // it has what the model says
	}
	status := f.table.statusIn(o.Stderr.Text())
	return f.asked(o, status, now, func(r *row) bool { return !r.Events })
}

// asked asks those of the rules. A rule that names no stream is not asked about stdout.
func (f *follower) asked(o verdict.Outcome, status int, now time.Time, which func(*row) bool) (verdict.Verdict, bool) {
	quiet := o
	quiet.Stdout = verdict.Excerpt{}
	for i := range f.table.rules {
		r := &f.table.rules[i]
		if !which(r) || len(r.Status) > 0 && !slices.Contains(r.Status, status) {
			continue
		}
		about := quiet
		if r.Stream == "stdout" {
			about = o
		}
		if v, ok := r.only.Judge(about, now); ok {
			return v, true
		}
	}
	return verdict.Verdict{}, false
}

// byStderr judges a failure of which no event tells.
func (f *follower) byStderr(o verdict.Outcome, now time.Time) verdict.Verdict {
	words := o.Stderr.Text()
	if !f.Active && !f.Said {
		if v, ok := agent.OfService(words, f.table.statusIn(words), now); ok {
			return v
		}
	}
	if status := f.table.statusIn(words); status != 0 {
		f.status = status
		if class := verdict.OfStatus(status, words); class != verdict.Unknown {
			v := verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "status " + strconv.Itoa(status), Evidence: f.table.statusLine(words)}
			if v.Retryable || class.Throttle() {
				v.Hint, _ = verdict.ParseHint(words, now)
			}
			return v
		}
	}
	if !f.Active && !f.Said {
		o.Stdout = verdict.Excerpt{}
		if v, ok := verdict.LastResort(o, now); ok {
			return v
		}
	}
	return verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code"}
}

// messageIn is what an error says, without what the CLI puts around it. Where that was JSON, what it has escaped is plain again.
func (t *table) messageIn(text string) string {
	if t.message == nil {
		return text
	}
	found := t.message.FindStringSubmatch(text)
	if found == nil || found[1] == "" {
		return text
	}
	var plain string
	if strings.Contains(found[1], `\`) && json.Unmarshal([]byte(`"`+found[1]+`"`), &plain) == nil {
		return plain
	}
	return found[1]
}

// statusLine is the line in which a text names its status last.
func (t *table) statusLine(text string) string {
	all := t.status.FindAllStringIndex(text, -1)
	at := all[len(all)-1][0]
	line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:at], '\n')+1:], "\n")
	return agent.Evidence(line)
}

// ofPage is the HTTP status that a page of a proxy or gateway has in its title; 0 for any other text.
func ofPage(text string) int {
	_, title, _ := strings.Cut(text, "<title>")
	status, err := strconv.Atoi(title[:min(len(title), 3)])
	if err != nil || status < 400 || status > 599 {
		return 0
	}
	return status
}

// statusIn is the HTTP status that a text names last; 0 if it names none.
func (t *table) statusIn(text string) int {
	if t.status == nil {
		return 0
	}
	all := t.status.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0
	}
	status, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil || status < 100 || status > 599 {
		return 0
	}
	return status
}
