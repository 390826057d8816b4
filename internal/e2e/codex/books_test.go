//go:build linux

package codex_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// The log tells when the model first answered, what codex retried by itself and which tools it used, and nothing of what
// they were given.
func TestBooks_Details(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `drop-mid(in=0), tool(bash: "echo sesame", in=100, out=10), tool(bash: "echo sesame; exit 3", in=100, out=10), 200(in=100, out=10)`)
		s.Env = []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
		r := s.Belay(nil, work("say hi"))
		r.Exits(0)
		r.Used(300, 30)
		e := s.Log()[0]
		if len(e.Tools) != 1 || e.Tools[0].Name != "command_execution" || e.Tools[0].Count != 2 || len(e.ToolCalls) != 2 || e.ToolsCut != 0 {
			t.Errorf("%+v, %+v", e.Tools, e.ToolCalls)
		}
		if e.FirstToken <= 0 || e.FirstToken > e.ResponseTime+1 || e.InnerRetries != 1 || e.Traceparent != s.Env[0][len("TRACEPARENT="):] || *e.BelayCode != 0 {
			t.Errorf("%+v", e)
		}
		tools, _ := json.Marshal([]any{e.Tools, e.ToolCalls})
		if strings.Contains(string(tools), "sesame") {
			t.Errorf("%s", tools)
		}
	})
}

// A thread that was begun and left without a word ends as abandoned; what it has used is not known.
func TestBooks_Abandoned(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang-mid, 200(in=200, out=20)")
		r := s.Belay(append([]string{"--stall-timeout", "15s"}, soon...), ask("say hi"))
		r.Exits(0)
		r.Is("", 2)
		r.Used(200, 20)
		log := s.Log()
		s.OnRecord(log[0].Session, "abandoned")
		s.OnRecord(r.Result.SessionID, "done")
		if !r.Result.Usage.Unknown || log[0].Session == r.Result.SessionID {
			t.Errorf("%+v", r.Result)
		}
	})
}

// Without a record, what a killed attempt has used is not known; that is not nothing. With one, only the request is not that
// was under way.
func TestBooks_Ephemeral(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		const script = `tool(bash: "echo x", in=100, out=10), hang, 200(in=200, out=20)`
		for _, flags := range [][]string{{"--ephemeral"}, nil} {
			s := newStage(t, version, script)
			r := s.Belay(append([]string{"--stall-timeout", "15s", "--no-resume-on-retry"}, soon...), work(append(flags, "say hi")...))
			r.Exits(0)
			r.Is("", 2)
			if flags == nil {
				r.Used(300, 30)
			} else {
				r.Used(200, 20)
			}
			if !r.Result.Usage.Unknown {
				t.Errorf("%q: %+v", flags, r.Result.Usage)
			}
		}
	})
}
