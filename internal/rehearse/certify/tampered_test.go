package certify_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse/certify"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/test/must"
)

// tampered is how an update of claude might differ: what it prints goes through sed, and its exit code through the shell.
type tampered struct {
	name    string
	promise string // that is lost with it: how its name begins
	sed     string
	shell   string // in the place of: real "$@" | sed
	code    string // what it ends with; its own code by default
}

const (
	answer   = "An answer arrives"
	limit    = "A plan that is used up"
	noErrors = `s/"error":"[a-z_]*",//; s/"api_error_type":"[a-z_]*",//; s/"api_error_status":[0-9]*/"api_error_status":null/; s/"terminal_reason":"[a-z_]*"/"terminal_reason":"api_error"/; `
)

// The first ones are tried by make test, and all by make test-full.
var all = []tampered{
	{name: "SwallowsTheResult", promise: answer, sed: `/"type":"result"/d`},
	{name: "EndsWith0AndSaysNothing", promise: "Errors of the service that last", sed: "d", code: "0"},
	{name: "ChangesAWord", promise: "No credit", sed: noErrors + `s/Credit balance is too low/Pay first/`},
	{name: "SwallowsAll", promise: answer, sed: "d"},
	{name: "ChangesTheAnswer", promise: answer, sed: `s/This is a rehearsal/That is a rehearsal/`},
	{name: "EndsWith1", promise: answer, code: "1"},
	{name: "EndsWith2ForAnError", promise: "Without retries the CLI's own exit code stays", code: `$((code * 2))`},
	{name: "CountsNoInput", promise: answer, sed: `s/"input_tokens":100/"input_tokens":0/g; s/"inputTokens":100/"inputTokens":0/g`},
	{name: "CountsMoreOutput", promise: answer, sed: `s/"output_tokens":7/"output_tokens":70/g; s/"outputTokens":7/"outputTokens":70/g`},
	{name: "AsksTwice", promise: answer, shell: `$real "$@" >/dev/null; $real "$@"`},
	{name: "NamesNoSession", promise: "A session is continued", sed: `s/"session_id":"[^"]*",//g; s/,"session_id":"[^"]*"//g`},
	{name: "ForgetsTheSession", promise: "A session is continued", shell: `case "$*" in *--resume*) echo "unknown option --resume" >&2; exit 1;; esac; $real "$@"`},
	{name: "CallsAnErrorAnAnswer", promise: "A request that the service refuses", sed: noErrors + `s/"is_error":true/"is_error":false/`, code: "0"},
	{name: "CallsAnAnswerAnError", promise: "An answer that quotes an error", sed: `s/"is_error":false/"is_error":true/`, code: "1"},
	{name: "SwallowsTheLimit", promise: limit, sed: noErrors + `/"rate_limit_event"/d; s/You've hit your 5-hour limit[^"]*/Have a break/`},
	{name: "SaysNoTime", promise: limit, sed: `/"rate_limit_event"/d; s/ · resets [^"]*"/"/g; s/"api_error_params":{[^}]*},//`},
	{name: "SwallowsTheModelError", promise: "An unknown model", sed: noErrors + `s/There's an issue with the selected model[^"]*/Try another one/`},
	{name: "SwallowsTheKeyError", promise: "A rejected key", sed: noErrors + `/"subtype":"api_retry"/d; s/Invalid API key[^"]*/Who are you?/`},
	{name: "SwallowsTheSize", promise: "A prompt that is too long", sed: noErrors + `s/Prompt is too long[^"]*/Say it shorter/`},
	{name: "SwallowsTheThrottle", promise: "A throttle that lasts too long", sed: noErrors + `s/API Error: Request rejected (429)[^"]*/Not now/`},
	{name: "SwallowsTheOverload", promise: "A service that stays overloaded", sed: noErrors + `s/API Error: [^"]*/Not now/; s/[Oo]verloaded/busy/g`},
	{name: "LeavesAProcess", promise: answer, shell: `(setsid sleep 60 >/dev/null 2>&1 &); $real "$@"`},
}

// write makes an executable that is claude, but for that.
func (w tampered) write(t *testing.T, real string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), claude.Name)
	text := fmt.Sprintf("#!/bin/bash\nreal=%s\ntalk() { %s; }\ntalk \"$@\" | sed -u '%s'\ncode=${PIPESTATUS[0]}\nexit %s\n",
		real, cmp.Or(w.shell, `$real "$@"`), strings.ReplaceAll(w.sed, "'", `'\''`), cmp.Or(w.code, "$code"))
	must.OK(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// With a claude that was tampered with, the promise concerned is lost.
func TestCertify_Tampered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, built.Into(dir, built.Belay))
	real := clitest.Claude(t, "")
	some := all
	if !clitest.Full() {
		some = all[:3]
	}
	var list []*scenario.Scenario
	for _, w := range some {
		promises, err := certify.Scenarios(&claude.Descriptor, w.write(t, real))
		must.OK(t, err)
		i := slices.IndexFunc(promises, func(s *scenario.Scenario) bool { return strings.HasPrefix(s.Name, w.promise) })
		if i < 0 {
			t.Fatalf("no promise begins with %q", w.promise)
		}
		list = append(list, promises[i])
	}
	for i, o := range scenario.Run(t.Context(), filepath.Join(dir, "belay"), list, 2, func(scenario.Outcome) {}) {
		if o.Error != nil {
			t.Errorf("%s: %s", some[i].name, *o.Error)
		} else if t.Logf("%s: %s", some[i].name, o.Why()); o.Passed {
			t.Errorf("%s is missed by %q\nstdout %q\nstderr %q", some[i].name, o.Name, o.Seen.Stdout, o.Seen.Stderr)
		}
	}
}
