package opencode_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// follow returns a follower of an attempt.
func follow(t *testing.T, line string) agent.Follower {
	t.Helper()
	p := profile(line)
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	return p.Follow(plan)
}

// read has a follower read lines of stderr, and returns what is told of retries, and what is shown.
func read(f agent.Follower, lines ...string) (retries []agent.Retrying, shown []string) {
	for _, line := range lines {
		if !f.StderrBegins([]byte(line)) {
			shown = append(shown, line)
			continue
		}
		info, _ := f.StderrLine([]byte(line))
		if info.Retrying != nil {
			retries = append(retries, *info.Retrying)
		}
		if info.Show == agent.Pass {
			shown = append(shown, line)
		}
	}
	return retries, shown
}

const (
	newLog = "timestamp=2026-11-16T12:09:27.410Z run=c4137683 "
	asks   = newLog + "level=INFO message=stream providerID=x modelID=gpt-5 session.id=" + session + " small=false agent=build mode=primary"
	begins = newLog + "level=INFO message=process session.id=" + session + " messageID=msg_1"
	fails  = newLog + `level=ERROR message="stream error" session.id=` + session + ` small=false agent=build error.error="AI_APICallError: `
)

func TestLog_InnerRetries(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []verdict.Class
		wait  time.Duration // of the last
	}{
		"Nothing":     {[]string{begins, asks, begins, asks}, nil, 0},
		"Throttled":   {[]string{begins, asks, fails + `Rate limit reached for requests"`, asks}, []verdict.Class{verdict.RateLimit}, 0},
		"ServerError": {[]string{begins, asks, fails + `The server had an error"`, asks, fails + `The server had an error"`}, []verdict.Class{verdict.ServerError, verdict.ServerError}, 4 * time.Second},
		"InsideAStream": {[]string{begins, asks, newLog + `level=ERROR message="stream error" session.id=` + session + ` small=false error.error.message="Our servers are currently overloaded." error.error.code=server_is_overloaded`},
			[]verdict.Class{verdict.Overloaded}, 2 * time.Second},
		"CutOff":         {[]string{begins, asks, asks}, []verdict.Class{verdict.Network}, 2 * time.Second},
		"OddWords":       {[]string{begins, asks, fails + `I'm a teapot"`}, nil, 0},
		"OddWordsAgain":  {[]string{begins, asks, fails + `I'm a teapot"`, asks}, []verdict.Class{verdict.ServerError}, 2 * time.Second},
		"BadKey":         {[]string{begins, asks, fails + `Incorrect API key provided"`}, nil, 0},
		"UsedUp":         {[]string{begins, asks, fails + `Subscription quota exceeded."`}, []verdict.Class{verdict.UsageLimit}, 31 * 24 * time.Hour},
		"Title":          {[]string{strings.ReplaceAll(asks, "small=false", "small=true"), strings.ReplaceAll(fails, "small=false", "small=true") + `Rate limit reached"`}, nil, 0},
		"Subagent":       {[]string{begins, asks, strings.ReplaceAll(asks, session, "ses_other"), strings.ReplaceAll(fails, session, "ses_other") + `Rate limit reached"`}, []verdict.Class{verdict.RateLimit}, 0},
		"AnotherCall":    {[]string{begins, asks, fails + `Rate limit reached"`, asks, begins, asks}, []verdict.Class{verdict.RateLimit}, 0},
		"Final":          {[]string{begins, asks, newLog + "level=ERROR message=process session.id=" + session + ` error="Rate limit reached"`}, nil, 0},
		"QuotesAMessage": {[]string{newLog + `level=INFO message="my message=stream error" error.error="Rate limit reached" session.id=` + session}, nil, 0},
		"Old": {[]string{"INFO  2026-11-16T13:22:30 +8ms service=session.prompt step=0 sessionID=" + session + " loop", "INFO  2026-11-16T13:22:31 +4ms service=session.processor process",
			"INFO  2026-11-16T13:22:31 +1ms service=llm modelID=gpt-5 sessionID=" + session + " small=false agent=build mode=primary stream",
			`ERROR 2026-11-16T13:22:31 +3ms service=llm sessionID=` + session + ` small=false error={"error":{}} stream error`,
			`ERROR 2026-11-16T13:22:31 +2ms service=session.processor error=The server had an error while processing your request. stack="AI_APICallError: x" process`},
			[]verdict.Class{verdict.ServerError}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			retries, shown := read(follow(t, "run hi"), tt.lines...)
			var got []verdict.Class
			for _, r := range retries {
				got = append(got, r.Verdict.Class)
			}
			if len(got) != len(tt.want) || len(shown) > 0 {
				t.Fatalf("%v, shown %q", got, shown)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("%v", got)
				}
			}
			if n := len(retries); n > 0 && (retries[n-1].Wait != tt.wait || !retries[n-1].Verdict.Hint.IsZero()) {
				t.Errorf("%+v", retries[n-1])
			}
		})
	}
}

// A quota does not get better, and so it is not waited for.
func TestLog_Hopeless(t *testing.T) {
	retries, _ := read(follow(t, "run hi"), begins, asks, fails+`You exceeded your current quota, please check your plan and billing details."`)
	if len(retries) != 1 || !retries[0].Hopeless || retries[0].Verdict.Class != verdict.Billing {
		t.Errorf("%+v", retries)
	}
}

