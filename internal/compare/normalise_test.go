//go:build linux

package main

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// logOf is what the log of a script comes to.
func logOf(t *testing.T, s *script, lines string) outcome {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "log.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(lines, "DIR", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	return read(s, dir, "/nowhere", nil)
}

const entry = `{"timestamp":"2026-11-16T03:20:11.123456Z","invocation":"019a8a30-1111-7000-8000-0123456789ab","profile":"claude","command":"claude","attempt":1,"status":"retry",` +
	`"error_type":"rate_limit","error":"claude exited 1: try again at 03:21:00, see DIR/x","exit_code":1,"wait_time":0.02,"response_time":0.0123,"cpu_time":0.004,"gate_wait":0.0001,` +
	`"retry_at":"2026-11-16T03:20:41Z","gate":"claude:api.anthropic.com:0a1b2c3d","session_id":"` + "01990000-0000-7000-8000-000000000007" + `","tools":[{"name":"Bash","count":2,"time":0}],"left_running":1}` + "\n"

func TestNormalise_LogsThatDifferOnlyInIDsAndTimes(t *testing.T) {
	later := strings.NewReplacer("T03:20", "T03:25", "03:21:00", "03:26:10", "019a8a30-1111", "019a8a31-2222", "0.0123", "0.7", `"cpu_time":0.004,`, "", `"gate_wait":0.0001,`, "",
		"0a1b2c3d", "99999999", `"time":0`, `"time":0.003`).Replace(entry)
	a, b := logOf(t, &script{}, entry), logOf(t, &script{}, later)
	if !maps.Equal(a, b) {
		for _, name := range names(a, b) {
			if a.get(name) != b.get(name) {
				t.Errorf("%s: %s, %s", name, a.get(name), b.get(name))
			}
		}
	}
	if a["log[0].session_id"] != `"01990000-0000-7000-8000-000000000007"` {
		t.Errorf("the session of the script has become %s", a["log[0].session_id"])
	}
}

func TestNormalise_WhatMustNotDiffer(t *testing.T) {
	for name, change := range map[string][2]string{
		"a field is missing":     {`"error_type":"rate_limit",`, ""},
		"another exit code":      {`"exit_code":1`, `"exit_code":2`},
		"a field more":           {`"left_running":1`, `"left_running":1,"orphans_killed":1`},
		"another session":        {"000000000007", "000000000008"},
		"another class":          {`"rate_limit"`, `"overloaded"`},
		"a hint of hours":        {`"retry_at":"2026-11-16T03:20:41Z"`, `"retry_at":"2026-11-16T07:20:41Z"`},
		"other words":            {"try again at", "come back at"},
		"another count":          {`"count":2`, `"count":3`},
		"another wait":           {`"wait_time":0.02`, `"wait_time":0.04`},
		"no wait":                {`"wait_time":0.02,`, ``},
		"no response time":       {`"response_time":0.0123,`, ``},
		"another number of runs": {entry, entry + entry},
	} {
		s := &script{Waits: planned}
		if a, b := logOf(t, s, entry), logOf(t, s, strings.Replace(entry, change[0], change[1], 1)); maps.Equal(a, b) {
			t.Errorf("%s: not seen", name)
		}
	}
}

func TestNormalise_IDsAreTheSameWhereverTheyStand(t *testing.T) {
	n := newNormaliser(&script{}, "/plays/old-1", "/bins/old")
	const id, other = "019a8a30-1111-7000-8000-0123456789ab", "019a8a30-1111-7000-8000-ffffffffffff"
	got := n.said("run " + id + " in /plays/old-1/work took 1m3s, then " + other + " and " + id + "; pid 4711, run 0123abcd, until 15:04:05 UTC")
	if want := "run <id 1> in <dir>/work took <duration>, then <id 2> and <id 1>; pid <pid>, run <id>, until <time> UTC"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestOutput_ResultsAreComparedFieldByField(t *testing.T) {
	o := outcome{}
	n := newNormaliser(&script{}, "/d", "/b")
	o.output(n, "stdout", []byte(`{"schema_version":1,"id":"019a8a30-1111-7000-8000-0123456789ab","duration_ms":12,"left_running":[4711,4712],"log":"/d/state/log.jsonl"}`+"\n"))
	o.output(n, "lines", []byte("{\"a\":1}\n{\"a\":2}\n"))
	o.output(n, "text", []byte("{\"a\":1}\nand more\n"))
	want := outcome{"stdout.schema_version": "1", "stdout.id": `"<id 1>"`, "stdout.duration_ms": `"<duration>"`, "stdout.left_running": `"<2 processes>"`,
		"stdout.log": `"<dir>/state/log.jsonl"`, "lines[0].a": "1", "lines[1].a": "2", "text": "{\"a\":1}\nand more\n"}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%q", o)
	}
}

func TestJudge(t *testing.T) {
	outcomes := func(values ...string) (list []outcome) {
		for _, v := range values {
			list = append(list, outcome{"exit": v, "same": "x"})
		}
		return list
	}
	for name, test := range map[string]struct {
		old, new      []outcome
		differ, flaky bool
	}{
		"equal":                      {outcomes("1"), outcomes("1"), false, false},
		"different":                  {outcomes("1", "1"), outcomes("2", "2"), true, false},
		"different in various ways":  {outcomes("1", "1"), outcomes("2", "3"), true, false},
		"old differs from itself":    {outcomes("1", "2"), outcomes("3", "3"), false, true},
		"new is once as the old one": {outcomes("1", "1"), outcomes("2", "1"), false, true},
	} {
		differences, flaky := judge(test.old, test.new)
		if len(differences) > 0 != test.differ || len(flaky) > 0 != test.flaky {
			t.Errorf("%s: %v, %v", name, differences, flaky)
		}
	}
}

func TestAllowances(t *testing.T) {
	path := filepath.Join(t.TempDir(), "allow")
	if err := os.WriteFile(path, []byte("# wanted\n\n^log\\[\\d+\\]\\.rule:\nretrying in\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	allowed, err := readAllowances(path)
	if err != nil {
		t.Fatal(err)
	}
	list := []difference{{"log[3].rule", "a", "b"}, {"log[3].error", "a", "b"}, {"step[0].stderr", "retry in 2s", "retrying in 2s"}}
	if got := slices.DeleteFunc(list, allowed.has); len(got) != 1 || got[0].name != "log[3].error" {
		t.Errorf("%v", got)
	}
}

func TestNames_InTheOrderOfTheReport(t *testing.T) {
	got := names(outcome{"log[10].a": "", "log[2].b": "", "log[2].a": "", "left": "", "step[0].exit": ""})
	if want := []string{"step[0].exit", "log[2].a", "log[2].b", "log[10].a", "left"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
