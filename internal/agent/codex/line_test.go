package codex

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

const thread = "01a1dda8-7cdc-7952-9936-ec801d7b5e7d"

// words cuts a command line at spaces.
func words(s string) []string { return strings.Fields(s) }

func TestHeadless(t *testing.T) {
	for line, want := range map[string]bool{
		"codex exec hi":                            true,
		"codex e hi":                               true,
		"codex exec":                               true,
		"codex exec -- review":                     true, // a prompt
		"codex -m x --search exec hi":              true,
		"codex exec resume " + thread + " hi":      true,
		"codex exec --json resume --last":          true,
		"codex exec --a-new-flag hi":               true,
		"codex":                                    false,
		"codex hi":                                 false,
		"codex -- exec":                            false,
		"codex -i a.png exec":                      false, // exec is an image here
		"codex --a-new-flag exec hi":               false, // it may take a value
		"codex login":                              false,
		"codex review":                             false,
		"codex resume --last":                      false,
		"codex mcp list":                           false,
		"codex exec review --uncommitted":          true,
		"codex e --json review --base main":        true,
		"codex exec review":                        true, // codex wants to know of what
		"codex exec review -h":                     false,
		"codex exec hi review":                     false,
		"codex exec fork " + thread:                false,
		"codex exec help":                          false,
		"codex exec --help":                        false,
		"codex exec -V":                            false,
		"codex exec resume -h":                     false,
		"codex exec hi resume " + thread:           false, // hi is what it resumes with
		"codex exec --output-schema review resume": true,  // a file
	} {
		if got := New(words(line), nil, "").Headless(); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	if New(nil, nil, "").Headless() {
		t.Error("nothing at all")
	}
}

func TestInfo(t *testing.T) {
	tests := map[string]struct {
		form             agent.Form
		resumes, unknown string
		noInput          bool
	}{
		"codex exec hi":                              {},
		"codex exec --json hi":                       {form: agent.Stream},
		"codex exec hi --json":                       {form: agent.Stream},
		"codex exec --experimental-json hi":          {form: agent.Stream},
		"codex exec resume --json " + thread:         {form: agent.Stream, resumes: thread},
		"codex exec -- --json":                       {},
		"codex exec -m --json hi":                    {}, // codex refuses it
		"codex exec resume " + thread + " hi":        {resumes: thread},
		"codex exec resume hi -m x " + thread:        {}, // the first word is the session, hi a name
		"codex exec resume --last hi":                {},
		"codex exec resume --last " + thread:         {}, // a prompt
		"codex exec resume a-name hi":                {},
		"codex exec -C x resume -- " + thread + " -": {resumes: thread},
		"codex exec --a-new-flag hi":                 {unknown: "--a-new-flag"},
		"codex exec --a-new-flag=x --json hi":        {unknown: "--a-new-flag=x"},
		"codex exec resume --color never " + thread:  {unknown: "--color"}, // only exec takes it
		"codex exec review --uncommitted --json":     {form: agent.Stream, noInput: true},
		"codex exec --color never review --base b":   {noInput: true},
		"codex exec review look":                     {noInput: true},
		"codex exec review -":                        {},
		"codex exec review --a-new-flag":             {unknown: "--a-new-flag", noInput: true},
	}
	for line, want := range tests {
		got := New(words(line), nil, "").Info()
		if got.Form != want.form || got.Resumes != want.resumes || got.Unknown != want.unknown || got.NoInput != want.noInput {
			t.Errorf("%s: form %v, resumes %q, unknown %q", line, got.Form, got.Resumes, got.Unknown)
		}
		if (got.Stall == 0) != (want.unknown != "") || len(got.Ladder) != 2 || got.MaxInput != 4<<20 {
			t.Errorf("%s: %+v", line, got)
		}
	}
}
