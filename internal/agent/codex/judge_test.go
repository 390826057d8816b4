package codex

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

const header = "OpenAI Codex v0.166.0\n--------\nworkdir: /w\nmodel: m\nsession id: " + thread + "\n--------\nuser\nhi\n"

// What the cases do not have.
func TestJudge(t *testing.T) {
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\n" }
	signal := func(name, stdout string) verdict.Outcome {
		return verdict.Outcome{ExitCode: -1, Signal: name, Stdout: verdict.ExcerptOf(stdout)}
	}
	tests := map[string]struct {
		outcome verdict.Outcome
		class   verdict.Class
		rule    string
	}{
		"interrupted, without a word":          {outcome(1, lines(started, turn, toolBegan), ""), verdict.Interrupted, "no-word"},
		"interrupted, with codex's own noise":  {outcome(1, lines(started, turn, toolBegan), "2026-11-15T05:42:16Z ERROR codex_core::session: failed to record rollout items: thread "+thread+" not found\n"), verdict.Interrupted, "no-word"},
		"interrupted, after a tool's error":    {outcome(1, lines(started, turn, toolBegan), "2026-11-15T05:42:16Z ERROR codex_core::tools::router: error=Exit code: 1\nWall time: 0\nOutput:\nError: 429 Too Many Requests\nmore of it\n"), verdict.Interrupted, "no-word"},
		"interrupted, plain":                   {outcome(1, "", header+"ERROR: 429 Too Many Requests\nturn interrupted\n"), verdict.Interrupted, "interrupted"},
		"interrupted in a tool, plain":         {outcome(1, "", header+"exec\nls\nturn interrupted\n2026-11-15T06:08:20.004759Z ERROR codex_core::session: failed to record rollout items: thread "+thread+" not found\ntokens used\n1,650\n"), verdict.Interrupted, "interrupted"},
		"failed after it has used something":   {outcome(1, "", header+"codex\nhm\nERROR: Quota exceeded. Check your plan.\nERROR: Quota exceeded. Check your plan.\ntokens used\n650\n"), verdict.Billing, "quota"},
		"interrupted, as a shell says":         {outcome(130, lines(started), ""), verdict.Interrupted, "exit-code"},
		"killed":                               {signal("SIGKILL", lines(started)), verdict.Crash, "signal"},
		"hung up":                              {signal("SIGHUP", lines(started)), verdict.Interrupted, "signal"},
		"a tool's failure, then success":       {outcome(0, lines(started, toolBegan, toolEnded, hello, completed), "2026-11-15T05:42:16Z ERROR codex_core::tools::router: error=Exit code: 1\nOutput:\nError: 429 Too Many Requests\n"), verdict.OK, "turn-completed"},
		"an error, then success":               {outcome(0, lines(started, refused, hello, completed), ""), verdict.OK, "turn-completed"},
		"failed, but exit 0":                   {outcome(0, lines(started, refused, failed), ""), verdict.Auth, "status-401"},
		"completed, but exit 1":                {outcome(1, lines(started, hello, completed), ""), verdict.Unknown, "exit-code"},
		"exit 0 without a result":              {outcome(0, lines(started, turn), ""), verdict.BadOutput, "no-result"},
		"exit 0 and nothing":                   {outcome(0, "", ""), verdict.BadOutput, "no-result"},
		"only an error event":                  {outcome(1, lines(started, refused), ""), verdict.Auth, "status-401"},
		"keys in another order":                {outcome(1, lines(started, `{"error":{"x":1,"message":"Quota exceeded. Check your plan."},"seq":3,"type":"turn.failed"}`), ""), verdict.Billing, "quota"},
		"a field that is something else":       {outcome(1, lines(started, `{"type":"turn.failed","usage":[],"item":7,"error":{"message":"Quota exceeded."}}`), ""), verdict.Billing, "quota"},
		"the answer quotes, then it fails":     {outcome(1, lines(started, `{"type":"item.completed","item":{"type":"agent_message","text":"exceeded retry limit, last status: 429"}}`, failed), ""), verdict.Auth, "status-401"},
		"a message nobody knows":               {outcome(1, lines(started, `{"type":"turn.failed","error":{"message":"What?"}}`), ""), verdict.Unknown, "message"},
		"too large, after the thread began":    {outcome(1, lines(started), `Error: turn/start: turn/start failed: Input exceeds the maximum length of 1048576 characters. (code -32602)`), verdict.TooLarge, "input-length"},
		"plain: a tool printed an error":       {outcome(1, "", header+"exec\nls\n failed:\nERROR: 429 Too Many Requests\n\ncodex\nhm\nERROR: Quota exceeded. Check your plan.\nERROR: Quota exceeded. Check your plan.\n"), verdict.Billing, "quota"},
		"plain: a tool printed it last":        {outcome(1, "", header+"exec\nls\n failed:\nERROR: 429 Too Many Requests\nand more\n"), verdict.Unknown, "exit-code"},
		"plain: a tool printed it last, alone": {outcome(1, "", header+"exec\nls\n failed:\nERROR: 429 Too Many Requests\n"), verdict.Unknown, "exit-code"},
		"plain: a review that failed":          {outcome(1, "", header+"ERROR: Quota exceeded.\ncodex\nReview was interrupted. Please re-run /review and wait for it to complete.\nERROR: Quota exceeded.\n"), verdict.Billing, "quota"},
		"plain: a body of several lines":       {outcome(1, "", header+"ERROR: {\n  \"error\": {\"code\": \"context_length_exceeded\"}\n}\nERROR: {\n  \"error\": {\"code\": \"context_length_exceeded\"}\n}\n"), verdict.TooLarge, "context"},
		"plain: in colour":                     {outcome(1, "", header+"\x1b[1m\x1b[31mERROR:\x1b[0m Quota exceeded.\n\x1b[1m\x1b[31mERROR:\x1b[0m Quota exceeded.\n"), verdict.Billing, "quota"},
		"plain: the answer ends in an error":   {outcome(0, "ERROR: 429\n", header+"codex\nERROR: 429\n"), verdict.OK, "exit-0"},
		"plain: the answer is an event":        {outcome(0, lines(started, failed), header+"codex\n"+lines(started, failed)), verdict.OK, "exit-0"},
		"never started, a cause below":         {outcome(1, "", "Error: something odd\n\nCaused by:\n    connection refused\n"), verdict.Network, "network"},
		"never started, not understood":        {outcome(1, "", "Error: something odd\n"), verdict.Unknown, "exit-code"},
		"never started, without a word":        {outcome(1, "", ""), verdict.Unknown, "exit-code"},
		"never started, throttled":             {outcome(1, "", "rate limited\n"), verdict.RateLimit, "rate-limit"},
		"never started, throttled, in words":   {outcome(1, "", "Error: HTTP 429\n"), verdict.RateLimit, "status-429"},
		"never started, no connection":         {outcome(1, "", "ECONNRESET\n"), verdict.Network, "errno"},
		"never started, no key":                {outcome(1, "", "Error: 401 Unauthorized\n"), verdict.Auth, "auth"},
		"never started, but it has printed":    {outcome(1, "The log says HTTP 429.\n", "HTTP 429\n"), verdict.Unknown, "exit-code"},
		"began, and complained":                {outcome(1, lines(started, turn), "Error: HTTP 429\n"), verdict.RateLimit, "status-429"},
		"began, worked, and complained":        {outcome(1, lines(started, turn, toolBegan, toolEnded), "Error: HTTP 429\n"), verdict.Interrupted, "no-word"},
		"began, worked, and a tool complained": {outcome(1, lines(started, turn, toolBegan, toolEnded), "Error: 429 Too Many Requests\n"), verdict.Interrupted, "no-word"},
		"began, and something was printed":     {outcome(1, lines(started, turn), "HTTP 429\n"), verdict.Interrupted, "no-word"},
		"plain: began, and it was printed":     {outcome(1, "", header+"HTTP 429\nECONNRESET\n"), verdict.Unknown, "exit-code"},
		"plain: complained in its own words":   {outcome(1, "", header+"exec\nls\n failed:\nError: HTTP 429\n"), verdict.Unknown, "exit-code"},

		"no message":                             {outcome(0, lines(started, turn, completed), ""), verdict.BadOutput, "empty-answer"},
		"no message, but it has thought":         {outcome(0, lines(started, turn, thought, completed), ""), verdict.BadOutput, "empty-answer"},
		"no message, but a warning":              {outcome(0, lines(started, turn, warning, completed), ""), verdict.BadOutput, "empty-answer"},
		"an empty message":                       {outcome(0, lines(started, turn, blank, completed), ""), verdict.BadOutput, "empty-answer"},
		"an empty message after one that is not": {outcome(0, lines(started, turn, hello, blank, completed), ""), verdict.OK, "turn-completed"},
		"an empty message after a tool":          {outcome(0, lines(started, turn, toolBegan, toolEnded, blank, completed), ""), verdict.OK, "turn-completed"},
		"no message after a tool":                {outcome(0, lines(started, turn, toolBegan, toolEnded, completed), ""), verdict.OK, "turn-completed"},
		"no message after something unheard of":  {outcome(0, lines(started, turn, `{"type":"item.completed","item":{"id":"i","type":"image_made"}}`, completed), ""), verdict.OK, "turn-completed"},
		"plain: no message":                      {outcome(0, "", header+"tokens used\n15\n"), verdict.BadOutput, "empty-answer"},
		"plain: no message, but it has thought":  {outcome(0, "", header+"warning: no bubblewrap\nthinking about it\ntokens used\n15\n"), verdict.BadOutput, "empty-answer"},
		"plain: an empty message":                {outcome(0, "\n", header+"codex\n\ntokens used\n15\n"), verdict.BadOutput, "empty-answer"},
		"plain: a message that was seen":         {outcome(0, "", header+"codex\n\nhello\ntokens used\n15\n"), verdict.OK, "exit-0"},
		"plain: no message after a tool":         {outcome(0, "", header+"exec\nls\n succeeded in 0ms:\nmade\n\ntokens used\n30\n"), verdict.OK, "exit-0"},
		"plain: no message after an MCP tool":    {outcome(0, "", header+"mcp: lab/ping started\nmcp: lab/ping (completed)\ntokens used\n30\n"), verdict.OK, "exit-0"},
		"plain: no message after a patch":        {outcome(0, "\n", header+"apply patch\npatch: completed\ncodex\n\ntokens used\n30\n"), verdict.OK, "exit-0"},
		"not even codex":                         {outcome(127, "", "sh: codex: not found\n"), verdict.ToolMissing, "exit-code"},
		"killed, as a shell says":                {outcome(137, lines(started, turn), ""), verdict.Crash, "exit-code"},
		"no stack left":                          {outcome(134, lines(started), "thread 'main' has overflowed its stack\nfatal runtime error: stack overflow\n"), verdict.Crash, "exit-code"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := New(nil, nil, "").Judge(tt.outcome, noon)
			if v.Class != tt.class || v.Rule != tt.rule || v.Retryable != tt.class.Retryable() {
				t.Errorf("%s, retryable %v, by %s: %s", v.Class, v.Retryable, v.Rule, v.Evidence)
			}
			if v.Class != verdict.OK && v.Evidence == "" {
				t.Error("no evidence")
			}
		})
	}
}

