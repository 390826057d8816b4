//go:build linux

package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// A connection that is reset in the middle of an answer ends gemini at times, and at times it asks again by itself; what was said before
// is then said again, as without belay.
func TestGemini_DropMid(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, "drop-mid, 200")
		r := s.Belay(soon, geminiAsk("say hi"))
		r.Exits(0)
		s.Asked(2)
		if !strings.HasSuffix(r.Stdout, answer) {
			t.Errorf("%q", r.Stdout)
		}
	})
}

// Gemini runs as two processes, of which the first takes no signal. Both end, and so do the tools, which have sessions of
// their own.
func TestGemini_StopsBothProcesses(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"Interrupted": nil, "Deadline": {"--timeout", "40s"}, "Stalled": {"--stall-timeout", "40s"}} {
		t.Run(name, func(t *testing.T) {
			gemini.Each(t, false, func(t *testing.T, version string) {
				s := gemini.New(t, version, endless+"x*")
				s.Env = []string{"GEMINI_CLI_NO_RELAUNCH="}
				run := s.StartBelay(flags, geminiWork("say hi"), nil)
				s.Eventually("the tool runs", func() bool { return endlessRuns(s) })
				if n := len(run.Left()); n < 5 { // belay, two of gemini, two of the tool
					t.Errorf("%d processes", n)
				}
				if flags == nil {
					run.Signal(syscall.SIGTERM)
					run.Wait().Exits(143)
				} else {
					run.Wait().Exits(124)
				}
				s.NobodyLeft()
			})
		})
	}
}

// A server that accepts a connection and says nothing, and a port without a listener: gemini alone takes three minutes for the latter and
// much longer for the former.
func TestGemini_EndsInTime(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"Silent": "hang x*", "Refused": "refuse"} {
		for form, flags := range gemini.forms {
			t.Run(name+"/"+form, func(t *testing.T) {
				gemini.Each(t, false, func(t *testing.T, version string) {
					s := gemini.New(t, version, script)
					r := s.Belay([]string{"--max-retries", "0"}, geminiAsk(append(flags, "say hi")...))
					r.Is("network", 1)
					r.Exits(1)
					if n := s.Requests(); n > 1 {
						t.Errorf("%d requests", n)
					}
				}, geminiOld) // which waits for an answer for ever, and cannot be told the name of its session
			})
		}
	}
}

// The answer of -o json is gemini's own, and Belay understands it.
func TestGemini_JSON(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, `tool(bash: "echo x >> made", in=100, out=10), 408, 200(in=200, out=20)`)
		r := s.Belay(soon, geminiWork("-o", "json", "say hi"))
		r.Exits(0)
		if stage.UpTo(version, geminiOld) {
			r.Is("", 3) // it cannot be told the name of its session, and says so
		} else {
			r.Is("", 2)
		}
		r.Used(300, 30)
		s.Asked(3)
		s.Wrote("made", "x\n")
		s.ToldOnce("say hi", "Continue where you left off.")
		var got struct {
			Session  string `json:"session_id"`
			Response string
			Stats    struct{ Models map[string]any }
		}
		if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || got.Response+"\n" != answer || got.Session != r.Result.SessionID || len(got.Stats.Models) == 0 {
			t.Errorf("%v in %s", err, r.Stdout)
		}
	})
}

// A run of -o json prints nothing before its end. One that is stopped can still be continued.
func TestGemini_StopJSON(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, `tool(bash: "echo made", in=100, out=10), hang`)
		run := s.StartBelay(nil, geminiWork("-o", "json", "say hi"), nil)
		s.Eventually("it waits for the API", func() bool { return s.Requests() == 2 })
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Exits(130)
		r.Is("interrupted", 1)
		r.Used(100, 10)
		s.OnRecord(r.Result.SessionID, "interrupted")
		s.Rehearse("200")
		s.Belay([]string{"--resume", r.Result.SessionID}, geminiWork("go on")).Exits(0)
		s.ToldOnce("say hi", "go on")
	}, geminiOld)
}

// A hook that stops the agent leaves gemini with exit 0 and nothing done.
func TestGemini_Hook(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		for form, flags := range gemini.forms {
			t.Run(form, func(t *testing.T) {
				t.Parallel()
				s := gemini.New(t, version, "200")
				s.File(".gemini/settings.json", `{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "echo 'not today' >&2; exit 2"}]}]}}`)
				r := s.Belay(nil, geminiAsk(append(flags, "say hi")...))
				r.Exits(1)
				r.Is("blocked", 1)
				s.Asked(0)
			})
		}
	}, geminiOld)
}

// Only its last turn is left of a run that may take one.
func TestGemini_MaxTurns(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, "tool(bash: `true`, in=100, out=10)x*")
		settings := filepath.Join(s.Dir, "api", "home", ".gemini", "settings.json")
		must.OK(t, os.WriteFile(settings, []byte(`{"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": {"maxSessionTurns": 2}}`), 0o600))
		r := s.Belay(nil, geminiWork("say hi"))
		r.Exits(53)
		r.Is("limit_reached", 1)
		r.Used(200, 20)
		s.Asked(2)
	})
}

// A session that the project does not have.
func TestGemini_ResumeUnknown(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, "200x*")
		s.Belay(nil, geminiAsk("first")).Exits(0)
		r := s.Belay([]string{"--resume", gemini.noSession}, geminiAsk("go on"))
		r.Exits(42)
		r.Is("session_not_found", 1)
		r.Says(`Invalid session identifier "` + gemini.noSession)
		s.Asked(1)
	})
}

// What is said on stderr while it works does not end a run that goes well, and a tool's words are not gemini's.
func TestGemini_ToolQuotesARetry(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, "tool(bash: `echo 'Attempt 9 failed with status 401. Retrying with backoff... Error: API key not valid'; exit 1`)x2, 200")
		r := s.Belay([]string{"--max-retries", "0"}, geminiWork("say hi"))
		r.Exits(0)
		r.Is("", 1)
		if e := s.Log()[0]; e.InnerRetries != 0 {
			t.Errorf("%d retries inside", e.InnerRetries)
		}
	})
}

// A run of -o json that hangs in the middle of an answer prints nothing, and is seen to hang by its own record.
func TestGemini_JSONStalls(t *testing.T) {
	gemini.Each(t, false, func(t *testing.T, version string) {
		s := gemini.New(t, version, `tool(bash: "echo x", in=100, out=10), hang-mid, 200(in=200, out=20)`)
		r := s.Belay(append([]string{"--stall-timeout", "30s"}, soon...), geminiWork("-o", "json", "say hi"))
		r.Exits(0)
		if e := s.Log(); e[len(e)-2].ErrorType != "stalled" {
			t.Errorf("%+v", e)
		}
	}, geminiOld)
}
