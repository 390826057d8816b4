//go:build linux

package agents_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// geminiOld is the last gemini of those that begin a new session where there is none to resume, and say nothing of an answer that
// they cannot use.
const geminiOld = "0.40.0"

// geminiAsk makes a prompt of what stands last, if that is no option; else the prompt is on stdin.
func geminiAsk(more ...string) []string {
	last := len(more) - 1
	if last < 0 || strings.HasPrefix(more[last], "-") {
		return slices.Concat(more, []string{"-p", ""})
	}
	return slices.Concat(more[:last], []string{"-p", more[last]})
}

func geminiWork(more ...string) []string {
	return append([]string{"--yolo"}, geminiAsk(more...)...)
}

// gemini is Google's Gemini CLI. It takes two to three seconds of CPU to start.
var gemini = &agent{
	CLI: registered("gemini"),

	ask: geminiAsk, work: geminiWork,
	headless: "gemini -p",

	forms:  map[string][]string{"text": nil, "json": {"-o", "json"}, "stream-json": {"-o", "stream-json"}},
	stream: "stream-json",
	varies: func(string) []*regexp.Regexp { return geminiVaries },
	begins: `"type":"init"`, fails: `"status":"error"`,
	toolSteps: `tool(bash: "echo sesame"), tool(read_file: {"file_path": "/sesame"}), tool(bash: "echo sesame; exit 3")`,
	tools:     map[string]int{"run_shell_command": 2, "read_file": 1},
	toolEvent: `"tool_result"`,
	resumed:   map[string]int{"tool_use": 1, "tool_result": 1, "result": 1},
	failures: map[string]failure{
		"NotFound":   {script: "404x*"},
		"BadRequest": {script: "400x*"},
		"AfterATool": {script: "tool(bash: true), 400x*"},
		"Safety":     {script: "200(stop=SAFETY, body=`" + geminiChunk(`{"text":""}`, "SAFETY") + "`, content-type=text/event-stream)x*", after: geminiOld},
	},

	priced: []string{"-m", "gemini-2.5-flash"},
	gaveUp: func(string) (string, int) { return "408", 1 },
	inner:  "500",

	nothings: map[string]string{
		"none":  geminiAnswer(`{"text":""}`),
		"blank": geminiAnswer(`{"text":" \n"}`),
	},
	dailyNothings: []string{"none"},
	emptyRequests: 4,

	text: geminiText,
	sizes: func() []size {
		return []size{{"10KB", geminiText(10_000)}, {"200KB", geminiText(200_000)}, {"3MB", geminiText(3_000_000)}}
	},
	tooLong: 8<<20 + 1,
	refusal: []string{"8388608", "the text in a file"},
	beside:  "pears and plums\n\n\nsum this up",

	noSession: "00000000-0000-4000-8000-000000000000", notFoundCode: 42,
	resumes: func(id string) [][]string {
		return [][]string{{"-r", id, "-p", "second"}, {"--resume", "latest", "-p", "third"}, {"-p", "fourth", "--resume=" + id}}
	},

	toolRequests: 1,
	fleet:        100, daily: 2,

	differs: geminiDiffers, scenarios: geminiScenarios, recorded: geminiRecorded,
	everyDay: []string{"TestKinds/Throttled", "TestStop_WhileAToolRuns/SIGTERM"},
	unnamed:  true,
}

var geminiVaries = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`),
	regexp.MustCompile(`"timestamp":"[^"]*"`),
	regexp.MustCompile(`_[0-9]{13}_`),
	regexp.MustCompile(`"(duration_ms|totalLatencyMs|totalDurationMs|durationMs)": ?[0-9.]+`),
	regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
}

// geminiChunk is an answer of the API with one part in it.
func geminiChunk(part, reason string) string {
	return fmt.Sprintf(`data: {"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%q,"index":0}],"modelVersion":"gemini-2.5-flash","usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}}

`, part, reason)
}

func geminiAnswer(part string) string {
	return "200(content-type=text/event-stream, body=`" + geminiChunk(part, "STOP") + "`)"
}

// geminiText is a text of that many bytes with a begin and an end.
func geminiText(size int) string {
	var b strings.Builder
	b.WriteString("BEGIN ")
	line := "the quick brown fox jumps over the lazy dog, schnell und unbemerkt – völlig"
	for i := 0; b.Len()+len(line)+30 < size; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, line)
	}
	b.WriteString(strings.Repeat(".", size-b.Len()-4))
	b.WriteString(" END")
	return b.String()
}
