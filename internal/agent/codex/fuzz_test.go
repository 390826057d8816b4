package codex

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// FuzzFollow: whatever comes, nothing panics, and nothing but a completed turn is ok where events are asked for.
func FuzzFollow(f *testing.F) {
	f.Add(strings.Join([]string{started, turn, warning, thought, toolBegan, toolEnded, hello, completed}, "\n"), "", 0)
	f.Add(strings.Join([]string{started, refused, failed}, "\n"), "ERROR: x\nERROR: x", 1)
	f.Add(`{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 x)"}`, header, 1)
	f.Add(`{"type":"item.completed","item":null}`+"\n"+`{"type":7}`+"\n[]", "Error: \n\nCaused by:\n x", 2)
	f.Add("hello", header+"turn interrupted", -1)
	f.Fuzz(func(t *testing.T, stdout, stderr string, code int) {
		o := outcome(code, stdout, stderr)
		p := New(words("codex exec hi"), nil, "")
		plan, _ := p.Plan(agent.Turn{})
		follower := p.Follow(plan)
		v := agent.Replay(follower, o, noon)
		if v.Class == verdict.OK && (code != 0 || !strings.Contains(stdout, "turn.completed") && !strings.Contains(stdout, `\u`)) {
			t.Errorf("%+v", v)
		}
		if v.Retryable && !v.Class.Retryable() {
			t.Errorf("%+v", v)
		}
		follower.Render(io.Discard, agent.Text)
		follower.Account()
		if v := New(nil, nil, "").Judge(o, noon); v.Class == verdict.OK && code != 0 {
			t.Errorf("%+v", v)
		}
	})
}

// FuzzPlan: whatever the command line, nothing panics, what we do not understand is left alone, and what we write we
// can read again.
func FuzzPlan(f *testing.F) {
	f.Add("exec\nhi", "", "", false)
	f.Add("exec\n-i\na\nb\n--\nhi", "p", thread, true)
	f.Add("-m\nexec\ne\nresume\n--last\nhi", "-", thread, false)
	f.Add("exec\nresume\n"+thread+"\n-", "", "", true)
	f.Add("exec\n--new\nhi", "p", "", false)
	f.Add("exec\n-c\nmodel_providers.x={base_url=\"http://h\"}\n-oX\n-C=d", "", thread, false)
	f.Fuzz(func(t *testing.T, line, prompt, session string, cont bool) {
		args := append([]string{"codex"}, strings.Split(line, "\n")...)
		own := slices.Clone(args)
		p := New(args, []string{"OPENAI_BASE_URL=" + prompt}, "")
		traits := p.Info()
		turn := agent.Turn{Session: session, Continue: cont}
		if prompt != "" {
			turn.Prompt = &prompt
		}
		plan, err := p.Plan(turn)
		if !slices.Equal(args, own) {
			t.Fatalf("the caller's arguments are %q now", args)
		}
		if err != nil {
			return
		}
		if traits.Unknown != "" && !slices.Equal(plan.Args, args) {
			t.Errorf("%q became %q", args, plan.Args)
		}
		p.Follow(plan).Judge(verdict.Outcome{ExitCode: 1}, time.Time{})
		if !p.Headless() || traits.Unknown != "" {
			return
		}
		l, ok := read(plan.Args[1:])
		if !ok || l.unknown() != "" || !l.has(optJSON) {
			t.Errorf("%q became %q", args, plan.Args)
		}
		if session != "" && l.session() != session {
			t.Errorf("%q became %q, which resumes %q", args, plan.Args, l.session())
		}
	})
}
