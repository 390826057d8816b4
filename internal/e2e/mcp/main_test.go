//go:build linux

package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belay-run/belay/internal/clitest"
	e2e "github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/rehearse"
)

// full says that everything is to be tried, also what takes long or needs a download.
var full = clitest.Full()

// testTimeout bounds what takes a moment on an idle machine.
const testTimeout = time.Minute

// serverVar says what is wrong with the server.
const serverVar = "E2E_MCP_SERVER"

type text struct {
	Text string `json:"text,omitempty"`
	N    int    `json:"n,omitempty"`
}

func TestMain(m *testing.M) {
	e2e.Raced = true
	e2e.Main(m, "internal/e2e/mcp/probe", "cmd/belayd")
}

// belayPath is belay, probePath the server that it is to stand in front of.
func belayPath() string { return e2e.Bin("belay") }
func probePath() string { return e2e.Bin("probe") }

// stage is a client whose servers are behind belay.
type stage struct {
	*testing.T
	mark   e2e.Mark
	state  string
	env    []string
	stderr e2e.Buffer
	cmd    *exec.Cmd
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{T: t, mark: e2e.NewMark(t), state: t.TempDir()}
	t.Cleanup(func() {
		s.mark.NobodyLeft(t, time.Minute)
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
	env := append(os.Environ(), string(s.mark), "BELAY_STATE_DIR="+s.state, serverVar+"="+kind)
	return rehearse.Over(append(env, clitest.Lean...), s.env)
}

// belay is the command `belay mcp` in front of a server of that kind.
func (s *stage) belay(kind string, flags ...string) *exec.Cmd {
	return s.command(kind, append(append([]string{"mcp", "--name", "probe"}, flags...), "--", probePath())...)
}

func (s *stage) command(kind string, args ...string) *exec.Cmd {
	s.cmd = exec.Command(belayPath(), args...)
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
	ctx, cancel := context.WithTimeout(s.Context(), testTimeout)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err == nil {
		s.Cleanup(func() { session.Close() })
	}
	return session, err
}

// call calls a tool and returns its text, whether it is an error, and what the protocol had against it.
func (s *stage) call(session *mcp.ClientSession, tool string, in text) (string, bool, error) {
	ctx, cancel := context.WithTimeout(s.Context(), testTimeout)
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
