package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("boom") }

func TestContext(t *testing.T) {
	const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz"
	var noLocation *time.Location // a nil pointer with a method String
	for name, tt := range map[string]struct {
		value any
		want  string
	}{
		"ticket":        {42, `42`},
		"step":          {"deploy", `"deploy"`},
		"ok":            {false, `false`},
		"nothing":       {nil, `null`},
		"cause":         {errors.New("no luck with " + key), `"no luck with [redacted]"`},
		"at":            {time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), `"2026-11-15T12:00:00Z"`},
		"took":          {90 * time.Second, `"1m30s"`},
		"nested":        {map[string]any{"user": "ann", "password": "hunter2", "url": "https://u:secret@host/"}, `{"password":"[redacted]","url":"https://[redacted]@host/","user":"ann"}`},
		"api_key":       {"anything", `"[redacted]"`},
		"token":         {12345, `"[redacted]"`},
		"channel":       {make(chan int), `"chan int"`},
		"broken":        {panics{}, `"journal_test.panics"`},
		"location":      {noLocation, `"UTC"`},
		"prompt":        {"tell me", `{"bytes":7,"sha256":"` + hash("tell me") + `"}`},
		"system_prompt": {"be kind", `{"bytes":7,"sha256":"` + hash("be kind") + `"}`},
		"toolOutput":    {[]int{1, 2}, `{"bytes":5,"sha256":"` + hash("[1,2]") + `"}`},
	} {
		var got map[string]json.RawMessage
		if err := json.Unmarshal(journal.Context(map[string]any{name: tt.value}), &got); err != nil || string(got[name]) != tt.want {
			t.Errorf("%s: %s, want %s (%v)", name, got[name], tt.want, err)
		}
	}
	if got := journal.Context(nil); got != nil {
		t.Errorf("nothing is %s", got)
	}
}

// Whatever it is given, a context fits into a line, and no half of a secret is in it.
func TestContext_Bounded(t *testing.T) {
	const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz"
	many := map[string]any{}
	for i := range 100 {
		many[fmt.Sprintf("%02d%s", i, strings.Repeat("n", 300))] = strings.Repeat("v", 300)
	}
	for name, values := range map[string]map[string]any{
		"many":   many,
		"long":   {"text": strings.Repeat("x", 489) + " " + key + " " + strings.Repeat("y", 1<<20)},
		"nested": {"list": strings.Split(strings.Repeat("word ", 10000), " ")},
		"keys":   {"text": strings.Repeat(key+" ", 200)},
		"object": {"o": map[string]any{"password": "sk-ant", "rest": strings.Repeat("z ", 5000)}},
		"wide":   {"text": strings.Repeat("ü", 5000)},
	} {
		t.Run(name, func(t *testing.T) {
			context := journal.Context(values)
			if !json.Valid(context) || strings.Contains(string(context), "sk-ant") {
				t.Errorf("%.200s", context)
			}
			detail, _ := json.Marshal(map[string]json.RawMessage{"context": context})
			path := t.TempDir() + "/log"
			log := journal.Log{Path: path}
			must.OK(t, log.Append(journal.Entry{Kind: journal.Audit, Event: journal.Failure, Error: strings.Repeat("e", 9000), Detail: detail}))
			list, torn := read(t, path)
			if len(list) != 1 || torn != 0 {
				t.Fatalf("%d entries, %d torn", len(list), torn)
			}
			e := list[0]
			if len(e.Detail) == 0 {
				t.Error("nothing of it is left")
			}
			if name == "many" && !strings.Contains(string(e.Detail), `"…":80`) {
				t.Errorf("nothing says how many are missing: %s", e.Detail)
			}
		})
	}
}
