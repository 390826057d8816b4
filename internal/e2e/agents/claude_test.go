//go:build linux

package agents_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// claude is Claude Code.
var claude = &agent{
	CLI: stage.Claude,

	ask: func(more ...string) []string { return append([]string{"-p"}, more...) },
	work: func(more ...string) []string {
		return slices.Concat([]string{"-p"}, more, []string{"--allowedTools", "Bash,Read"})
	},
	headless: "claude -p",

	forms: map[string][]string{
		"text":        nil,
		"json":        {"--output-format", "json"},
		"stream-json": {"--output-format", "stream-json", "--verbose"},
	},
	stream: "stream-json",
	varies: func(version string) []*regexp.Regexp {
		if stage.UpTo(version, "2.0.77") {
			return append(slices.Clone(claudeVaries), claudeVariesOldest...)
		}
		return claudeVaries
	},
	begins: `"subtype":"init"`, fails: "API Error",
	toolSteps: `tool(bash: "echo sesame"), tool(Read: {"file_path": "/sesame"}), tool(bash: "echo sesame; exit 3")`,
	tools:     map[string]int{"Bash": 2, "Read": 1},
	toolEvent: `"tool_result"`,
	resumed:   map[string]int{"result": 1, "user": 1, "assistant": 2, "stream_event": 0},
	failures: map[string]failure{
		"NotFound":   {script: "404x*"},
		"BadRequest": {script: "400x*"},
		"MaxTurns":   {script: "tool(bash: true)x*", args: []string{"--max-turns", "2"}},
	},

	once:   []string{"CLAUDE_CODE_MAX_RETRIES=0"},
	priced: []string{"--model", "claude-sonnet-4-5"},
	gaveUp: func(version string) (string, int) {
		if stage.UpTo(version, "2.0.77") {
			return "500x2", 2 // it asks once more without a stream
		}
		return "500(x-should-retry=false)", 1
	},
	inner: "429(retry-after=1)",

	nothings:      map[string]string{"none": claudeEmpty, "newline": `200(text="\n")`, "blank": `200(text="  \n \n")`},
	dailyNothings: []string{"none"},
	emptyRequests: 2,

	text: claudeText,
	sizes: func() []size {
		return []size{{"10KB", claudeText(10_000)}, {"200KB", claudeText(200_000)}, {"3MB", claudeText(3_000_000)}}
	},
	tooLong: 32<<20 + 1,
	refusal: []string{"33554432", "ut the text in a file"},

	noSession: "00000000-0000-4000-8000-000000000000",
	notFound:  "No conversation found with session ID: ",
	resumes: func(id string) [][]string {
		return [][]string{{"-p", "--resume", id, "second"}, {"-p", "-c", "third"}, {"--continue", "--print", "fourth"}}
	},

	toolRequests: 1,
	fleet:        1000, daily: 2,

	differs: claudeDiffers, scenarios: claudeScenarios,
	// Every day TestSeed000 has its limits, failures, deadlines and prompts, TestBooks (internal/e2e/record) its usage, and TestClaude_Run (the root package) its
	// sessions; what Belay does with output and signals is the same for codex, which takes half the CPU.
	rarely: []string{"TestScenario", "TestTRNS05_Retry", "TestINTEG04_LongPrompts", "TestINTEG05_TimedOut", "TestOUT03_Format", "TestCost_StalledAttemptCounts", "TestPrompt_Text",
		"TestPrompt_PipedInput", "TestOutput_StreamIsLive", "TestOutput_ReaderLeaves", "TestEmpty_AfterATool", "TestStop_WhileItWaits", "TestResume_OrNew", "TestEmpty_Answer", "TestOUT04_Usage", "TestTRNS06_Session", "TestGitHub", "TestINTEG01_Calls"},
}

var claudeVaries = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`),
	regexp.MustCompile(`"(duration_ms|duration_api_ms|ttft_ms|ttft_stream_ms|time_to_request_ms|first_content_frame_ms|time_origin_ms|timestamp|durationMs)":("[^"]*"|[0-9.]+)`),
	regexp.MustCompile(`(msg|req|toolu)_rehearsal[0-9]+`),
	regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
	regexp.MustCompile(`"retry_delay_ms":[0-9.]+`),
	regexp.MustCompile(`"messaging_socket_path":"[^"]*"`),
}

// claudeVariesOldest are more such values of 2.0.77, which warms up and asks a small model beside its work.
var claudeVariesOldest = []*regexp.Regexp{
	regexp.MustCompile(`"total_cost_usd":[0-9.e-]+`),
	regexp.MustCompile(`"modelUsage":\{("[^"]*":\{[^}]*\},?)*\}`),
	regexp.MustCompile(`"stop_reason":("[a-z_]*"|null)`),
}

// claudeEmpty is an answer of the API with nothing in it. Versions from 2.1.185 on ask once more for one that can be seen.
const claudeEmpty = "200(content-type=text/event-stream, body=`" + `event: message_start
data: {"type":"message_start","message":{"id":"msg_empty","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

` + "`)"

// claudeText is a text of that many bytes with a begin and an end. Most of its characters have three bytes: claude itself
// finds three million of one byte too many, before it asks the API.
func claudeText(size int) string {
	var b strings.Builder
	b.WriteString("BEGIN ")
	line := "请帮我看看这段很长的文字到底完整地到了没有"
	for i := 0; b.Len()+len(line)+30 < size; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, line)
	}
	b.WriteString(strings.Repeat(".", size-b.Len()-4))
	b.WriteString(" END")
	return b.String()
}
