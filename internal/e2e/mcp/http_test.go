//go:build linux

package mcp_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// website is a server over HTTP that is started again whenever it has ended, as a service is.
type website struct {
	url string

	mu      sync.Mutex
	cmd     *exec.Cmd
	starts  int
	stopped bool
	over    chan struct{}
}

// serve starts the probe over HTTP, or another server on the same terms: argv and environment get the address.
func (s *stage) serve(kind string, command ...string) *website {
	s.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	at := listener.Addr().String()
	listener.Close()
	if len(command) == 0 {
		command = []string{probePath()}
	}
	w := &website{url: "http://" + at + "/mcp", over: make(chan struct{})}
	_, port, _ := net.SplitHostPort(at)
	env := append(s.environ(kind), "E2E_MCP_LISTEN="+at, "PORT="+port)
	go w.run(command, env, &s.stderr)
	s.Cleanup(w.stop)
	w.ready(s.T, at)
	return w
}

func (w *website) run(command, env []string, stderr interface{ Write([]byte) (int, error) }) {
	defer close(w.over)
	for {
		w.mu.Lock()
		if w.stopped {
			w.mu.Unlock()
			return
		}
		w.cmd = exec.Command(command[0], command[1:]...)
		w.cmd.Env, w.cmd.Stderr, w.cmd.Stdout = env, stderr, stderr
		w.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := w.cmd.Start()
		w.starts++
		w.mu.Unlock()
		if err == nil {
			w.cmd.Wait()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// ready waits until the server takes connections.
func (w *website) ready(t *testing.T, at string) {
	t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			return
		}
	}
	t.Fatal("the server does not start")
}

// kill ends the server that runs now. It says whether there was one.
func (w *website) kill() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cmd != nil && w.cmd.Process != nil && w.cmd.Process.Kill() == nil
}

func (w *website) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.kill()
	<-w.over
}

// remote is the command `belay mcp` in front of it.
func (s *stage) remote(w *website, flags ...string) *exec.Cmd {
	return s.command("", append([]string{"mcp", "--name", "web", "--url", w.url}, flags...)...)
}

// The crash probe over HTTP: a call, one that the server does not survive, then four more.
func TestHTTP_FourOfFour(t *testing.T) {
	for _, kind := range []string{"plain", "stateless", "sse"} {
		for _, tool := range []string{"exit", "kill"} {
			t.Run(kind+"/"+tool, func(t *testing.T) {
				s := newStage(t)
				w := s.serve(kind)
				session := s.connect("2025-11-25", nil, s.remote(w))
				s.echo(session, "before")
				got, failed, err := s.call(session, tool, text{N: 3})
				if err != nil || !failed || !strings.Contains(got, "may have taken effect") {
					t.Errorf("the crashing call: %q, failed %v, %v", got, failed, err)
				}
				for i := range 4 {
					s.echo(session, fmt.Sprint("after ", i))
				}
			})
		}
	}
}

// The newest version of the protocol has no sessions, and what it says in headers is there.
func TestHTTP_NewestVersion(t *testing.T) {
	s := newStage(t)
	w := s.serve("stateless")
	session := s.connect("2026-07-28", nil, s.remote(w))
	s.echo(session, "before")
	if _, err := session.ListTools(t.Context(), nil); err != nil { // now it is known which tool may be called twice
		t.Fatal(err)
	}
	w.kill()
	if got, failed, err := s.call(session, "look", text{Text: "after"}); err != nil || failed || got != "after" {
		t.Errorf("%q, failed %v, %v", got, failed, err)
	}
}

// Nothing is answered twice and nothing is lost while the server is killed again and again.
func TestHTTP_EveryCallIsAnsweredOnce(t *testing.T) {
	s := newStage(t)
	w := s.serve("plain")
	s.raw(s.remote(w, "--no-gate")).answersOnce(func() int {
		if w.kill() {
			return 1
		}
		return 0
	})
}

// No credential is on a command line, in the log, in a record or in what the client is told.
func TestHTTP_NoCredentialIsSeen(t *testing.T) {
	const secret = "correct-horse-battery-staple-42"
	s := newStage(t)
	w := s.serve("plain")
	s.env = append(s.env, "WEB_KEY="+secret)
	r := s.raw(s.remote(w, "--header-env", "X-Api-Key=WEB_KEY", "--bearer-env", "WEB_KEY", "--timeout", "2s"))
	r.open("2025-11-25")
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.cmd.Process.Pid))
	if err != nil || !strings.Contains(string(line), "WEB_KEY") {
		t.Errorf("%q, %v", line, err)
	}
	m := r.tool("1", "fail", `{"text":"`+secret+`"}`)
	seen := string(line) + s.stderr.String()
	if !m.Result.IsError {
		t.Errorf("%s", m.line)
	}
	w.stop()
	m = r.tool("2", "echo", `{}`)
	seen += m.line
	err = readAll(s.state, func(text string) { seen += text })
	if err != nil || !strings.Contains(seen, "no luck") {
		t.Errorf("%v: %s", err, seen)
	}
	if strings.Contains(seen, secret) {
		t.Errorf("it is in %s", seen)
	}
}

// readAll reads every file below a directory.
func readAll(dir string, each func(text string)) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		path := dir + "/" + e.Name()
		if e.IsDir() {
			readAll(path, each)
			continue
		}
		data, _ := os.ReadFile(path)
		each(string(data))
	}
	return err
}
