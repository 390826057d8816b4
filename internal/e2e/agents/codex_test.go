//go:build linux

package agents_test

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// codexOld is the last codex of those that give up at any 429, and ask again where that cannot help.
const codexOld = "0.160.1"

// codexChars is the most that codex takes.
const codexChars = 1 << 20

func codexAsk(more ...string) []string {
	return append([]string{"exec", "--skip-git-repo-check"}, more...)
}

func codexWork(more ...string) []string {
	return codexAsk(append([]string{"--dangerously-bypass-approvals-and-sandbox"}, more...)...)
}

// codex is Codex. Not every machine has a sandbox for its tools, and not every directory is a repository.
var codex = &agent{
	CLI: stage.Codex,

	ask: codexAsk, work: codexWork,
	headless: "codex exec",

	forms:  map[string][]string{"text": nil, "json": {"--json"}},
	stream: "json",
	varies: func(string) []*regexp.Regexp { return codexVaries },
	begins: `"thread.started"`, fails: `"error"`,
	toolSteps: `tool(bash: "echo sesame"), tool(bash: "echo sesame; exit 3")`,
	tools:     map[string]int{"command_execution": 2},
	toolEvent: `"command_execution"`,
	resumed: map[string]int{"turn.failed": 0, "turn.completed": 1, "item.started command_execution": 1, "item.completed command_execution": 1,
		"item.completed agent_message": 1},
	failures: map[string]failure{
		"BadRequest": {script: "400x*"},
		"MaxOutput":  {script: "200(stop=max_output_tokens)x*", after: codexOld}, // which tries that six times
		"AfterATool": {script: "tool(bash: true), 400x*"},
	},

	priced: []string{"-m", "gpt-5"},
	gaveUp: func(string) (string, int) { return "overloaded-mid", 1 },
	inner:  "drop-mid(in=0)",

	nothings: map[string]string{
		"none":              codexAnswer(""),
		"an empty message":  codexAnswer(codexMessage(`{"type":"output_text","text":"","annotations":[]}`)),
		"a blank message":   codexAnswer(codexMessage(`{"type":"output_text","text":"\n","annotations":[]}`)),
		"a refusal's part":  codexAnswer(codexMessage(`{"type":"refusal","refusal":"I cannot help with that."}`)),
		"nothing in a part": codexAnswer(codexMessage("")),
	},
	dailyNothings: []string{"none"},
	emptyRequests: 1,

	text: func(size int) string { return codexText(size, false) },
	sizes: func() []size {
		return []size{{"10KB", codexText(10_000, false)}, {"200KB", codexText(200_000, false)},
			{"ManyBytes", codexText(600_000, true)}, {"Most", codexText(codexChars, false)}}
	},
	tooLong: codexChars + 1,
	refusal: []string{"codex", "file"},
	beside:  "sum this up\n\n<stdin>\npears and plums\n</stdin>",

	noSession: "01a1dc8b-2e9a-7b42-ba45-231e3027132a",
	notFound:  "no rollout found for thread id ",
	resumes: func(id string) [][]string {
		return [][]string{codexAsk("resume", id, "second"), codexAsk("resume", "--last", "third"), {"exec", "resume", "--skip-git-repo-check", id, "fourth"}}
	},

	toolRequests: 2, // after ten seconds it asks the model what to do about the tool
	fleet:        200, daily: 3,

	differs: codexDiffers, scenarios: codexScenarios,
}

var codexVaries = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`),
	regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
	regexp.MustCompile(`req_rehearsal[0-9]+`),
}

// codexAnswer is an answer of the API with these items in it.
func codexAnswer(items string) string {
	return "200(content-type=text/event-stream, body=`" + fmt.Sprintf(`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}

%sevent: response.completed
data: {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}}}

`, items) + "`)"
}

func codexMessage(content string) string {
	return fmt.Sprintf(`event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[%s]}}

`, content)
}

// codexText is a text of that many characters, all of them or none of one byte, with a begin and an end.
func codexText(chars int, wide bool) string {
	line := "the quick brown fox jumps over the lazy dog"
	if wide {
		line = "请帮我看看这段很长的文字到底完整地到了没有"
	}
	var b strings.Builder
	b.WriteString("BEGIN ")
	n := 6
	for i := 0; ; i++ {
		next := fmt.Sprintf("%d %s\n", i, line)
		if size := utf8.RuneCountInString(next); n+size+4 <= chars {
			b.WriteString(next)
			n += size
			continue
		}
		return b.String() + strings.Repeat(".", chars-n-4) + " END"
	}
}