// A tool that runs is seen before there is an event of it: what it has done is not to be done twice.
func TestLog_ToolRuns(t *testing.T) {
	f := follow(t, "run hi")
	read(f, begins, asks)
	if f.Account().Active {
		t.Error("nothing has been done yet")
	}
	info, _ := f.StderrLine([]byte(newLog + `level=INFO message=evaluated permission=bash pattern="make test" action.permission=* action.action=allow action.pattern=*`))
	if a := f.Account(); info.Tools != 1 || info.Activity.Tool != "bash" || info.Activity.Argument != "make test" || !a.Active || a.Session != session || a.Model != "gpt-5" {
		t.Errorf("%+v, %+v", info, a)
	}
	info = f.Line(agent.Line{Text: []byte(`{"type":"tool_use","sessionID":"` + session + `","part":{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed"}}}`)})
	if a := f.Account(); info.Tools != 0 || len(a.Tools.Totals) != 1 || a.Tools.Totals[0].Count != 1 {
		t.Errorf("%+v, %+v", info, a.Tools)
	}
}

// The caller's own log stays.
func TestLog_OwnIsShown(t *testing.T) {
	if _, shown := read(follow(t, "run --print-logs hi"), begins, asks, "warning"); len(shown) != 3 {
		t.Errorf("%q", shown)
	}
}

// What the events leave out is in the log.
func TestLog_SaysWhy(t *testing.T) {
	f := follow(t, "run -m x/nope hi")
	read(f, newLog+`level=ERROR message=failed ref=err_1 error="ProviderModelNotFoundError: Model not found: x/nope." cause="x"`)
	o := verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(`{"type":"error","sessionID":"` + session + `","error":{"name":"UnknownError","data":{"message":"Unexpected server error. Check server logs for details."}}}`)}
	if v := agent.Replay(f, o, now); v.Class != verdict.NotFound || v.Retryable || !strings.Contains(v.Evidence, "x/nope") {
		t.Errorf("%+v", v)
	}
}

// A session of another directory is worked in without a word, and opencode never ends.
func TestLog_OtherDirectory(t *testing.T) {
	f := follow(t, "run -s "+session+" hi")
	info, _ := f.StderrLine([]byte(newLog + "level=INFO message=loop session.id=" + session + " step=0"))
	if info.Delivered {
		t.Error("it has not begun")
	}
	if info, _ = f.StderrLine([]byte(newLog + `level=INFO message="exiting loop" session.id=` + session)); !info.Delivered {
		t.Error("it would stay for ever")
	}
	if v := f.Judge(verdict.Outcome{}, now); v.Class != verdict.SessionNotFound || !strings.Contains(v.Evidence, "another directory") {
		t.Errorf("%+v", v)
	}
}

// A tool is told of once, by the log where that is first, else by its event.
func TestLine_Begun(t *testing.T) {
	const event = `{"type":"tool_use","sessionID":"` + session + `","part":{"type":"tool","callID":"c","tool":"TOOL","state":{"status":"completed","input":INPUT}}}`
	f := follow(t, "run hi")
	read(f, begins, asks)
	for _, tt := range []struct{ tool, input, want string }{
		{"read", `{"filePath":"a.go"}`, "a.go"}, {"bash", `{"command":"make"}`, "make"}, {"lab_ping", `{"x":1}`, ""},
	} {
		line := strings.NewReplacer("TOOL", tt.tool, "INPUT", tt.input).Replace(event)
		want := agent.Activity{Doing: agent.UsingTool, Tool: tt.tool, Argument: tt.want}
		if got := f.Line(agent.Line{Text: []byte(line)}).Begun; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	first, _ := f.StderrLine([]byte(newLog + `level=INFO message=evaluated permission=bash pattern="make test" action.permission=* action.action=allow action.pattern=*`))
	then := f.Line(agent.Line{Text: []byte(strings.NewReplacer("TOOL", "bash", "INPUT", `{"command":"make test"}`).Replace(event))})
	if want := (agent.Activity{Doing: agent.UsingTool, Tool: "bash", Argument: "make test"}); first.Begun != want || then.Begun.Tool != "" {
		t.Errorf("%+v, then %+v", first.Begun, then.Begun)
	}
}

// FuzzFollow: whatever comes, nothing panics, and a failure is no success.
func FuzzFollow(f *testing.F) {
	f.Add(`{"type":"step_start","sessionID":"`+session+`"}`, begins+"\n"+asks+"\n"+fails+`x"`, 0)
	f.Add(`{"type":"error","sessionID":"x","error":{"name":"APIError","data":{"statusCode":"x"}}}`, "INFO  20 x process", 1)
	f.Add(`{"type":"tool_use","sessionID":"x","part":{"tool":"task","state":{"input":{"subagent_type":""}}}}`, "timestamp=", -1)
	f.Fuzz(func(t *testing.T, stdout, stderr string, code int) {
		p := profile("run hi")
		plan, _ := p.Plan(agent.Turn{})
		follower := p.Follow(plan)
		read(follower, strings.Split(stderr, "\n")...)
		o := verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
		if v := agent.Replay(follower, o, now); v.Class == verdict.OK && code != 0 || v.Retryable && !v.Class.Retryable() {
			t.Errorf("%+v", v)
		}
		follower.Account()
		if v := p.Judge(o, now); v.Class == verdict.OK && code != 0 {
			t.Errorf("%+v", v)
		}
	})
}
