//go:build linux

package mcp_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// full says that everything is to be tried, also what takes long or needs a download.
var full = os.Getenv("BELAY_TEST_FULL") != ""

// patience is how long anything may take that takes a moment on an idle machine.
const patience = time.Minute

// belayPath is belay, probePath the server that it is to stand in front of.
var belayPath, probePath string

// serverVar says what is wrong with the server.
const serverVar = "E2E_MCP_SERVER"

type text struct {
	Text string `json:"text,omitempty"`
	N    int    `json:"n,omitempty"`
}

func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		flag.Set("test.parallel", "6") // most of the time they wait
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	dir, err := os.MkdirTemp("", "belay-mcp-")
	if err == nil {
		err = build(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// build makes belay, with the race detector where there is a C compiler.
func build(dir string) error {
	belayPath, probePath = filepath.Join(dir, "belay"), filepath.Join(dir, "probe")
	if out, err := exec.Command("go", "build", "-o", probePath, "./probe").CombinedOutput(); err != nil {
		return fmt.Errorf("go build probe: %w\n%s", err, out)
	}
	cmd := exec.Command("go", "build", "-race", "-o", belayPath, "../../cmd/belay")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if err := cmd.Run(); err == nil {
		return nil
	}
	if out, err := exec.Command("go", "build", "-o", belayPath, "../../cmd/belay").CombinedOutput(); err != nil {
		return fmt.Errorf("go build belay: %w\n%s", err, out)
	}
	fmt.Fprintln(os.Stderr, "no race detector")
	return nil
}

// idVar marks everything that a test starts, so that what it leaves behind is found, whoever its parent is.
const idVar = "E2E_ID"

// marked returns the living processes that have kv in their environment.
func marked(kv string) []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), kv) {
			continue
		}
		status, err := os.ReadFile(dir + "/status")
		if err != nil || strings.Contains(string(status), "State:\tZ") || strings.Contains(string(status), "State:\tX") {
			continue
		}
		args, _ := os.ReadFile(dir + "/cmdline")
		found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(args), "\x00", " "))
	}
	return found
}

// stage is a client behind whose back belay stands.
type stage struct {
	*testing.T
	id     string
	state  string
	env    []string
	stderr lockedBuffer
	cmd    *exec.Cmd
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{T: t, id: fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "."), os.Getpid(), time.Now().UnixNano()), state: t.TempDir()}
	t.Cleanup(func() {
		var left []string
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if left = marked(idVar + "=" + s.id); len(left) == 0 {
				break
			}
		}
		for _, p := range left {
			t.Errorf("left running: %s", p)
			pid, _ := strconv.Atoi(strings.Fields(p)[0])
			unix.Kill(pid, unix.SIGKILL)
		}
		if t.Failed() {
			t.Logf("stderr:\n%s", s.stderr.String())
		}
		if strings.Contains(s.stderr.String(), "DATA RACE") {
			t.Errorf("data race:\n%s", s.stderr.String())
		}
	})
	return s
}

// environ is what belay is started with.
func (s *stage) environ(kind string) []string {
	env := append(os.Environ(), idVar+"="+s.id, "BELAY_STATE_DIR="+s.state, serverVar+"="+kind)
	return append(env, s.env...)
}

// belay is the command `belay mcp` in front of a server of that kind.
func (s *stage) belay(kind string, flags ...string) *exec.Cmd {
	return s.command(kind, append(append([]string{"mcp", "--name", "probe"}, flags...), "--", probePath)...)
}

func (s *stage) command(kind string, args ...string) *exec.Cmd {
	s.cmd = exec.Command(belayPath, args...)
	s.cmd.Env = s.environ(kind)
	s.cmd.Stderr = &s.stderr
	return s.cmd
}

// connect opens a session through belay. An empty version is the client's own choice.
func (s *stage) connect(version string, options *mcp.ClientOptions, cmd *exec.Cmd) *mcp.ClientSession {
	s.Helper()
	session, err := s.dial(version, options, cmd)
	if err != nil {
		s.Fatalf("no session: %v\n%s", err, s.stderr.String())
	}
	return session
}

func (s *stage) dial(version string, options *mcp.ClientOptions, cmd *exec.Cmd) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, options)
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err == nil {
		s.Cleanup(func() { session.Close() })
	}
	return session, err
}

// call calls a tool and returns its text, whether it is an error, and what the protocol had against it.
func (s *stage) call(session *mcp.ClientSession, tool string, in text) (string, bool, error) {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return "", false, err
	}
	var out strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			out.WriteString(t.Text)
		}
	}
	return out.String(), res.IsError, nil
}

// echo is a call that has to work.
func (s *stage) echo(session *mcp.ClientSession, what string) {
	s.Helper()
	if got, failed, err := s.call(session, "echo", text{Text: what}); err != nil || failed || got != what {
		s.Errorf("echo %s: %q, failed %v, %v", what, got, failed, err)
	}
}
