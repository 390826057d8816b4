//go:build linux

package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that is not there is an answer to initialize, at once, with the reason; and the proxy stays.
func TestStart_NotFound(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.command("", "mcp", "--", "no-such-server-anywhere"))
	begin := time.Now()
	for id := range 2 {
		m := r.ask(fmt.Sprint(id), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`, id))
		if m.Error == nil || m.Error.Code != -32010 || !strings.Contains(m.Error.Message, "no-such-server-anywhere: command not found") {
			t.Error(m.line)
		}
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("that took %v", took)
	}
}

// One that ends at once is too, with its last words.
func TestStart_DiesAtOnce(t *testing.T) {
	s := newStage(t)
	_, err := s.dial("2025-11-25", nil, s.belay("dies at start"))
	if err == nil || !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "no such database") {
		t.Errorf("%v", err)
	}
}

// A crash loop is answered call by call and never waited out.
func TestStart_CrashLoop(t *testing.T) {
	s := newStage(t)
	s.env = []string{"E2E_MCP_FLAG=" + filepath.Join(t.TempDir(), "flag")}
	session := s.connect("2025-11-25", nil, s.belay("dies at the second start"))
	s.echo(session, "before")
	if got, failed, err := s.call(session, "exit", text{N: 3}); err != nil || !failed || !strings.Contains(got, "exit status 3") {
		t.Errorf("%q, %v, %v", got, failed, err)
	}
	for range 6 {
		got, failed, err := s.call(session, "echo", text{Text: "x"})
		if err != nil || !failed || !strings.Contains(got, "the lock is taken") && !strings.Contains(got, "keeps failing") {
			t.Errorf("%q, %v, %v", got, failed, err)
		}
	}
	// The user repairs it and says so.
	os.Remove(strings.TrimPrefix(s.env[0], "E2E_MCP_FLAG="))
	reset := s.command("", "gates", "reset", "mcp:probe")
	if out, err := reset.Output(); err != nil {
		t.Errorf("%s: %v", out, err)
	}
	s.echo(session, "after")
	log, _ := os.ReadFile(filepath.Join(s.state, "log.jsonl"))
	if n := strings.Count(string(log), `"kind":"alert"`); n != 1 {
		t.Errorf("%d alerts\n%s", n, log)
	}
}

// A wrapper such as npx stands between us and the server: all of it goes, and comes back.
func TestStart_Wrapper(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.command("plain", "mcp", "--name", "wrapped", "--", "sh", "-c", `sleep 1000 & "$0"; exit $?`, probePath()))
	s.echo(session, "before")
	if got, failed, err := s.call(session, "exit", text{N: 3}); err != nil || !failed || !strings.Contains(got, "exit status 3") {
		t.Errorf("%q, %v, %v", got, failed, err)
	}
	for i := range 4 {
		s.echo(session, fmt.Sprint("after ", i))
	}
}
