package agent_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

// long reads one long line, in writes of that size.
func long(t testing.TB, text string, step int) agent.Line {
	t.Helper()
	var got []agent.Line
	lines := agent.Lines{Spool: spool, Each: func(l agent.Line) { got = append(got, l.Keep()) }}
	for rest := text + "\n"; rest != ""; {
		n := min(step, len(rest))
		lines.Write([]byte(rest[:n]))
		rest = rest[n:]
	}
	lines.Close()
	if len(got) != 1 || got[0].Long == nil {
		t.Fatalf("%d lines, the first %.100s", len(got), got[0].Text)
	}
	return got[0]
}

func quoted(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// The texts are of the kinds that are hard to cut: escapes, characters of several bytes, pairs of escapes.
var texts = map[string]string{
	"Plain":   strings.Repeat("All is well. ", 90_000),
	"Quotes":  strings.Repeat("\"\\", 300_000),
	"Unicode": strings.Repeat("é€😀", 130_000),
	"Lines":   strings.Repeat("a\nb\t", 200_000),
}

func TestLongLine_Answer(t *testing.T) {
	for name, want := range texts {
		for _, step := range []int{1 << 20, 4099, 61} {
			t.Run(fmt.Sprint(name, "/", step), func(t *testing.T) {
				line := long(t, `{"type":"result","is_error":false,"result":`+quoted(want)+`,"total_cost_usd":0.5,"more":{"result":"short"}}`, step)
				var e struct {
					Type   string
					Result string
					Cost   float64 `json:"total_cost_usd"`
					More   map[string]string
				}
				if err := json.Unmarshal(line.Text, &e); err != nil {
					t.Fatalf("%v in %.200s", err, line.Text)
				}
				if e.Type != "result" || e.Cost != 0.5 || e.More["result"] != "short" || len(line.Text) > 64<<10 {
					t.Errorf("%d bytes: %.300s", len(line.Text), line.Text)
				}
				head, tail, ok := strings.Cut(e.Result, "…")
				if !ok || len(head) < 1000 || len(tail) < 1000 || !strings.HasPrefix(want, head) || !strings.HasSuffix(want, tail) {
					t.Errorf("cut to %.50q … %.50q", head, tail)
				}
				var got strings.Builder
				if _, err := agent.NewAnswer(line, "result", e.Result).WriteTo(&got); err != nil || got.String() != want {
					t.Errorf("%v; %d bytes of %d", err, got.Len(), len(want))
				}
				if s := agent.NewAnswer(line, "more.result", e.More["result"]).String(); s != "short" {
					t.Errorf("%.100q", s)
				}
			})
		}
	}
}

// The escapes of one character may be far apart in the file.
func TestLongLine_EscapedPairs(t *testing.T) {
	for shift := range 7 {
		text := strings.Repeat("x", shift) + strings.Repeat(`\ud83d\ude00\ud83d`, 65_000)
		var want string
		must.OK(t, json.Unmarshal([]byte(`"`+text+`"`), &want))
		var got strings.Builder
		line := long(t, `{"item":{"text":"`+text+`"}}`, 100_000)
		if _, err := agent.NewAnswer(line, "item.text", "").WriteTo(&got); err != nil || got.String() != want {
			t.Errorf("%d: %v; %d bytes of %d", shift, err, got.Len(), len(want))
		}
	}
}

func TestLongLine_WriteWithout(t *testing.T) {
	big := quoted(strings.Repeat("x", agent.MaxLine))
	for text, want := range map[string]string{
		`{"a":1,"gone":{"x":[1,2]},"b":` + big + `}`:     `{"a":1,"b":` + big + `}`,
		`{"gone":1, "b":` + big + `}`:                    `{"b":` + big + `}`,
		`{"b":` + big + `, "gone" : [ {"gone":2} ] }`:    `{"b":` + big + ` }`,
		`{"b":` + big + `,"c":{"gone":1}}`:               `{"b":` + big + `,"c":{"gone":1}}`,
		`{"gone":` + big + `}`:                           `{}`,
		`{"b":` + big + `,"gone":"x\"}","d":true,"e":5}`: `{"b":` + big + `,"d":true,"e":5}`,
	} {
		var got strings.Builder
		if err := long(t, text, 65_536).Long.WriteWithout(&got, "gone"); err != nil || got.String() != want {
			t.Errorf("%.60s…%.60s: %v, %.60s…%s", text, text[len(text)-40:], err, got.String(), got.String()[max(0, got.Len()-40):])
		}
	}
}

// What is large in other ways than by one string: many fields, long lists, deep nesting. What stands beside it is read.
func TestLongLine_LargeInOtherWays(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s+",", 1<<20/len(s)) + s }
	for name, big := range map[string]string{
		"List":    `[` + many(`{"path":"a/b.go","lines":[1,2,3]}`) + `]`,
		"Numbers": `[` + many(`1`) + `]`,
		"Object":  `{` + many(`"k":"v"`) + `}`,
		"Strings": `[` + strings.Repeat(quoted(strings.Repeat("z", 20_000))+",", 100) + `""]`,
		"Deep":    strings.Repeat(`[`, 600_000) + strings.Repeat(`]`, 600_000),
		"Deeper":  strings.Repeat(`{"a":[`, 200_000) + `1,{"b":2}` + strings.Repeat(`]}`, 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			line := long(t, `{"type":"user","message":{"content":[{"content":`+big+`,"tool_use_id":"t1"}]},"session_id":"s","extra":`+big+`,"uuid":"u"}`, 65_536)
			var e struct {
				Type    string
				Message struct {
					Content []struct {
						ToolUseID string `json:"tool_use_id"`
					}
				}
				Session string `json:"session_id"`
				UUID    string
			}
			if err := json.Unmarshal(line.Text, &e); err != nil {
				t.Fatalf("%v in %.200s", err, line.Text)
			}
			if e.Type != "user" || e.Session != "s" || e.UUID != "u" || len(e.Message.Content) != 1 || e.Message.Content[0].ToolUseID != "t1" {
				t.Errorf("%+v", e)
			}
			if len(line.Text) > 3<<20 {
				t.Errorf("%d bytes", len(line.Text))
			}
		})
	}
}

