package custom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// keeper is a CLI that prints only its answer and the session, and writes the rest into a record.
func keeper(t *testing.T) *Definition {
	d := toy()
	d.HomeDir, d.Record = ".toy", "sessions/*/{session}.jsonl"
	d.Events = []Event{
		{When: map[string]any{"type": "say"}, Kind: Text, Paths: map[Field]string{FieldText: "text", FieldSession: "id"}},
		{When: map[string]any{"type": "fail"}, Kind: Failed, Class: verdict.Blocked, Paths: map[Field]string{FieldSession: "id"}},
		{When: map[string]any{"stop": []any{}}, Kind: Error, Class: verdict.Network, Recorded: true},
		{When: map[string]any{"stop": "length"}, Kind: Error, Class: verdict.LimitReached, Recorded: true, Paths: map[Field]string{FieldError: "stop", FieldInput: "in"}},
		{When: map[string]any{"stop": "/./"}, Kind: Result, Recorded: true, Paths: map[Field]string{FieldInput: "in", FieldOutput: "out"}},
	}
	must.OK(t, d.Check())
	return d
}

// The last word of the record on how the model has stopped counts, of what the attempt itself has added to it.
func TestRecord(t *testing.T) {
	t.Parallel()
	const (
		say    = `{"type":"say","text":"hello","id":"` + session + `"}` + "\n"
		fail   = `{"type":"fail","id":"` + session + `"}` + "\n"
		whole  = `{"stop":"end","in":3,"out":2}` + "\n"
		length = `{"stop":"length","in":3,"out":1}` + "\n"
		cut    = `{"stop":null}` + "\n"
	)
	for name, c := range map[string]struct {
		args, before, added, stdout string
		class                       verdict.Class
		input                       int64
	}{
		"whole":             {added: whole, stdout: say, class: verdict.OK, input: 3},
		"at its length":     {added: whole + length, stdout: say, class: verdict.LimitReached, input: 6},
		"cut":               {added: cut, stdout: say, class: verdict.Network},
		"goes on":           {added: cut + length + whole, stdout: say, class: verdict.OK, input: 6},
		"no such field":     {added: `{"other":null}` + "\n", stdout: say, class: verdict.OK},
		"no record":         {stdout: say, class: verdict.OK},
		"torn":              {added: whole + `{"stop":"len`, stdout: say, class: verdict.OK, input: 3},
		"what was printed":  {added: cut, stdout: fail, class: verdict.Blocked},
		"resumed":           {args: "-r " + session, before: length, added: whole, stdout: say, class: verdict.OK, input: 3},
		"resumed, the last": {args: "-o events -r last", before: length, added: whole, stdout: say, class: verdict.OK},
		"a giant line":      {added: cut + strings.Repeat("x", maxRecord+1) + "\n" + whole, stdout: say, class: verdict.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			args := append([]string{"toy", "-p", "hi"}, strings.Fields(c.args)...)
			p := newProfile(keeper(t), args, []string{"HOME=" + home}, "")
			path := filepath.Join(home, ".toy", "sessions", "here", session+".jsonl")
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if c.before != "" {
				must.OK(t, os.WriteFile(path, []byte(c.before), 0o600))
			}
			f := p.Follow(agent.Plan{Args: args}).Reader.(*follower)
			if c.added != "" {
				must.OK(t, os.WriteFile(path, []byte(c.before+c.added), 0o600))
			}
			v := agent.Replay(f, verdict.Outcome{Stdout: verdict.ExcerptOf(c.stdout)}, time.Now())
			if v.Class != c.class || f.Account().Usage.InputTokens != c.input {
				t.Errorf("%+v, %+v", v, f.Account().Usage)
			}
		})
	}
}

// A record stands below the home, and names the session.
func TestRecord_Hostile(t *testing.T) {
	for _, pattern := range []string{"../x/{session}", "/etc/{session}", "*/x.jsonl", "[/{session}"} {
		d := toy()
		d.Record = pattern
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), "record: ") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// A line on stderr that says why the run has failed is as good as an event.
func TestFailed_OnStderr(t *testing.T) {
	d := toy()
	d.Failed = `^error: (?<error>.*)`
	for stderr, want := range map[string]verdict.Class{
		"error: HTTP 429 slow down\nsee the log": verdict.RateLimit, "error: Our servers are currently overloaded.": verdict.Overloaded,
		"error: You exceeded your current quota, please check your plan and billing details.": verdict.Billing,
		"note: HTTP 429": verdict.RateLimit, "error: one\nerror: Provider finish_reason: content_filter": verdict.Refused, "the word error: 429": verdict.Unknown,
	} {
		o := verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(`{"type":"say","parts":[{"text":"hello"}]}`), Stderr: verdict.ExcerptOf(stderr)}
		if v := bind(d, "-p", "hi").Judge(o, time.Now()); v.Class != want {
			t.Errorf("%q: %s by %s", stderr, v.Class, v.Rule)
		}
		o.ExitCode = 0
		o.Stdout = verdict.ExcerptOf(`{"type":"say","parts":[{"text":"hello"}]}` + "\n" + `{"type":"end","ok":true,"n":1}`)
		if v := bind(d, "-p", "hi").Judge(o, time.Now()); v.Class != verdict.OK {
			t.Errorf("%q, and a result: %s by %s", stderr, v.Class, v.Rule)
		}
	}
}

// What was said of a status before tells more than the CLI's own words for it; what was said of another one does not.
func TestFollow_EarlierWords(t *testing.T) {
	for code, want := range map[string]verdict.Class{"429": verdict.Billing, "500": verdict.RateLimit} {
		stdout := `{"type":"oops","why":"Your credit balance is too low","code":` + code + `}` + "\n" + `{"type":"oops","why":"I could not do it","code":429}` + "\n" + `{"type":"end","ok":false}`
		v := bind(toy(), "-p", "hi").Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(stdout)}, time.Now())
		if v.Class != want {
			t.Errorf("%s: %s by %s", code, v.Class, v.Rule)
		}
	}
}

// Words that CLIs share, of what they are made with.
func TestCommon(t *testing.T) {
	for text, rule := range map[string]string{
		"Provider finish_reason: content_filter":              "stop-filter",
		"Provider stopped with: sensitive":                    "stop-filter",
		"Response incomplete: content_filter":                 "stop-filter",
		"Provider stop details: finishReason=truncated":       "stop-length",
		"Provider finish_reason: network_error":               "stop-server",
		"Provider disconnected unexpectedly":                  "stop-server",
		"unable to verify the first certificate":              "certificate",
		"OpenAI Responses stream ended without a stop reason": "cut",
		"terminated": "cut",
		"Unterminated string in JSON at position 23":                 "unread",
		"Provider finish_reason: eos":                                "unread",
		"Model returned empty response":                              "empty",
		"the model terminated the sentence; the JSON is fine":        "",
		"the file was empty":                                         "",
		"finish the reason: length":                                  "",
		"bash: line 1: error in the certificate of the test":         "",
		"the answer was given with the message that it was not read": "",
	} {
		v, _ := common.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(text)}, time.Now())
		if v.Rule != rule {
			t.Errorf("%q: %q", text, v.Rule)
		}
	}
}
