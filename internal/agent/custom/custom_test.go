package custom

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// toy is a CLI of which everything is said.
func toy() *Definition {
	d := &Definition{
		Name: "toy", Commands: []string{"toy"},
		Options: agent.Table{{Names: []string{"-p", "--prompt"}, Takes: agent.One}, {Names: []string{"-o"}, Takes: agent.One}, {Names: []string{"-r", "--resume"}, Takes: agent.One},
			{Names: []string{"-i"}}, {Names: []string{"-v"}}},
		Headless: Headless{Options: []string{"--prompt"}, Words: true, Except: []string{"-i", "login"}},
		Prompt:   Prompt{Option: "-p", Words: true, Stdin: Joined, MaxStdin: 100 << 10, Commands: "/"},
		Output:   Output{Events: []string{"-o", "events"}},
		Session:  Session{Resume: []string{"--resume", "{session}"}, Options: []string{"-r"}},
		Status:   `HTTP (\d{3})`,
		Rules: []Rule{
			{Rule: verdict.Rule{Name: "money", Class: verdict.Billing, Match: "credit"}, Status: []int{429}},
			{Rule: verdict.Rule{Name: "said", Class: verdict.Auth, Match: "log in"}},
			{Rule: verdict.Rule{Name: "printed", Class: verdict.Refused, Match: "refused", Stream: "stdout"}},
			{Rule: verdict.Rule{Name: "told", Class: verdict.Blocked, Match: "blocked"}, Events: true},
			{Rule: verdict.Rule{Name: "lie", Class: verdict.Network, Match: "lost", AnyExit: true, Stream: "stderr"}},
		},
		Events: []Event{
			{When: map[string]any{"type": "begin"}, Kind: Start, Paths: map[Field]string{FieldSession: "id"}},
			{When: map[string]any{"type": "say"}, Kind: Text, Paths: map[Field]string{FieldText: "parts[].text", FieldInput: "use.in", FieldOutput: "use.out"}},
			{When: map[string]any{"type": "tool"}, Kind: Tool, Paths: map[Field]string{FieldTool: "calls[].name", FieldToolID: "calls[].id", FieldToolInput: "calls[].input"}},
			{When: map[string]any{"type": "done"}, Kind: ToolEnd, Paths: map[Field]string{FieldToolID: "id"}},
			{When: map[string]any{"type": "wait"}, Kind: Retry, Paths: map[Field]string{FieldError: "why", FieldStatus: "code", FieldWait: "seconds", FieldRetryAfter: "after"}},
			{When: map[string]any{"type": "oops"}, Kind: Error, Paths: map[Field]string{FieldError: "why", FieldStatus: "code", FieldRetryAfter: "after", FieldResetAt: "until"}},
			{When: map[string]any{"type": "end", "ok": true, "n": int64(1)}, Kind: Result, Paths: map[Field]string{FieldText: "text", FieldInput: "use.in", FieldOutput: "use.out", FieldCost: "use.usd"}},
			{When: map[string]any{"type": "/^(end|fail)$/"}, Kind: Failed, Paths: map[Field]string{FieldError: "why"}},
		},
		Stall: time.Minute,
	}
	d.Descriptor()
	return d
}

const session = "01234567-89ab-cdef-0123-456789abcdef"

func bind(d *Definition, args ...string) *Profile {
	return newProfile(d, append([]string{"toy"}, args...), []string{"HOME=/home/user"}, "")
}

