//go:build linux

package agents_test

import (
	"regexp"

	"github.com/belay-run/belay/internal/e2e/stage"
)

func opencodeAsk(more ...string) []string { return append([]string{"run"}, more...) }

// opencode is opencode, whose tools need no permission in the working directory. It takes four to eight seconds of CPU to start.
var opencode = &agent{
	CLI: stage.Opencode,

	ask: opencodeAsk, work: opencodeAsk,
	headless: "opencode run",

	forms:  map[string][]string{"text": nil, "json": {"--format", "json"}},
	stream: "json",
	varies: func(string) []*regexp.Regexp { return opencodeVaries },
	begins: `"step_start"`, fails: `"type":"error"`,
	toolSteps: `tool(bash: "echo sesame"), tool(bash: "echo sesame; exit 3")`,
	tools:     map[string]int{"bash": 2},
	toolEvent: `"tool_use"`,
	resumed:   map[string]int{"error": 0, "tool_use": 1, "text": 1, "step_finish": 2},
	failures: map[string]failure{
		"BadRequest": {script: "400x*"},
		"AfterATool": {script: "tool(bash: true), 400x*"},
	},

	priced: []string{"-m", "rehearsal/gpt-5"},
	gaveUp: func(string) (string, int) { return "425(type=too_early)", 1 }, // a status that it does not repeat, and Belay does
	inner:  "429(retry-after=1)",

	nothings: map[string]string{
		"none":            opencodeAnswer(``),
		"a blank message": opencodeAnswer(`\n`),
	},
	dailyNothings: []string{"none"},
	emptyRequests: 1,

	text: func(size int) string { return codexText(size, false) },
	sizes: func() []size {
		return []size{{"10KB", codexText(10_000, false)}, {"200KB", codexText(200_000, false)}, {"1MB", codexText(1_000_000, false)},
			{"ManyBytes", codexText(600_000, true)}}
	},
	tooLong: 32<<20 + 1,
	refusal: []string{"opencode"},
	beside:  "\"sum this up\"\npears and plums\n",

	noSession: "ses_e23634cffffe7BTx91ERbyKpKO",
	notFound:  "Session not found: ",
	resumes: func(id string) [][]string {
		return [][]string{opencodeAsk("-s", id, "second"), opencodeAsk("third", "--continue"), opencodeAsk("--session="+id, "fourth")}
	},

	toolRequests: 1,
	fleet:        50, daily: 2,
	everyDay: []string{"TestKinds/Throttled"}, // a start takes eleven seconds of CPU

	differs: opencodeDiffers, scenarios: opencodeScenarios, recorded: opencodeRecorded,
}

var opencodeVaries = []*regexp.Regexp{
	regexp.MustCompile(`(ses|msg|prt|err)_[0-9A-Za-z]+`),
	regexp.MustCompile(`"(timestamp|start|end)":[0-9]+`),
	regexp.MustCompile(`"snapshot":"[0-9a-f]+",?`),
	regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
	regexp.MustCompile(`"date":"[^"]*"`),
	regexp.MustCompile(`req_rehearsal[0-9]+`),
}

// opencodeAnswer is an answer of the API with that text in it.
func opencodeAnswer(text string) string {
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[`
	return "200(content-type=text/event-stream, body=`" + chunk + `{"index":0,"delta":{"role":"assistant","content":"` + text + `"},"finish_reason":null}]}

` + chunk + `{"index":0,"delta":{},"finish_reason":"stop"}]}

` + chunk + `],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}

data: [DONE]

` + "`)"
}
