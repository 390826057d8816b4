package custom

import (
	"errors"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// A profile that would judge everything alike, or take long to ask, is refused, with the key that is wrong.
func TestCheck_Hostile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a.", 1000) + "a"
	for key, spoil := range map[string]func(d *Definition){
		"rule[1]":       func(d *Definition) { d.Rules[0].Status, d.Rules[0].Match = nil, ".*" },
		"rule[2]":       func(d *Definition) { d.Rules[1].Match = "x*" },
		"rule[3]":       func(d *Definition) { d.Rules[2].Match = strings.Repeat("a|", 3000) + "b" },
		"rule[4]":       func(d *Definition) { d.Rules[3].Match = "(a{1000}){1000}" },
		"rule[5]":       func(d *Definition) { d.Rules[4].Match = `\w|\W` },
		"event[7].when": func(d *Definition) { d.Events[6].When = map[string]any{"type": "/./"} },
		"rule":          func(d *Definition) { d.Rules = make([]Rule, 100_000) },
		"event":         func(d *Definition) { d.Events = make([]Event, 100_000) },
		"options":       func(d *Definition) { d.Options = make(agent.Table, 100_000) },
		"daemons":       func(d *Definition) { d.Daemons = []string{"--server", "."} },
		"record":        func(d *Definition) { d.Record = "../{session}" },
		"failed":        func(d *Definition) { d.Failed = "(.*)" },
		"event[2].text": func(d *Definition) { d.Events[1].Paths[FieldText] = deep },
	} {
		d := toy()
		spoil(d)
		wrong, ok := errors.AsType[*KeyError](d.Check())
		if !ok || wrong.Key != key {
			t.Errorf("%s: %v", key, d.Check())
		}
	}
	d := toy()
	d.Rules = []Rule{
		{Rule: verdict.Rule{Name: "empty", Class: verdict.Auth, Match: "^$"}},
		{Rule: verdict.Rule{Name: "code", Class: verdict.Auth, Exit: []int{3}}},
		{Rule: verdict.Rule{Name: "any text", Class: verdict.Auth, Exit: []int{3}, Match: ".*"}},
		{Rule: verdict.Rule{Name: "status", Class: verdict.Auth, Match: ".*"}, Status: []int{418}},
	}
	d.Events[0].When = map[string]any{"type": "/.*/"}
	d.Status = `(\d*)`
	d.Session.ID = ".*"
	if err := d.Check(); err != nil {
		t.Errorf("what does not judge everything alike, and worked before: %v", err)
	}
}