// The objects in a long list can be lines of their own.
func TestLines_LongList(t *testing.T) {
	var list []string
	for i := range 3000 {
		list = append(list, fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("x", 500)))
	}
	list = append(list, `{"type":"result","result":`+quoted(texts["Quotes"])+`}`)
	var got []string
	var answer strings.Builder
	lines := agent.Lines{Lists: true, Spool: spool, Each: func(l agent.Line) {
		got = append(got, string(l.Text))
		if strings.HasPrefix(string(l.Text), `{"type":"result"`) {
			agent.NewAnswer(l, "result", "").WriteTo(&answer)
		}
	}}
	text := "[" + strings.Join(list, ",\n ") + "]"
	text = strings.ReplaceAll(text, "\n", "") + "\n"
	for len(text) > 0 {
		n := min(len(text), 50_000)
		lines.Write([]byte(text[:n]))
		text = text[n:]
	}
	lines.Close()
	if len(got) != len(list)+1 || got[0] != list[0] || got[2999] != list[2999] || got[len(list)] != "[]" {
		t.Fatalf("%d lines: %.200q … %.200q", len(got), got[0], got[len(got)-1])
	}
	if answer.String() != texts["Quotes"] {
		t.Errorf("%d bytes of %d", answer.Len(), len(texts["Quotes"]))
	}
	if last := got[len(list)-1]; !json.Valid([]byte(last)) || !strings.HasPrefix(last, `{"type":"result","result":"`) {
		t.Errorf("%.100q", last)
	}
}

// Whatever JSON it is: the abridged line is JSON too, small values are as they were, and the whole can be had.
func FuzzLongLine(f *testing.F) { // not in make test: each input is a megabyte
	f.Add(`{"a":"b","c":[1,2,{"d":null}],"e":"é\u00e9\n"}`, `x\ud83d\ude00é`, uint16(100))
	f.Add(`[1,"2",{"a":{}}]`, `\\\"`, uint16(7))
	f.Add(`{}`, ``, uint16(1))
	f.Fuzz(func(t *testing.T, small, piece string, step uint16) {
		var value, text any
		if json.Unmarshal([]byte(small), &value) != nil || json.Unmarshal([]byte(`"`+piece+`"`), &text) != nil {
			return
		}
		if strings.ContainsAny(small, "\n\r") || len(small) > 2000 || len(piece) > 2000 || len(piece) == 0 {
			return
		}
		big := strings.Repeat(piece, agent.MaxLine/len(piece)+1)
		var want string
		if json.Unmarshal([]byte(`"`+big+`"`), &want) != nil {
			return
		}
		line := long(t, `{"before":`+small+`,"result":"`+big+`","after":`+small+`}`, int(step)+50)
		var got struct {
			Before, After any
			Result        string
		}
		if err := json.Unmarshal(line.Text, &got); err != nil {
			t.Fatalf("%v in %.300s", err, line.Text)
		}
		if !reflect.DeepEqual(got.Before, value) || !reflect.DeepEqual(got.After, value) {
			t.Errorf("%v and %v, want %v", got.Before, got.After, value)
		}
		var all strings.Builder
		if _, err := agent.NewAnswer(line, "result", got.Result).WriteTo(&all); err != nil || all.String() != want {
			t.Errorf("%v: %d bytes of %d", err, all.Len(), len(want))
		}
		var without strings.Builder
		if err := line.Long.WriteWithout(&without, "result"); err != nil || without.String() != `{"before":`+small+`,"after":`+small+`}` {
			t.Errorf("%v: %.300s", err, without.String())
		}
	})
}
