package gemini

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Whatever is printed, there is a verdict, with evidence if it is a failure, and nothing panics.
func FuzzJudge(f *testing.F) {
	f.Add(0, begins+"\n"+says("x")+"\n"+succeeds, "")
	f.Add(173, "", "Attempt 1 failed: x\n y.. Retrying after 5ms...\n{\n  \"session_id\": \"x\",\n  \"error\": {\"message\": \"{\", \"code\": \"x\"}\n}")
	f.Add(1, "{\n  \"response\": \"", "Error when talking to Gemini API Full report available at: x.json Error: {\n    at x {\n  status: 429\n}")
	f.Fuzz(func(t *testing.T, code int, stdout, stderr string) {
		p := New([]string{"gemini", "-p", "hi"}, nil, "")
		fol := p.Follow(agent.Plan{}).Reader.(*follower)
		for _, line := range strings.Split(stderr, "\n") {
			fol.stderrLine([]byte(line))
		}
		o := verdict.Outcome{ExitCode: code & 0xFF, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
		for _, v := range []verdict.Verdict{agent.Replay(fol, o, time.Now()), p.Judge(o, time.Now())} {
			if v.Class == "" || v.Class != verdict.OK && v.Evidence == "" {
				t.Errorf("%+v", v)
			}
		}
		fol.Account()
		fol.Answer()
	})
}
