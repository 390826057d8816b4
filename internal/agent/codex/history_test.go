package codex

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/history"
)

const recordedThread = "01a1f155-1ba5-7561-95cf-599b7aca3878"

// aRecord is a thread as 0.166.0 records it, with what does not matter left out.
func aRecord() []string {
	line := func(kind, payload string) string {
		return `{"timestamp":"2026-11-19T01:04:09.541Z","type":"` + kind + `","payload":` + payload + `}`
	}
	return []string{
		line("session_meta", `{"id":"`+recordedThread+`","timestamp":"2026-11-19T01:04:09.541Z","cwd":"/work","originator":"codex_exec","cli_version":"0.166.0","source":"exec"}`),
		line("turn_context", `{"cwd":"/work","model":"gpt-6.1-sol"}`),
		line("response_item", `{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"do it"}]}`),
		line("response_item", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}`),
		line("response_item", `{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{\"cmd\":\"echo one\"}","call_id":"call_1"}`),
		line("response_item", `{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"the first"}`),
		line("response_item", `{"type":"custom_tool_call","id":"fc_2","name":"apply_patch","input":"echo two","call_id":"call_2"}`),
		line("response_item", `{"type":"custom_tool_call_output","id":"fco_2","call_id":"call_2","output":"the second"}`),
		line("response_item", `{"type":"message","id":"msg_2","role":"assistant","content":[{"type":"output_text","text":"all done"}]}`),
	}
}

const recordName = "sessions/2026/11/19/rollout-2026-11-19T01-04-09-" + recordedThread + ".jsonl"

func TestRecords(t *testing.T) {
	without := func(i int) func([]string) []string {
		return func(l []string) []string { return append(l[:i], l[i+1:]...) }
	}
	with := func(i int, old, replaced string) func([]string) []string {
		return func(l []string) []string {
			l[i] = strings.Replace(l[i], old, replaced, 1)
			return l
		}
	}
	failed := func(message string) func([]string) []string {
		return func(l []string) []string {
			return append(l, `{"timestamp":"2026-11-19T01:04:09.541Z","type":"event_msg","payload":{"type":"task_complete","error":{"message":"`+message+`"}}}`)
		}
	}
	agenttest.Records(t, &records, recordName, recordedThread, aRecord(), []agenttest.Damage{
		{Name: "torn", Change: func(l []string) []string { return append(l[:8], l[8][:60]) }, Flaws: []history.Flaw{history.Torn}, Keeps: "the second"},
		{Name: "bytes that are no text", Change: with(8, "all done", "all \xff"), Flaws: []history.Flaw{history.Torn}, Keeps: "the second"},
		{Name: "no head", Change: without(0), Flaws: []history.Flaw{history.Headless}, Keeps: `"cwd":"/work","id"`},
		{Name: "no result", Change: without(7), Flaws: []history.Flaw{history.Unanswered}, Keeps: `"type":"custom_tool_call_output"`},
		{Name: "no call", Change: without(4), Flaws: []history.Flaw{history.Unasked}, Keeps: "the second", Lacks: "the first"},
		{Name: "call twice", Change: func(l []string) []string {
			return append(l[:5], append([]string{strings.Replace(l[4], "fc_1", "fc_9", 1)}, l[5:]...)...)
		}, Flaws: []history.Flaw{history.Twice}, Keeps: "all done"},
		{Name: "result twice", Change: func(l []string) []string { return append(l, strings.Replace(l[7], "fco_2", "fco_9", 1)) }, Flaws: []history.Flaw{history.Twice}, Keeps: "all done"},
		{Name: "line twice", Change: func(l []string) []string { return append(l, l[8]) }, Flaws: []history.Flaw{history.Doubled}, Keeps: "all done"},
		{Name: "call that is refused", Change: func(l []string) []string {
			return failed("No tool output found for function call call_1.")(l)
		}, Flaws: []history.Flaw{history.Named}, Keeps: "the second", Lacks: "the first"},
		{Name: "result before its call", Change: func(l []string) []string { l[4], l[5] = l[5], l[4]; return l }, Flaws: []history.Flaw{history.Unasked, history.Unanswered}, Keeps: "the second"},
		{Name: "large image", Change: with(5, `"the first"`, `[{"type":"input_text","text":"the first"},{"type":"input_image","image_url":"data:image/png;base64,`+agenttest.LargeImage()+`"}]`),
			Flaws: []history.Flaw{history.LargeImage}, Keeps: "the first", Lacks: "base64"},
		{Name: "image of another type", Change: with(2, `[{`, `[{"type":"input_image","image_url":"data:image/webp;base64,R0lGODdhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs="},{`),
			Flaws: []history.Flaw{history.WrongImage}, Keeps: "do it", Lacks: "base64"},
		{Name: "refused reasoning", Change: failed("The encrypted content c2ln... could not be verified."), Flaws: []history.Flaw{history.Unsigned}, Keeps: "all done", Lacks: "c2ln"},
		{Name: "too long", Change: failed("Codex ran out of room in the model's context window."), Flaws: []history.Flaw{history.TooLong}},
		{Name: "empty", Change: func([]string) []string { return []string{""} }, Flaws: []history.Flaw{history.NoRequest, history.Headless, history.Torn}},
	})
}
