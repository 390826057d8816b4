//go:build linux

package mcp_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	e2e "github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// What a client sends that is no message is answered, and the server, which it would have killed, never hears of it.
func TestGarbage_OfTheClient(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain"))
	r.open("2025-11-25")
	before := r.tool("1", "pid", "{}").text()
	for line, code := range map[string]int{
		`not json`:                               -32700,
		`{"jsonrpc":"2.0","id":9,"method":`:      -32700,
		`{"id":9,"method":"ping"}`:               -32600,
		`[{"jsonrpc":"2.0","method":"x"}]`:       -32600,
		`{"jsonrpc":"2.0","id":{},"method":"x"}`: -32600,
	} {
		id := "null"
		if strings.HasPrefix(line, `{"id":9`) {
			id = "9"
		}
		if m := r.ask(id, line); m.Error == nil || m.Error.Code != code {
			t.Errorf("%s: %s", line, m.line)
		}
	}
	if after := r.tool("2", "pid", "{}").text(); after != before {
		t.Errorf("process %s after %s", after, before)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"mcp":                                   "no server given; as in: belay mcp -- ",
		"mcp --timeout x -- true":               "--timeout \"x\"",
		"mcp --tool-timeout =3s -- true":        "--tool-timeout \"=3s\"",
		"mcp --max-message 0 -- true":           "--max-message",
		"mcp --no-such-flag -- true":            "no-such-flag",
		"mcp install --client emacs --dry-run":  "--client opencode",
		"mcp uninstall":                         "--client",
		"mcp install --client claude --scope x": "--scope",
	} {
		cmd := exec.Command(belayPath(), strings.Fields(args)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), want) {
			t.Errorf("belay %s: %v, %s", args, err, out)
		}
	}
}

// What went wrong is on record, and what was said is not.
func TestRecord(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.belay("plain", "--tool-timeout", "sleep=1s"))
	s.echo(session, "a secret argument")
	s.call(session, "print", text{Text: "stray"})
	s.call(session, "sleep", text{N: 1500})
	if !e2e.Within(testTimeout, func() bool {
		log, _ := os.ReadFile(filepath.Join(s.state, "log.jsonl"))
		return strings.Contains(string(log), `"event":"late"`)
	}) {
		t.Error("the late answer has not come")
	}
	s.call(session, "exit", text{N: 3})
	s.echo(session, "after")
	status := s.command("", "mcp", "status", "--json")
	status.Stderr = nil
	out, err := status.Output()
	var row struct {
		Name        string `json:"name"`
		Generation  int    `json:"generation"`
		Restarts    int    `json:"restarts"`
		LastFailure string `json:"last_failure"`
	}
	if err != nil || json.Unmarshal(out, &row) != nil || row.Name != "probe" || row.Generation != 2 || row.Restarts != 1 || !strings.Contains(row.LastFailure, "exit status 3") {
		t.Errorf("%s: %v", out, err)
	}
	session.Close()
	file, err := os.Open(filepath.Join(s.state, "log.jsonl"))
	must.OK(t, err)
	defer file.Close()
	seen := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e struct {
			Kind, Event, Profile string
			Detail               struct {
				Tool string `json:"tool_name"`
			}
		}
		json.Unmarshal(lines.Bytes(), &e)
		if e.Kind != "mcp" || e.Profile != "mcp:probe" {
			t.Errorf("%s", lines.Text())
		}
		if strings.Contains(lines.Text(), "secret argument") {
			t.Errorf("an argument is on record: %s", lines.Text())
		}
		seen[strings.TrimSpace(e.Event+" "+e.Detail.Tool)] = lines.Text()
	}
	for _, event := range []string{"crash", "tool_error exit", "tool_error sleep", "pollution", "late"} {
		if seen[event] == "" {
			t.Errorf("no %s on record", event)
		}
	}
	if !strings.Contains(seen["crash"], "about to exit") || !strings.Contains(seen["tool_error exit"], "about to exit") ||
		!strings.Contains(seen["tool_error sleep"], `"error_type":"timeout"`) {
		t.Errorf("%s\n%s\n%s", seen["crash"], seen["tool_error exit"], seen["tool_error sleep"])
	}
}
