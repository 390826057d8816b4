//go:build linux

package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func recordingsOfTree(t *testing.T) recordings {
	t.Helper()
	recorded, err := readRecordings("../..")
	if err != nil || len(recorded["claude"]) == 0 {
		t.Fatalf("%d recordings of claude, %v", len(recorded["claude"]), err)
	}
	return recorded
}

func TestGenerate_SeedMakesTheSameScript(t *testing.T) {
	recorded := recordingsOfTree(t)
	for seed := range uint64(100) {
		a, _ := json.Marshal(generate(seed, recorded))
		b, _ := json.Marshal(generate(seed, recorded))
		if string(a) != string(b) {
			t.Fatalf("seed %d:\n%.500s\n%.500s", seed, a, b)
		}
		var read script
		if err := json.Unmarshal(a, &read); err != nil || !strings.Contains(string(a), `"Steps":[{`) {
			t.Errorf("seed %d: %v in %.500s", seed, err, a)
		}
	}
}

func TestGenerate_WorksWithoutRecordings(t *testing.T) {
	for seed := range uint64(100) {
		if s := generate(seed, nil); len(s.Steps) == 0 {
			t.Errorf("script %d has no steps", seed)
		}
	}
}

// A script that hangs and that nothing ends would take twenty seconds a side.
func TestGenerate_WhatHangsIsEnded(t *testing.T) {
	recorded := recordingsOfTree(t)
	for seed := range uint64(500) {
		s := generate(seed, recorded)
		hangs := false
		for name, acts := range s.Acts {
			if !strings.Contains(name, "@") {
				hangs = hangs || slices.ContainsFunc(acts, func(a act) bool { return slices.ContainsFunc(a, func(o op) bool { return o.Hang }) })
			}
		}
		if !hangs {
			continue
		}
		for _, step := range s.Steps {
			line := strings.Join(step.Args, " ")
			if (step.Args[0] == "run" || step.Args[0] == "hook") && step.Signal == "" && !strings.Contains(line, "timeout") {
				t.Errorf("script %d has no limit: %s", seed, line)
			}
		}
	}
}

func TestGenerate_Variety(t *testing.T) {
	recorded := recordingsOfTree(t)
	var all []string
	kinds := map[string]int{}
	for seed := range uint64(1000) {
		s := generate(seed, recorded)
		kinds[s.Kind]++
		for _, step := range s.Steps {
			all = append(all, step.Args...)
		}
	}
	for _, kind := range []string{"plain", "claude", "codex", "gh", "hook", "busy", "explain", "alerts"} {
		if kinds[kind] < 5 {
			t.Errorf("%d scripts of a thousand are about %s", kinds[kind], kind)
		}
	}
	for _, flag := range strings.Fields(`--max-retries --timeout --total-timeout --stall-timeout --retry-timeouts --output-format --gate --scope --on-busy --stream --resume
		--resume-or-new --no-resume-on-retry --result-file --exit-code --quiet --verbose --fail-on --retry-on --retry-on-exit --prompt --prompt-file --no-stdin --replay-stdin
		--log-dir --cwd --reap --dry-run --no-gate --max-parallel --breaker-failures --profile --preset --factor --max-cost --retry-unsafe --verify-effect --no-wait`) {
		if !slices.Contains(all, flag) {
			t.Errorf("no script has %s", flag)
		}
	}
}

func TestEvent_LaterValueStandsInTheFirstPlace(t *testing.T) {
	if got, want := event("a", 1, "b", "x", "a", 2), "{\"a\":2,\"b\":\"x\"}\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSessionOf(t *testing.T) {
	id, other := sessionID(7, 1), sessionID(7, 0)
	for _, args := range [][]string{{"--resume=" + id, "-p"}, {"-p", "--resume", id}, {"exec", "resume", id, "hello"}, {"--session-id", id}} {
		if got := sessionOf(args, other); got != id {
			t.Errorf("%q is %s", args, got)
		}
	}
	if got := sessionOf([]string{"-p", "--resume", "hello"}, other); got != other {
		t.Errorf("a prompt is taken for the session %s", got)
	}
}

func TestFailures_OfATestsOutput(t *testing.T) {
	out := `no race detector: go build [-race]: exit status 1
--- FAIL: TestScripts (0.01s)
    --- FAIL: TestScripts/json (0.35s)
        testscript.go:584: # The result is one line.
            > exits 0 belay run -- true
        testscript.go:584: FAIL: testdata/script/json.txtar:3: exit code 1, want 0
    --- FAIL: TestScripts/text (0.20s)
        testscript.go:584: other
FAIL
`
	want := map[string]string{
		"json": "testscript.go:584: # The result is one line.\n> exits 0 belay run -- true\ntestscript.go:584: FAIL: testdata/script/json.txtar:3: exit code 1, want 0\n",
		"text": "testscript.go:584: other\n",
	}
	if got := failures(out); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
