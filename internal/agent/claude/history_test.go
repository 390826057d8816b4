package claude

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/history"
)

const recorded = "11111111-1111-4111-8111-111111111111"

// aRecord is a session as 2.1.325 records it, with what does not matter left out: a request, two calls with their results, an answer.
func aRecord() []string {
	line := func(kind, id, parent, message string) string {
		return `{"parentUuid":` + parent + `,"isSidechain":false,"type":"` + kind + `","message":` + message + `,"uuid":"` + id + `","timestamp":"2026-11-19T01:02:35.541Z","sessionId":"` + recorded + `","version":"2.0.77"}`
	}
	return []string{
		`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-19T01:02:35.386Z","sessionId":"` + recorded + `","content":"do it"}`,
		line("user", "a0000000-0000-4000-8000-000000000001", "null", `{"role":"user","content":"do it"}`),
		line("assistant", "a0000000-0000-4000-8000-000000000002", `"a0000000-0000-4000-8000-000000000001"`, `{"id":"msg_1","model":"m","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}],"usage":{"input_tokens":10,"output_tokens":5}}`),
		line("assistant", "a0000000-0000-4000-8000-000000000003", `"a0000000-0000-4000-8000-000000000002"`, `{"id":"msg_1","model":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"echo one"}}]}`),
		line("user", "a0000000-0000-4000-8000-000000000004", `"a0000000-0000-4000-8000-000000000003"`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"the first"}]}`),
		line("assistant", "a0000000-0000-4000-8000-000000000005", `"a0000000-0000-4000-8000-000000000004"`, `{"id":"msg_2","model":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"echo two"}}]}`),
		line("user", "a0000000-0000-4000-8000-000000000006", `"a0000000-0000-4000-8000-000000000005"`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"the second"}]}`),
		line("assistant", "a0000000-0000-4000-8000-000000000007", `"a0000000-0000-4000-8000-000000000006"`, `{"id":"msg_3","model":"m","role":"assistant","content":[{"type":"text","text":"all done"}]}`),
	}
}

// with replaces something in a line.
func with(i int, old, replaced string) func([]string) []string {
	return func(l []string) []string {
		l[i] = strings.Replace(l[i], old, replaced, 1)
		return l
	}
}

func without(i int) func([]string) []string {
	return func(l []string) []string { return append(l[:i], l[i+1:]...) }
}

