//go:build linux

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	e2e "github.com/belay-run/belay/internal/e2e/stage"
)

// event is a row of the record.
type event struct {
	Type     string `json:"event_type"`
	Metadata struct {
		Integration string `json:"integration"`
		Tool        string `json:"tool_name"`
		Method      string `json:"method"`
		Class       string `json:"error_type"`
		Error       string `json:"error"`
		Hash        string `json:"input_sha256"`
		Size        int    `json:"input_bytes"`
		Code        int    `json:"code"`
		Retries     int    `json:"retry_count"`
	}
}

// String is what the tests compare.
func (e event) String() string {
	what := e.Metadata.Tool
	if what == "" {
		what = e.Metadata.Method
	}
	return strings.TrimSpace(e.Type + " " + what + " " + e.Metadata.Class)
}

// events are what is on record of MCP servers.
func (s *stage) events() (list []event) {
	s.Helper()
	for line := range bytes.Lines(s.ask("events", "--category", "mcp", "-n", "0", "--json")) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			s.Fatalf("%v: %s", err, line)
		}
		list = append(list, e)
	}
	return list
}

// ask is a question to the record.
func (s *stage) ask(args ...string) []byte {
	s.Helper()
	cmd := exec.Command(belayPath(), args...)
	cmd.Env = s.environ("")
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("belay %v: %v", args, err)
	}
	return out
}

// INTEG-06: every call that fails is on record, once, with its tool, and counts once for alerts, whatever it fails of. A call
// that was repeated and works, that its client has cancelled, or that asks for what the server does not offer counts for nothing.
func TestINTEG06_EachFailureOnce(t *testing.T) {
	type client struct {
		*stage
		session *mcp.ClientSession
	}
	repeat := func(n int, tool string, in text) func(client) {
		return func(c client) {
			for range n {
				c.call(c.session, tool, in)
			}
		}
	}
	for name, tt := range map[string]struct {
		flags  []string
		do     func(client)
		want   map[string]int
		faults int // for which an alert is raised, from the fifth on
	}{
		"IsError":  {nil, repeat(6, "fail", text{}), map[string]int{"tool_error fail unknown": 6}, 6},
		"Internal": {nil, repeat(6, "refuse", text{N: -32603, Text: "out of order"}), map[string]int{"tool_error refuse server_error": 6}, 6},
		"OwnCode":  {nil, repeat(4, "refuse", text{N: -32050, Text: "out of order"}), map[string]int{"tool_error refuse unknown": 4}, 4},
		"Timeout":  {[]string{"--tool-timeout", "sleep=200ms"}, repeat(3, "sleep", text{N: 400}), map[string]int{"tool_error sleep timeout": 3}, 3},
		// A hang is a call that times out, and the server that is ended for it.
		"Hang":  {[]string{"--timeout", "1s", "--hang-timeout", "1s"}, repeat(3, "stop", text{}), map[string]int{"tool_error stop timeout": 3}, 3},
		"Crash": {nil, repeat(3, "exit", text{N: 3}), map[string]int{"tool_error exit crash": 3}, 3},
		// A crash that is repeated is one failure if the repeated call fails too, and none if it works.
		"CrashTwice": {nil, repeat(2, "doom", text{}), map[string]int{"tool_error doom crash": 2}, 2},
		"Mended": {nil, func(c client) {
			if got, failed, err := c.call(c.session, "once", text{Text: filepath.Join(c.TempDir(), "flag")}); got != "the second time" {
				c.Errorf("%q, %v, %v", got, failed, err)
			}
		}, nil, 0},
		"Wrong": {nil, func(c client) {
			repeat(3, "refuse", text{N: -32602, Text: "n is missing"})(c)
			repeat(3, "no such tool", text{})(c)
		}, map[string]int{"tool_error refuse invalid_request": 3, "tool_error no such tool invalid_request": 3}, 0},
		"Cancelled": {nil, func(c client) {
			for range 5 {
				ctx, cancel := context.WithTimeout(c.Context(), 100*time.Millisecond)
				c.session.CallTool(ctx, &mcp.CallToolParams{Name: "sleep", Arguments: text{N: 500, Text: "heed"}})
				cancel()
			}
		}, nil, 0},
		"OtherMethods": {nil, func(c client) {
			c.session.ReadResource(c.Context(), &mcp.ReadResourceParams{URI: "mem://none"})
			c.session.GetPrompt(c.Context(), &mcp.GetPromptParams{Name: "none"})
			c.echo(c.session, "fine")
		}, map[string]int{"request_error resources/read invalid_request": 1, "request_error prompts/get invalid_request": 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			session := s.connect("2025-11-25", nil, s.belay("plain", tt.flags...))
			s.echo(session, "before")
			if _, err := session.ListTools(t.Context(), nil); err != nil { // says which may be repeated
				t.Fatal(err)
			}
			tt.do(client{s, session})
			session.Close()
			got := map[string]int{}
			for _, e := range s.events() {
				if e.Type == "late" || e.Type == "pollution" {
					continue // to look at, and no failure
				}
				got[e.String()]++
				if m := e.Metadata; m.Integration != "mcp:probe" || m.Error == "" || e.Type == "tool_error" && (m.Size == 0 || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(m.Hash)) {
					t.Errorf("%+v", e)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) && len(got)+len(tt.want) > 0 {
				t.Errorf("on record are %v, want %v", got, tt.want)
			}
			var total struct{ Total struct{ Faults int } }
			if json.Unmarshal(s.ask("stats", "--json"), &total); total.Total.Faults != tt.faults {
				t.Errorf("%d faults in the statistics, want %d", total.Total.Faults, tt.faults)
			}
			var counted struct{ State struct{ Times []time.Time } }
			data, _ := os.ReadFile(filepath.Join(s.state, "alerts", alertFile(s.state)))
			if json.Unmarshal(data, &counted); len(counted.State.Times) != min(tt.faults, 5) { // more are not remembered
				t.Errorf("%d failures are counted for alerts, want %d: %s", len(counted.State.Times), tt.faults, data)
			}
			alerts := strings.Count(s.stderr.String(), "alert: ")
			if want := tt.faults / 5; alerts != want {
				t.Errorf("%d alerts, want %d", alerts, want)
			}
		})
	}
}

// alertFile is the name of the one file in which failures are counted.
func alertFile(state string) string {
	found, _ := filepath.Glob(filepath.Join(state, "alerts", "*.json"))
	if len(found) != 1 {
		return ""
	}
	return filepath.Base(found[0])
}

// What a client asks for that the server does not have is an answer, not a failure: it is in the log, and in no list of
// failures.
func TestRecord_OptionalMethods(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain"))
	r.open("2025-11-25")
	for id, method := range []string{"logging/nonsense", "sampling/none", "tasks/list"} {
		if got := r.ask(fmt.Sprint(100+id), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, 100+id, method)); got.Error == nil || got.Error.Code != -32601 {
			t.Errorf("%s: %s", method, got.line)
		}
	}
	r.in.Close()
	<-r.eof
	if list := s.events(); len(list) != 0 {
		t.Errorf("%v", list)
	}
	log, _ := os.ReadFile(filepath.Join(s.state, "log.jsonl"))
	if n := bytes.Count(log, []byte(`"error_type":"not_found"`)); n != 3 {
		t.Errorf("%d of 3 are in the log\n%s", n, log)
	}
}

