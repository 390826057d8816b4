package claude

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// Whatever a run prints, there is a verdict, and it is no success unless it ended with 0.
func FuzzJudge(f *testing.F) {
	for _, s := range said {
		f.Add([]byte(s.text), "", 1)
		f.Add([]byte(failed(s.text)), "", 1)
	}
	for _, s := range onStderr {
		f.Add([]byte{}, s.text, 1)
	}
	f.Add([]byte(line(begins)+line(calls("m1", "t1"))+line(answers("t1"))+line(retryEvent("429", "rate_limit", 1, "2000"))+line(succeeds)), "", 0)
	f.Add([]byte(line(`"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"seven_day_opus","resetsAt":1794948857,"utilization":1e300,"unifiedWindows":{"":{},"five_hour":{"utilization":-0,"resetsAt":"1"},"x":7,"overage":{"utilization":0.5,"resetsAt":1794948857}}}`)), "", 1)
	if cases, err := os.ReadFile("testdata/cases.jsonl"); err == nil {
		for _, c := range bytes.SplitN(cases, []byte("\n"), 20) {
			f.Add(c[:min(len(c), 4096)], "", 1)
		}
	}
	f.Fuzz(func(t *testing.T, stdout []byte, stderr string, code int) {
		p := New([]string{"claude", "-p", "hi"}, []string{})
		plan, err := p.Plan(agent.Turn{})
		must.OK(t, err)
		follower := p.Follow(plan)
		lines := agent.Lines{Each: func(line agent.Line) {
			n := follower.Line(line)
			if n.Tools < 0 || n.Retrying != nil && n.Retrying.Wait < 0 {
				t.Errorf("%+v", n)
			}
			agenttest.Credible(t, n.Quota)
		}}
		lines.Write(stdout)
		lines.Close()
		v := follower.Judge(verdict.Outcome{ExitCode: code, Stderr: verdict.ExcerptOf(stderr)}, now)
		if v.Class == "" || v.Class == verdict.OK && code != 0 || v.Retryable && !v.Class.Retryable() {
			t.Errorf("%+v", v)
		}
		if u := follower.Account().Usage; u.JSON() == nil && !u.IsZero() {
			t.Errorf("%+v", u)
		}
		follower.Answer()
		for _, form := range []agent.Form{agent.Text, agent.JSON} {
			if err := follower.Render(io.Discard, form); err != nil {
				t.Error(err)
			}
		}
	})
}

// Whatever the command line, it is either left alone or gets what was added in front of it, and loses nothing that it
// should keep.
func FuzzPlan(f *testing.F) {
	for _, args := range []string{"-p\x00hi", "-p\x00--\x00-hi", "-p\x00--allowedTools\x00Bash\x00Read", "-p\x00--output-format=json\x00hi", "-p\x00--no-such\x00hi",
		"-c\x00-p\x00hi", "-p\x00-r\x00" + someID + "\x00hi", "-p\x00--max-turns\x003", "-pc", "-", "--", "-p\x00-"} {
		f.Add(args, "prompt", "stdin", true, 0)
		f.Add(args, "/prompt", "", false, 2)
	}
	f.Fuzz(func(t *testing.T, joined, prompt, stdin string, goOn bool, turns int) {
		args := append([]string{"claude"}, strings.Split(joined, "\x00")...)
		p := New(args, []string{})
		turn := agent.Turn{Stdin: []byte(stdin), Turns: turns}
		if prompt != "" {
			turn.Prompt = &prompt
		}
		if goOn && turn.Prompt != nil {
			turn.Session, turn.Continue = someID, true
		}
		p.Headless()
		p.Info()
		plan, err := p.Plan(turn)
		if err != nil {
			return
		}
		if plan.Args[0] != "claude" || len(plan.Args) < len(plan.Added)+1 {
			t.Errorf("%q becomes %q", args, plan.Args)
		}
		if plan.Plain {
			return
		}
		for i, a := range plan.Added {
			if plan.Args[1+i] != a {
				t.Errorf("%q becomes %q, which has %q added", args, plan.Args, plan.Added)
			}
		}
		// What claude reads of it is what we meant.
		read := options().Read(plan.Args[1:])
		if read.Unknown != "" || read.Value("--output-format") != "stream-json" || !read.Has("--verbose") || !read.Has("-p") {
			t.Errorf("%q becomes %q", args, plan.Args)
		}
		if turn.Continue && (read.Value("-r") != someID || string(plan.Stdin) != prompt || len(read.Words()) > 0) {
			t.Errorf("%q becomes %q with %q on stdin", args, plan.Args, plan.Stdin)
		}
	})
}
