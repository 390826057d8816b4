//go:build linux

package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// reply is what a raw client reads.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		ResultType string `json:"resultType"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Params json.RawMessage `json:"params"`

	line string
}

func (r reply) text() string {
	if r.Error != nil {
		return r.Error.Message
	}
	if len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

// raw is a client that knows nothing but lines.
type raw struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	mu  sync.Mutex
	all []reply
	got map[string]chan reply
	eof chan struct{}
}

func (s *stage) raw(cmd *exec.Cmd) *raw {
	s.Helper()
	r := &raw{t: s.T, cmd: cmd, got: map[string]chan reply{}, eof: make(chan struct{})}
	var err error
	if r.in, err = cmd.StdinPipe(); err != nil {
		s.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go r.read(out)
	s.Cleanup(func() {
		r.in.Close()
		select {
		case <-r.eof:
		case <-time.After(testTimeout):
			s.Errorf("belay did not end when its client left")
			cmd.Process.Kill()
		}
		cmd.Wait()
	})
	return r
}

func (r *raw) read(out io.Reader) {
	defer close(r.eof)
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		m := reply{line: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			r.t.Errorf("the client got what is no message: %.200q", line)
			continue
		}
		r.mu.Lock()
		r.all = append(r.all, m)
		waiting := r.got[string(m.ID)]
		r.mu.Unlock()
		if waiting != nil && m.Method == "" {
			waiting <- m
		}
	}
}

func (r *raw) send(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Errorf("the client cannot send: %v", err)
	}
}

// ask sends a request and returns its answer.
func (r *raw) ask(id, line string) reply {
	r.t.Helper()
	answer := make(chan reply, 16)
	r.mu.Lock()
	r.got[id] = answer
	r.mu.Unlock()
	r.send(line)
	select {
	case m := <-answer:
		return m
	case <-r.eof:
		r.t.Errorf("belay ended without an answer to %s", id)
	case <-time.After(testTimeout):
		r.t.Errorf("no answer to %s", id)
	}
	return reply{}
}

func (r *raw) tool(id, name, arguments string) reply {
	r.t.Helper()
	return r.ask(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, arguments))
}

// open is the handshake of the old era.
func (r *raw) open(version string) reply {
	r.t.Helper()
	m := r.ask("0", fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, version))
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// answers counts the answers by id.
func (r *raw) answers() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := map[string]int{}
	for _, m := range r.all {
		if m.Method == "" {
			n[string(m.ID)]++
		}
	}
	return n
}
