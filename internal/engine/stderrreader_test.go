package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent/opencode"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/verdict"
)

const opencodeSession = "ses_e1bbd2f0effekRh1tK8USgQzs1"

// opencodeLog is a line of opencode's log.
func opencodeLog(level, message, fields string) string {
	return fmt.Sprintf("timestamp=2026-11-16T12:09:27.410Z level=%s run=c4137683 message=%s %s\n", level, message, fields)
}

var (
	opencodeRun = belaytype.Command{Args: []string{"opencode", "run", "hi"}}
	// opencodeAsks says that the model is asked, opencodeProcess that another model call begins.
	opencodeProcess = opencodeLog("INFO", "process", "session.id="+opencodeSession+" messageID=msg_1")
	opencodeAsks    = opencodeLog("INFO", "stream", "providerID=x modelID=gpt-5 session.id="+opencodeSession+" small=false agent=build mode=primary")
	opencodeAnswer  = `{"type":"step_start","timestamp":1,"sessionID":"` + opencodeSession + `","part":{"type":"step-start"}}
{"type":"text","timestamp":1,"sessionID":"` + opencodeSession + `","part":{"type":"text","text":"Hello."}}
{"type":"step_finish","timestamp":1,"sessionID":"` + opencodeSession + `","part":{"type":"step-finish","reason":"stop","tokens":{"input":10,"output":5},"cost":0.1}}
`
)

// opencodeFails says that a request failed.
func opencodeFails(why string) string {
	return opencodeLog("ERROR", `"stream error"`, fmt.Sprintf("session.id=%s small=false agent=build mode=primary error.error=%q", opencodeSession, "AI_APICallError: "+why))
}

func opencodeRunner() *engine.Runner {
	return &engine.Runner{Profile: opencode.New(opencodeRun.Args, nil, ""), Admission: engine.Admission{Shared: &gate.Memory{}, Scopes: &gate.Memory{}}}
}

// What an agent was made to say on stderr is read and taken out, whichever pieces it comes in; what else is there is the caller's.
func TestStderrReader_TakesOutTheLog(t *testing.T) {
	whole := "warning: old\r\n" + opencodeProcess + opencodeAsks + "times are hard\ntimestamp=no\n" + opencodeFails("Rate limit reached") + "a line without an end"
	want := "warning: old\r\ntimes are hard\ntimestamp=no\na line without an end"
	for size := range 40 {
		synctest.Test(t, func(t *testing.T) {
			r := opencodeRunner()
			seen := observe(r)
			var list []enginetest.Step
			for rest := whole; rest != ""; {
				n := min(len(rest), size*7+1)
				list = append(list, enginetest.Complain(rest[:n]))
				rest = rest[n:]
			}
			script(r, steps(0, append(list, enginetest.Print(opencodeAnswer))...))
			var out, stderr bytes.Buffer
			c := opencodeRun
			c.Stdout, c.Stderr = &out, &stderr
			res, err := r.Run(t.Context(), c)
			if err != nil || out.String() != "Hello.\n" || stderr.String() != want || res.Session != opencodeSession {
				t.Errorf("in pieces of %d: %v, %q, %q", size*7+1, err, &out, &stderr)
			}
			if retries := all[belaytype.InnerRetry](seen); len(retries) != 1 || retries[0].Verdict.Class != verdict.RateLimit {
				t.Errorf("in pieces of %d: %+v", size*7+1, retries)
			}
		})
	}
}

// A line of the log of any length is taken out, and costs no memory.
func TestStderrReader_LongLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := opencodeRunner()
		long := opencodeLog("INFO", "other", "x="+strings.Repeat("y", 1<<20))
		script(r, steps(0, enginetest.Complain(long), enginetest.Complain(strings.Repeat("z", 1<<18)+"\n"), enginetest.Print(opencodeAnswer)))
		var stderr bytes.Buffer
		c := opencodeRun
		c.Stderr = &stderr
		if _, err := r.Run(t.Context(), c); err != nil || stderr.String() != strings.Repeat("z", 1<<18)+"\n" {
			t.Errorf("%v, %d bytes", err, stderr.Len())
		}
	})
}

// What opencode tries again by itself, for ever and without an event, ends when the policy's time is over.
func TestStderrReader_InnerRetriesEnd(t *testing.T) {
	again := func(pause time.Duration, why string) []enginetest.Step {
		return []enginetest.Step{enginetest.Complain(opencodeProcess),
			enginetest.Forever(pause, enginetest.Complain(opencodeAsks+opencodeFails(why)))}
	}
	nothing := `{"type":"step_start","sessionID":"` + opencodeSession + `","part":{}}` + "\n" +
		`{"type":"step_finish","sessionID":"` + opencodeSession + `","part":{"reason":"unknown","tokens":{"input":0,"output":0},"cost":0}}` + "\n"
	for name, tt := range map[string]struct {
		steps  []enginetest.Step
		class  verdict.Class
		code   int
		within time.Duration
	}{
		"refused":   {again(5*time.Second, "Cannot connect to API: Unable to connect. Is the computer able to access the url?"), verdict.Network, engine.CodeTryLater, time.Minute},
		"500":       {again(5*time.Second, "The server had an error while processing your request."), verdict.ServerError, engine.CodeTryLater, time.Minute},
		"throttled": {again(3*time.Second, "Rate limit reached for requests"), verdict.RateLimit, engine.CodeTryLater, 6 * time.Minute},
		"throttled for long": {append(again(time.Second, "Rate limit reached for requests")[:1], enginetest.Complain(opencodeAsks+opencodeFails("Rate limit reached")), enginetest.Hang()),
			verdict.RateLimit, engine.CodeTryLater, 6 * time.Minute},
		"usage limit": {append(again(time.Second, "")[:1], enginetest.Complain(opencodeAsks+opencodeFails("Subscription quota exceeded.")), enginetest.Hang()), verdict.UsageLimit, engine.CodeTryLater, time.Minute},
		"quota":       {append(again(time.Second, "")[:1], enginetest.Complain(opencodeAsks+opencodeFails("You exceeded your current quota")), enginetest.Hang()), verdict.Billing, engine.CodePersonMustAct, time.Minute},
		"cut off":     {[]enginetest.Step{enginetest.Complain(opencodeProcess), enginetest.Forever(5*time.Second, enginetest.Complain(opencodeAsks))}, verdict.Network, engine.CodeTryLater, 2 * time.Minute},
		"portal":      {[]enginetest.Step{enginetest.Forever(300*time.Millisecond, enginetest.Print(nothing))}, verdict.BadOutput, engine.CodeTryLater, time.Minute},
		"silent":      {[]enginetest.Step{enginetest.Complain(opencodeProcess + opencodeAsks), enginetest.Hang()}, verdict.Stalled, engine.CodeTimeout, 32 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := opencodeRunner()
				script(r, steps(1, tt.steps...))
				begun := time.Now()
				res, err := r.Run(t.Context(), opencodeRun)
				if err == nil || res.Verdict.Class != tt.class || res.ExitCode != tt.code || time.Since(begun) > tt.within {
					t.Errorf("%s, exit code %d after %v: %s", res.Verdict.Class, res.ExitCode, time.Since(begun), res.Error)
				}
			})
		})
	}
}
