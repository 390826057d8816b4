package smoke_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// scene is a place where belay runs, with a state directory of its own.
type scene struct {
	*testing.T
	dir string
	env []string
	// unread says that what belay prints is not wanted. A pipe would be held open by what a killed belay leaves.
	unread bool
}

func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	s := &scene{T: t, dir: tempDir(t)}
	s.env = append(os.Environ(), "BELAY_STATE_DIR="+filepath.Join(s.dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"),
		"BELAY_FOLD=off") // which would work in the directory while it is removed
	return s
}

// tempDir is t.TempDir for a system where os.RemoveAll needs what Wine does not have.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "belay-smoke-")
	must.OK(t, err)
	t.Cleanup(func() {
		if os.RemoveAll(dir) == nil {
			return
		}
		var all []string
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			all = append(all, path)
			return nil
		})
		for _, path := range slices.Backward(all) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	})
	return dir
}

// ran is what has come of a belay.
type ran struct {
	stdout, stderr string
	code           int
}

// call is a belay that is running.
type call struct {
	*scene
	cmd            *exec.Cmd
	args           []string
	stdout, stderr bytes.Buffer
	ended          chan error
}

// start starts belay. A nil stdin is empty.
func (s *scene) start(stdin io.Reader, args ...string) *call {
	s.Helper()
	c := &call{scene: s, cmd: exec.Command(program("belay"), args...), args: args, ended: make(chan error, 1)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = s.dir, s.env, stdin, &c.stdout, &c.stderr
	if s.unread {
		c.cmd.Stdout, c.cmd.Stderr = nil, nil
	}
	prepare(c.cmd)
	if err := c.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() { c.ended <- c.cmd.Wait() }()
	return c
}

// wait waits for its end.
func (c *call) wait() ran {
	c.Helper()
	select {
	case err := <-c.ended:
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			c.Fatalf("belay %q: %v", c.args, err)
		}
	case <-time.After(patience):
		c.cmd.Process.Kill()
		c.Fatalf("belay %q has not ended", c.args)
	}
	return ran{c.stdout.String(), c.stderr.String(), c.cmd.ProcessState.ExitCode()}
}

// belay runs it.
func (s *scene) belay(args ...string) ran {
	s.Helper()
	return s.start(nil, args...).wait()
}

// run runs a child by belay run; the flags are those of belay run.
func (s *scene) run(flags []string, child ...string) ran {
	s.Helper()
	return s.belay(runLine(flags, child...)...)
}

func runLine(flags []string, child ...string) []string {
	return append(append(append([]string{"run"}, flags...), "--"), command(child...)...)
}

// want fails unless the code is this one, and stdout too if it is not "*".
func (s *scene) want(got ran, code int, stdout string) {
	s.Helper()
	if got.code != code || stdout != "*" && got.stdout != stdout {
		s.Fatalf("exit code %d, stdout %.200q; want %d, %.200q\n%s", got.code, got.stdout, code, stdout, got.stderr)
	}
}

// lines are the JSON objects that belay prints.
func lines[T any](s *scene, args ...string) (list []T) {
	s.Helper()
	got := s.belay(args...)
	s.want(got, 0, "*")
	for line := range strings.Lines(got.stdout) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			s.Fatalf("belay %q: %v in %s", args, err, line)
		}
		list = append(list, one)
	}
	return list
}

// member is a process of a tree. Its connection ends with it.
type member struct {
	net.Conn
	depth int // how many generations it has below it
}

// exchange is where the processes of trees call.
type exchange struct {
	*scene
	listener net.Listener
}

func (s *scene) exchange() *exchange {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	return &exchange{s, l}
}

func (e *exchange) address() string { return e.listener.Addr().String() }

// members waits until so many processes have called, and returns them, the root first.
func (e *exchange) members(n int) []member {
	e.Helper()
	list := make([]member, n)
	e.listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	for range n {
		conn, err := e.listener.Accept()
		if err != nil {
			e.Fatalf("not all processes of the tree have called: %v", err)
		}
		e.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(patience))
		var depth [1]byte
		if _, err := io.ReadFull(conn, depth[:]); err != nil {
			e.Fatal(err)
		}
		m := member{conn, int(depth[0] - 'a')}
		list[n-1-m.depth] = m
	}
	return list
}

// gone waits until the processes have ended.
func (e *exchange) gone(list []member) {
	e.Helper()
	for _, m := range list {
		m.SetDeadline(time.Now().Add(patience))
		_, err := m.Read(make([]byte, 1))
		if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
			e.Fatalf("the process with %d below it is still running", m.depth)
		}
	}
}

// exit makes a process end.
func (m member) exit(code byte) { m.Write([]byte{code}) }