func TestProfile_Headless(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"-p hi": true, "--prompt=hi": true, "hi": true, "": false, "-v": false, "-i hi": false, "-p hi -i": false, "login": false, "-p -i": true, "-p login": true,
		"--new -p hi": true, "--new": false, "-p hi -- -i": true,
	} {
		if got := bind(toy(), strings.Fields(line)...).Headless(); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	d := toy()
	d.Headless = Headless{Command: []string{"agent", "run"}}
	for line, want := range map[string]bool{"agent run x": true, "-v agent run": true, "agent": false, "run agent": false} {
		if got := bind(d, strings.Fields(line)...).Headless(); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	prompt, goOn, dash, slash := "more", "go on", "-x", "/help"
	long := strings.Repeat("long ", 4000)
	command := toy()
	command.Headless, command.Prompt = Headless{Command: []string{"run"}}, Prompt{Words: true}
	optional := toy()
	optional.Options[0].Takes = agent.Optional
	alone := toy()
	alone.Prompt.Stdin = Alone
	named := toy()
	named.Session.New = []string{"--resume={session}"}
	for _, c := range []struct {
		def   *Definition
		line  []string
		turn  agent.Turn
		want  []string
		stdin string
		plain bool
	}{
		{def: toy(), line: []string{"-p", "hi"}, want: []string{"-o", "events", "-p", "hi"}},
		{def: toy(), line: []string{"hi", "-o", "text"}, turn: agent.Turn{Stdin: []byte("in")}, want: []string{"-o", "events", "hi"}, stdin: "in"},
		{def: toy(), line: []string{"hi", "-o", "events"}, want: []string{"hi", "-o", "events"}},
		{def: toy(), line: []string{"hi", "-o", "xml"}, want: []string{"hi", "-o", "xml"}, plain: true},
		{def: toy(), line: []string{"hi", "--new"}, turn: agent.Turn{Prompt: &prompt}, want: []string{"hi", "--new"}, stdin: "more", plain: true},
		{def: toy(), line: []string{"-p", "hi"}, turn: agent.Turn{Plain: true}, want: []string{"-p", "hi"}, plain: true},
		{def: toy(), line: []string{"-p", "hi"}, turn: agent.Turn{Prompt: &prompt}, want: []string{"-o", "events", "-p", "hi"}, stdin: "more"},
		{def: toy(), line: []string{"-p", "/hi"}, turn: agent.Turn{Prompt: &slash}, want: []string{"-o", "events", "-p", "/hi"}, stdin: "\n/help"},
		{def: optional, line: []string{"-p"}, turn: agent.Turn{Prompt: &prompt}, want: []string{"-o", "events"}, stdin: "more"},
		{def: toy(), line: []string{"-p", long}, want: []string{"-o", "events"}, stdin: long},
		{def: toy(), line: []string{"-p", "hi", "-r", "x", "-v"}, turn: agent.Turn{Session: session, Continue: true, Prompt: &goOn, Stdin: []byte("in")},
			want: []string{"-o", "events", "--resume", session, "-v"}, stdin: "go on"},
		{def: alone, line: []string{"-p", "hi"}, turn: agent.Turn{Prompt: &prompt}, want: []string{"-o", "events"}, stdin: "more\n\nhi"},
		{def: command, line: []string{"-v", "run", "hi"}, want: []string{"-v", "run", "-o", "events", "hi"}},
		{def: command, line: []string{"-r", "x", "run", "hi"}, turn: agent.Turn{Session: session, Continue: true, Prompt: &dash},
			want: []string{"run", "-o", "events", "--resume", session, "--", "-x"}},
	} {
		plan, err := bind(c.def, c.line...).Plan(c.turn)
		if err != nil || !slices.Equal(plan.Args[1:], c.want) || string(plan.Stdin) != c.stdin || plan.Plain != c.plain {
			t.Errorf("%.40q: %.80q, %.40q, plain %v, %v", c.line, plan.Args, plan.Stdin, plan.Plain, err)
		}
	}
	p := bind(named, "-p", "hi")
	plan, err := p.Plan(agent.Turn{})
	if err != nil || len(plan.Added) != 3 || !agent.IsUUID(strings.TrimPrefix(plan.Added[2], "--resume=")) {
		t.Errorf("%q, %v", plan.Added, err)
	}
	for _, turn := range []agent.Turn{{Session: session, Continue: true, Prompt: &goOn}} {
		if _, err := bind(toy(), "hi", "--new").Plan(turn); err == nil {
			t.Error("a command line that is not understood is resumed")
		}
	}
	if _, err := bind(toy(), "hi").Plan(agent.Turn{Stdin: make([]byte, 200<<10)}); err == nil {
		t.Error("a prompt that is too long is taken")
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	const (
		begin = `{"type":"begin","id":"` + session + `"}` + "\n"
		say   = `{"type":"say","parts":[{"text":"hello "},{"text":"you"}],"use":{"in":3,"out":2}}` + "\n"
		tool  = `{"type":"tool","calls":[{"id":"a","name":"sh","input":{"command":"ls"}},{"id":"b","name":"rm"}]}` + "\n"
		end   = `{"type":"end","ok":true,"n":1,"use":{"in":9,"out":4,"usd":0.5}}` + "\n"
	)
	for name, c := range map[string]struct {
		stdout, stderr string
		exit           int
		class          verdict.Class
		after          time.Duration
		rule           string
	}{
		"answer":             {stdout: begin + say + end, class: verdict.OK, rule: "result"},
		"text":               {stdout: "hello\n", class: verdict.OK, rule: "exit-code"},
		"only a tool":        {stdout: begin + tool + end, class: verdict.OK, rule: "result"},
		"nothing":            {stdout: begin + end, class: verdict.BadOutput, rule: "empty-answer"},
		"no result":          {stdout: begin + say, class: verdict.Interrupted, rule: "no-result"},
		"an answer quotes":   {stdout: begin + strings.Replace(say, "hello", "HTTP 429 log in blocked refused", 1) + end, class: verdict.OK, rule: "result"},
		"a text quotes":      {stdout: "HTTP 429 log in\n", class: verdict.OK, rule: "exit-code"},
		"status":             {stdout: begin + `{"type":"oops","why":"slow down","code":429,"after":17}`, exit: 1, class: verdict.RateLimit, after: 17 * time.Second, rule: "status 429"},
		"status in words":    {stdout: begin + `{"type":"oops","why":"HTTP 503 sorry"}`, exit: 1, class: verdict.ServerError, rule: "status 503"},
		"rule with status":   {stdout: begin + `{"type":"oops","why":"no credit","code":429}`, exit: 1, class: verdict.Billing, rule: "money"},
		"rule without it":    {stdout: begin + `{"type":"oops","why":"no credit","code":400}`, exit: 1, class: verdict.InvalidRequest, rule: "status 400"},
		"rule for events":    {stdout: begin + `{"type":"oops","why":"blocked"}`, exit: 1, class: verdict.Blocked, rule: "told"},
		"not for stderr":     {stderr: "blocked", exit: 1, class: verdict.Unknown, rule: "exit-code"},
		"rule for stdout":    {stdout: "refused\n", exit: 1, class: verdict.Refused, rule: "printed"},
		"not in events":      {stdout: begin + strings.Replace(say, "hello", "refused", 1), exit: 1, class: verdict.Unknown, rule: "exit-code"},
		"rule on stderr":     {stdout: begin, stderr: "please log in", exit: 1, class: verdict.Auth, rule: "said"},
		"any exit":           {stdout: begin + say + end, stderr: "connection lost", class: verdict.Network, rule: "lie"},
		"status on stderr":   {stderr: "HTTP 502", exit: 1, class: verdict.ServerError, rule: "status 502"},
		"plain signals":      {stderr: "connect ECONNREFUSED 127.0.0.1:1", exit: 1, class: verdict.Network, rule: "errno"},
		"not after work":     {stdout: begin + say, stderr: "connect ECONNREFUSED", exit: 1, class: verdict.Unknown, rule: "exit-code"},
		"not found":          {exit: 127, class: verdict.ToolMissing, rule: "exit-code"},
		"told to end":        {stdout: begin, exit: 130, class: verdict.Interrupted, rule: "exit-code"},
		"recovered":          {stdout: begin + `{"type":"oops","why":"x","code":500}` + "\n" + say + end, class: verdict.OK, rule: "result"},
		"failed for good":    {stdout: begin + say + `{"type":"fail","why":"HTTP 401"}` + "\n" + end, class: verdict.Auth, rule: "status 401"},
		"why is known":       {stdout: begin + `{"type":"oops","why":"x","code":500}` + "\n" + `{"type":"end","ok":false}`, exit: 1, class: verdict.ServerError, rule: "status 500"},
		"a document":         {stdout: "[" + strings.TrimSpace(begin) + "," + strings.TrimSpace(say) + "," + strings.TrimSpace(end) + "]\n", class: verdict.OK, rule: "result"},
		"a failed document":  {stdout: "[" + strings.TrimSpace(begin) + `,{"type":"fail","why":"HTTP 401"}]` + "\n", class: verdict.Auth, rule: "status 401"},
		"a list as answer":   {stdout: `[{"type":"x"}, 3]`, class: verdict.OK, rule: "exit-code"},
		"an object, too":     {stdout: `{"type":"x"}`, class: verdict.OK, rule: "exit-code"},
		"after a banner":     {stdout: "welcome\n" + begin + `{"type":"oops","why":"x","code":500}`, exit: 1, class: verdict.ServerError, rule: "status 500"},
		"an unknown failure": {stdout: begin + `{"type":"fail","why":"hm"}`, exit: 3, class: verdict.Unknown, rule: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := verdict.Outcome{ExitCode: c.exit, Stdout: verdict.ExcerptOf(c.stdout), Stderr: verdict.ExcerptOf(c.stderr)}
			v := bind(toy(), "-p", "hi").Judge(o, time.Now())
			if v.Class != c.class || v.Rule != c.rule || v.Retryable != c.class.Retryable() || v.Hint.After != c.after {
				t.Errorf("%+v", v)
			}
			if strings.HasPrefix(c.stdout, begin) && v.SessionID != session {
				t.Errorf("session %q", v.SessionID)
			}
		})
	}
	f := bind(toy(), "-p", "hi").Follow(agent.Plan{}).Reader.(*follower)
	var infos []agent.LineInfo
	lines := agent.Lines{Each: func(l agent.Line) { infos = append(infos, f.Line(l)) }}
	lines.Write([]byte(begin + `{"type":"wait","why":"HTTP 401","seconds":2}` + "\n" + tool + `{"type":"done","id":"a"}` + "\n" + say + end))
	f.Judge(verdict.Outcome{}, time.Now())
	if r := infos[1].Retrying; r == nil || !r.Hopeless || r.Wait != 2*time.Second || !infos[1].Troubled || infos[1].Show != agent.Hold || infos[2].Troubled {
		t.Errorf("a retry: %+v, then %+v", infos[1], infos[2])
	}
	if infos[2].Tools != 2 || infos[3].Tools != 1 || infos[3].Activity.Tool != "rm" || !infos[2].Answered || !infos[5].Delivered || infos[4].Turn == nil {
		t.Errorf("%+v", infos)
	}
	var text strings.Builder
	if err := f.Render(&text, agent.Text); err != nil || text.String() != "hello you\n" || f.Answer().String() != "hello you" {
		t.Errorf("%q, %v", text.String(), err)
	}
	if a := f.Account(); a.Session != session || a.Usage.InputTokens != 9 || *a.Usage.CostUSD != 0.5 || len(a.Tools.Totals) != 2 || !a.Active {
		t.Errorf("%+v", a)
	}
}

// An answer of any length is whole, also where it stands deep in a line.
func TestFollow_LongAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 300<<10)
	f := bind(toy(), "-p", "hi").Follow(agent.Plan{}).Reader.(*follower)
	spool := &memory{}
	lines := agent.Lines{Spool: func(int64) agent.Spool { return spool }, Each: func(l agent.Line) { f.Line(l) }}
	lines.Write([]byte(`{"type":"say","parts":[{"kind":"x"},{"text":"` + long + `"}]}` + "\n"))
	var text strings.Builder
	if err := f.Render(&text, agent.Text); err != nil || text.String() != long+"\n" {
		t.Errorf("%d bytes of %d, %v", text.Len(), len(long)+1, err)
	}
}

