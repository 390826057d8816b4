//go:build linux

package mcp_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// A server that takes no notice of the end of its input is ended all the same, and soon.
func TestEnd_ServerIgnoresEOF(t *testing.T) {
	s := newStage(t)
	cmd := s.belay("ignores EOF")
	r := s.raw(cmd)
	r.open("2025-11-25")
	begin := time.Now()
	r.in.Close()
	select {
	case <-r.eof:
	case <-time.After(testTimeout):
		t.Fatal("it does not end")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("that took %v", took)
	}
}

// What was asked before the client closed its side is answered.
func TestEnd_CallsUnderWayAreAnswered(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain"))
	r.open("2025-11-25")
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"n":300}}}`)
	r.in.Close()
	<-r.eof
	if n := r.answers()["1"]; n != 1 {
		t.Errorf("answered %d times", n)
	}
}

// The process that started us may end us; all of the server ends too. A client that no longer reads does not change that.
func TestEnd_Terminated(t *testing.T) {
	for name, reads := range map[string]bool{"ClientReads": true, "ClientDoesNot": false} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			cmd := s.belay("ignores EOF")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"n":5000000}}}`)
			if _, err := lines.ReadByte(); err != nil { // the answer is on its way
				t.Fatal(err)
			}
			if reads {
				go io.Copy(io.Discard, lines)
			}
			cmd.Process.Signal(syscall.SIGTERM)
			ended := make(chan error, 1)
			go func() { _, err := cmd.Process.Wait(); ended <- err }()
			select {
			case <-ended:
			case <-time.After(testTimeout):
				t.Error("it does not end")
				cmd.Process.Kill()
			}
		})
	}
}
