package profile_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// Every name binds, and what is asked as its descriptor says is at its headless work.
func TestBind(t *testing.T) {
	for _, name := range profile.Names() {
		var ask []string
		if d := profile.Find(name); d != nil {
			ask = d.Ask
		}
		isAgent := ask != nil
		p, err := profile.Bind(name, slices.Concat([]string{name}, ask, []string{"x"}), []string{}, "")
		if name == "generic" {
			if p != nil || err != nil || isAgent {
				t.Errorf("generic: %v, %v", p, err)
			}
			continue
		}
		if err != nil || p.Name() != name {
			t.Fatalf("%s: %v, %v", name, p, err)
		}
		if _, ok := p.(agent.Agent); ok != isAgent || isAgent && !p.Headless() {
			t.Errorf("%s: an agent %v, asked as one %v, headless %v", name, ok, isAgent, p.Headless())
		}
		if of := profile.Of([]string{"/opt/" + name + ".exe"}, nil, ""); of == nil || of.Name() != name {
			t.Errorf("%s is not known by its command", name)
		}
	}
	unknown, ok := errors.AsType[*profile.UnknownError](func() error { _, err := profile.Bind("clod", nil, nil, ""); return err }())
	if !ok || unknown.Name != "clod" || profile.Of([]string{"curl"}, nil, "") != nil {
		t.Errorf("%v", unknown)
	}
}

// A program that starts the CLI stays before it.
func TestBind_BehindAnotherProgram(t *testing.T) {
	for _, prefix := range [][]string{{"node", "--no-warnings"}, {"npx"}, {"env", "A=b", "-i"}, nil} {
		p, err := profile.Bind("claude", slices.Concat(prefix, []string{"cli.js", "-p", "x"}), nil, "")
		must.OK(t, err)
		plan, err := p.(agent.Agent).Plan(agent.Turn{})
		if err != nil || !slices.Equal(plan.Args[:len(prefix)+1], slices.Concat(prefix, []string{"cli.js"})) {
			t.Errorf("%q, %v", plan.Args, err)
		}
	}
}