// Codex may begin a new thread where an old one was asked for, with exit 0.
func TestJudge_AnotherThread(t *testing.T) {
	other := "01a1dda8-7fa8-7971-b798-4da275c413bc"
	for name, profile := range map[string]*Profile{
		"the caller's": New(words("codex exec resume "+other+" hi"), nil, ""),
		"ours":         New(words("codex exec hi"), nil, ""),
	} {
		plan, err := profile.Plan(agent.Turn{Session: other})
		must.OK(t, err)
		f := profile.Follow(plan)
		for _, l := range []string{started, hello, completed} {
			f.Line(agent.Line{Text: []byte(l)})
		}
		v := f.Judge(verdict.Outcome{}, noon)
		if v.Class != verdict.SessionNotFound || v.Retryable || v.SessionID != thread {
			t.Errorf("%s: %+v", name, v)
		}
	}
	v := New(words("codex exec resume "+strings.ToUpper(thread)+" hi"), nil, "").Judge(outcome(0, started+"\n"+hello+"\n"+completed, ""), noon)
	if v.Class != verdict.OK {
		t.Errorf("the same in capitals: %+v", v)
	}
}

// With a name that there is not, or without any session, codex begins a new thread, as its id shows.
func TestJudge_NewThread(t *testing.T) {
	for _, line := range []string{"codex exec resume a-name hi", "codex exec resume --last hi", "codex exec --json resume --last --all"} {
		p := New(words(line), nil, "")
		plan, err := p.Plan(agent.Turn{})
		must.OK(t, err)
		for name, c := range map[string]struct {
			began time.Duration // after the start of the attempt
			class verdict.Class
		}{
			"new":         {time.Millisecond, verdict.SessionNotFound},
			"a bit later": {3 * time.Second, verdict.SessionNotFound},
			"old":         {-time.Minute, verdict.OK},
		} {
			f := p.Follow(plan)
			id := fmt.Sprintf("%012x", time.Now().Add(c.began).UnixMilli())
			id = id[:8] + "-" + id[8:] + "-7d13-a08d-8903e50ba43b"
			for _, l := range []string{strings.Replace(started, thread, id, 1), hello, completed} {
				f.Line(agent.Line{Text: []byte(l)})
			}
			if v := f.Judge(verdict.Outcome{}, noon); v.Class != c.class || v.SessionID != id {
				t.Errorf("%s, %s: %+v", line, name, v)
			}
		}
	}
	// A saved outcome does not say when it began.
	v := New(words("codex exec resume --last"), nil, "").Judge(outcome(0, started+"\n"+hello+"\n"+completed+"\n", ""), noon)
	if v.Class != verdict.OK {
		t.Errorf("%+v", v)
	}
}

// An option that is not known may hide that events are asked for.
func TestJudge_UnknownFlag(t *testing.T) {
	p := New(words("codex exec --new --json hi"), nil, "")
	plan, err := p.Plan(agent.Turn{})
	if err != nil || !plan.Plain {
		t.Fatalf("%+v, %v", plan, err)
	}
	f := p.Follow(plan)
	for _, l := range []string{started, refused, failed} {
		f.Line(agent.Line{Text: []byte(l)})
	}
	if v := f.Judge(outcome(1, "", ""), noon); v.Class != verdict.Auth {
		t.Errorf("%+v", v)
	}
}