// An error is recorded with its words and its code, cut to what a line can hold, and without what must not be at rest.
func TestRecord_WhatIsKept(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.belay("plain"))
	long := strings.Repeat("word ", 20_000)
	for _, message := range []string{"no such table", "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz is refused", long} {
		s.call(session, "refuse", text{N: -32603, Text: message})
	}
	s.call(session, "big", text{Text: "a private argument"}) // it works, and leaves nothing
	session.Close()
	list := s.events()
	if len(list) != 3 {
		t.Fatalf("%v", list)
	}
	if m := list[0].Metadata; m.Error != "no such table" || m.Code != -32603 || m.Size != len(`{"text":"no such table","n":-32603}`) {
		t.Errorf("%+v", m)
	}
	if m := list[2].Metadata; m.Error != "[redacted]" { // it quotes a long argument, and nothing else
		t.Errorf("%d bytes: %.100s", len(m.Error), m.Error)
	}
	log, _ := os.ReadFile(filepath.Join(s.state, "log.jsonl"))
	for _, secret := range []string{"abcdefghijklmnop", "private argument", `"n":-32603`} {
		if bytes.Contains(log, []byte(secret)) {
			t.Errorf("%s is at rest", secret)
		}
	}
	hashes := []string{list[0].Metadata.Hash, list[1].Metadata.Hash, list[2].Metadata.Hash}
	slices.Sort(hashes)
	if len(slices.Compact(hashes)) != 3 {
		t.Errorf("%v", hashes)
	}
	if !e2e.Within(testTimeout, func() bool { return len(s.mark.Left()) == 0 }) {
		t.Error("something is left")
	}
}