func TestRecords(t *testing.T) {
	anImage := agenttest.LargeImage()
	image := func(media, data string) func([]string) []string {
		return with(4, `"content":"the first"`, `"content":[{"type":"text","text":"the first"},{"type":"image","source":{"type":"base64","media_type":"`+media+`","data":"`+data+`"}}]`)
	}
	apiError := func(text string) func([]string) []string {
		return func(l []string) []string {
			return append(l, strings.Replace(strings.Replace(l[7], "all done", text, 1), `"isSidechain"`, `"isApiErrorMessage":true,"isSidechain"`, 1))
		}
	}
	agenttest.Records(t, &records, "projects/-work/"+recorded+".jsonl", recorded, aRecord(), []agenttest.Damage{
		{Name: "torn", Change: func(l []string) []string { return append(l[:7], l[7][:60]) }, Flaws: []history.Flaw{history.Torn}, Keeps: "the second"},
		{Name: "zeros", Change: func(l []string) []string { return append(l, strings.Repeat("\x00", 100)) }, Flaws: []history.Flaw{history.Torn}, Keeps: "all done"},
		{Name: "no result", Change: without(4), Flaws: []history.Flaw{history.Unanswered, history.Broken}, Keeps: `"tool_use_id":"toolu_1"`},
		{Name: "no result at the end", Change: func(l []string) []string { return l[:6] }, Flaws: []history.Flaw{history.Unanswered}, Keeps: "the first"},
		{Name: "no call", Change: without(3), Flaws: []history.Flaw{history.Broken, history.Unasked}, Keeps: "the second", Lacks: "the first"},
		{Name: "call twice", Change: func(l []string) []string { return append(l[:7], strings.Replace(l[5], "0005", "0009", 1), l[7]) }, Flaws: []history.Flaw{history.Twice}, Keeps: "all done"},
		{Name: "result twice", Change: func(l []string) []string { return append(l[:7], strings.Replace(l[6], "000006", "000009", 1), l[7]) }, Flaws: []history.Flaw{history.Twice}, Keeps: "all done"},
		{Name: "result before its call", Change: func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }, Flaws: []history.Flaw{history.Unasked, history.Unanswered}, Keeps: "the second"},
		{Name: "bad id", Change: func(l []string) []string {
			for i := range l {
				l[i] = strings.ReplaceAll(l[i], "toolu_1", "toolu 1")
			}
			return l
		}, Flaws: []history.Flaw{history.Nameless}, Keeps: "the second", Lacks: "the first"},
		{Name: "nothing in a message", Change: with(7, `{"type":"text","text":"all done"}`, ""), Flaws: []history.Flaw{history.Empty}, Keeps: "the second"},
		{Name: "line twice", Change: func(l []string) []string { return append(l, l[7]) }, Flaws: []history.Flaw{history.Doubled}, Keeps: "all done"},
		{Name: "no predecessor in a result", Change: with(4, `"parentUuid":"a0000000-0000-4000-8000-000000000003"`, `"parentUuid":null`), Flaws: []history.Flaw{history.Broken}, Keeps: `"parentUuid":"a0000000-0000-4000-8000-000000000003"`},
		{Name: "a role that is none", Change: with(7, `"role":"assistant"`, `"role":"assistent"`), Flaws: []history.Flaw{history.Torn}, Keeps: "the second", Lacks: "all done"},
		{Name: "an unanswered call with an image", Change: func(l []string) []string { return without(3)(image("image/png", anImage)(l)) },
			Flaws: []history.Flaw{history.Broken, history.Unasked}, Keeps: "the second", Lacks: "was left out"},
		{Name: "a part of no kind", Change: func(l []string) []string {
			l[7] = strings.Replace(l[7], `[{"type":"text"`, `[{"tipe":"text","text":"lost"},{"type":"text"`, 1)
			return apiError("API Error: 400 messages.6.content.0: Input tag '' found using 'type' does not match any of the expected tags: 'text', 'thinking'")(l)
		}, Flaws: []history.Flaw{history.Untyped}, Keeps: "all done", Lacks: "lost"},
		{Name: "empty text", Change: with(7, "all done", ""), Flaws: []history.Flaw{history.Empty}, Keeps: "the second"},
		{Name: "large image", Change: image("image/png", anImage), Flaws: []history.Flaw{history.LargeImage}, Keeps: "the first", Lacks: anImage},
		{Name: "unreadable image", Change: image("image/png", "AAAA"), Flaws: []history.Flaw{history.BadImage}, Keeps: "the first"},
		{Name: "refused thinking", Change: apiError("API Error: 400 messages.1.content.0: Invalid `signature` in `thinking` block"), Flaws: []history.Flaw{history.Unsigned}, Keeps: "the first", Lacks: "c2ln"},
		{Name: "refused kind", Change: func(l []string) []string {
			l[7] = strings.Replace(l[7], `[{"type":"text"`, `[{"type":"foo"},{"type":"text"`, 1)
			return apiError("API Error: 400 messages.6.content.0: Input tag 'foo' found using 'type' does not match any of the expected tags: 'text', 'thinking'")(l)
		}, Flaws: []history.Flaw{history.Untyped}, Keeps: "all done", Lacks: `"type":"foo"`},
		{Name: "too long", Change: apiError("Prompt is too long"), Flaws: []history.Flaw{history.TooLong}},
		{Name: "no request", Change: func(l []string) []string { return l[:1] }, Flaws: []history.Flaw{history.NoRequest}},
	})
}