// memory is a spool in memory.
type memory struct{ data []byte }

func (m *memory) Write(p []byte) (int, error) {
	m.data = append(m.data, p...)
	return len(p), nil
}
func (m *memory) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.data).ReadAt(p, at)
}
func (m *memory) Close() error { return nil }
func (m *memory) Size() int64  { return int64(len(m.data)) }

// Whatever is printed, there is a verdict, with evidence if it is a failure, and nothing panics.
func FuzzJudge(f *testing.F) {
	f.Add(0, `{"type":"say","parts":[{"text":"x"}]}`+"\n"+`{"type":"end","ok":true,"n":1}`, "")
	f.Add(1, `{"type":"oops","why":{"a":1},"code":"429","after":"x","until":1e400}`, "HTTP 999")
	f.Add(1, `{"type":"tool","calls":[{"id":3},{"name":null}]}`, "")
	f.Fuzz(func(t *testing.T, code int, stdout, stderr string) {
		p := bind(toy(), "-p", "hi")
		o := verdict.Outcome{ExitCode: code & 0xFF, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
		follow := p.Follow(agent.Plan{}).Reader.(*follower)
		for _, v := range []verdict.Verdict{agent.Replay(follow, o, time.Now()), p.Judge(o, time.Now())} {
			if v.Class == "" || v.Class != verdict.OK && v.Evidence == "" {
				t.Errorf("%+v", v)
			}
		}
		if u := follow.Account().Usage; u.InputTokens < 0 || u.OutputTokens < 0 {
			t.Errorf("%+v", u)
		}
		follow.Render(&strings.Builder{}, agent.Text)
	})
}

// A retry that is told on stderr counts as one that is told in an event.
func TestRetry_OnStderr(t *testing.T) {
	d := &Definition{Name: "toy", Headless: Headless{Always: true}, Retry: `^Retrying in (?<wait>\d+)s: (?<error>.*)`}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	p := d.Descriptor().New([]string{"toy"}, nil, "").(agent.Agent)
	f := p.Follow(agent.Plan{Args: []string{"toy"}})
	if _, ok := f.StderrLine([]byte("Warning: retrying in 3s: x")); ok {
		t.Error("a warning is a retry")
	}
	info, ok := f.StderrLine([]byte("Retrying in 60s: You exceeded your current quota, please check your plan and billing details."))
	if r := info.Retrying; !ok || r == nil || r.Wait != time.Minute || r.Verdict.Class != verdict.Billing || !r.Hopeless {
		t.Errorf("%v, %+v, %+v", ok, info.Retrying, f.Account())
	}
	d.Retry = "^Retrying"
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "needs a group") {
		t.Error(err)
	}
}
