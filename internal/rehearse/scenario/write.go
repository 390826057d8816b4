package scenario

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// steps are what a stand-in does for an attempt that ended in a class; %d is how many seconds were waited after it.
var steps = map[verdict.Class]string{
	verdict.RateLimit: "429(retry-after=%d)", verdict.UsageLimit: "usage-limit(resets=%ds)", verdict.Overloaded: "overloaded", verdict.ServerError: "500",
	verdict.Network: "reset", verdict.Timeout: "hang", verdict.Stalled: "hang", verdict.BadOutput: "garbage", verdict.Auth: "401", verdict.Billing: "403",
	verdict.InvalidRequest: "400", verdict.NotFound: "404", verdict.TooLarge: "413",
}

// FromRun is a scenario that plays what a run of belay met: classes, statuses and times, and nothing of its texts. The run's program has to be written in.
func FromRun(run []journal.Entry, d *agent.Descriptor) string {
	var script []string
	for _, e := range run {
		step, known := steps[e.ErrorType]
		switch {
		case e.Attempt == 0:
			continue
		case e.ErrorType == "":
			step = "200"
		case e.HTTPStatus >= 300 && !strings.Contains(step, "("):
			step = strconv.Itoa(e.HTTPStatus)
		case !known:
			step = "500"
		}
		step = strings.ReplaceAll(step, "%d", strconv.Itoa(max(1, int(e.WaitTime))))
		cause := step
		if step == "200" {
			cause = "500"
		}
		for range e.InnerRetries { // the CLI tried again by itself, for a cause that is not on record
			script = append(script, cause)
		}
		script = append(script, step)
	}
	last := run[len(run)-1]
	return fmt.Sprintf("# What run %s met on %s.\nname = %s\nscript = %s\ncommand = %s\n\n[expect]\nexit = %d\nclass = %s\n", last.Invocation, last.Timestamp.Format("2 January 2006"),
		quote("The bad day of "+last.Invocation), quote(strings.Join(script, ", ")), commandOf(d), *cmp.Or(last.BelayCode, &last.ExitCode), quote(classOf(last)))
}

// classOf is the verdict on an attempt.
func classOf(e journal.Entry) string { return cmp.Or(string(e.ErrorType), "ok") }

// commandOf is a command that asks an agent for something simple, through belay, as TOML has it.
func commandOf(d *agent.Descriptor) string {
	words := append([]string{"belay", "run", "--", d.Name}, d.Rehearsal.Ask...)
	for i, w := range words {
		words[i] = quote(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// quote is a text as TOML has it: as JSON has it, but for one character.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text) // strings can be encoded
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\x7f", `\u007f`)
}

//go:embed examples
var examples embed.FS

// Examples are scenarios to begin with, by the names of their files, for some agents.
func Examples(agents []*agent.Descriptor) map[string]string {
	var rows strings.Builder
	for _, d := range agents {
		fmt.Fprintf(&rows, "%s = { command = %s }\n", d.Name, commandOf(d))
	}
	files := map[string]string{}
	entries, _ := examples.ReadDir("examples") // it is embedded
	for _, e := range entries {
		text, _ := examples.ReadFile("examples/" + e.Name())
		files[e.Name()] = string(text) + rows.String()
	}
	return files
}
