//go:build linux

package mcp_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func kill9(pid int) { syscall.Kill(pid, syscall.SIGKILL) }

// A call that takes too long is answered, its late answer is not, and the server is the same as before.
func TestTimeout_ServerLives(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain", "--timeout", "1s", "--tool-timeout", "pid=1m", "--tool-timeout", "echo=1m"))
	r.open("2025-11-25")
	before := r.tool("1", "pid", "{}").text()
	if m := r.tool("2", "sleep", `{"n":2500}`); !m.Result.IsError || !strings.Contains(m.text(), "--tool-timeout sleep=") {
		t.Error(m.line)
	}
	time.Sleep(2 * time.Second)
	if after := r.tool("3", "pid", "{}").text(); after != before {
		t.Errorf("process %s after %s: a server that is slow is not a hung one", after, before)
	}
	if n := r.answers()["2"]; n != 1 {
		t.Errorf("answered %d times", n)
	}
}

// Progress is a sign of life.
func TestTimeout_ProgressExtendsIt(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.belay("plain", "--timeout", "5s"))
	params := &mcp.CallToolParams{Name: "sleep", Arguments: text{Text: "progress", N: 12000}}
	params.SetProgressToken("p")
	res, err := session.CallTool(t.Context(), params)
	if err != nil || res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
}

// But not for ever.
func TestTimeout_HardMaximum(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.belay("plain", "--timeout", "2s", "--max-timeout", "3s"))
	params := &mcp.CallToolParams{Name: "sleep", Arguments: text{Text: "progress", N: 30000}}
	params.SetProgressToken("p")
	if res, err := session.CallTool(t.Context(), params); err != nil || !res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
}

// What the client cancels is cancelled at the server, also under the id that a call has there.
func TestCancel_ReachesTheServer(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.belay("plain"))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "sleep", Arguments: text{Text: "heed", N: 60000}}); err == nil {
		t.Error("it was not cancelled")
	}
	s.echo(session, "after")
}
