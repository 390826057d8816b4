//go:build linux

package release

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// client is a claude as far as Belay is concerned: files with a hook and an MCP server, of a user of the system in root, and calls of
// what they say.
type client struct {
	t      *testing.T
	root   string
	server *exec.Cmd // the MCP server, behind belay
	in     io.WriteCloser
	out    *bufio.Scanner
	calls  int
}

// The client's files before Belay is in them.
const (
	settings = `{
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo decided; cat"}]}]}
}
`
	servers = `{"mcpServers": {"probe": {"command": "/opt/probe", "args": ["--x"]}}}
`
)

func newClient(t *testing.T, root string) *client {
	t.Helper()
	c := &client{t: t, root: root}
	must.OK(t, os.MkdirAll(c.path(".claude"), 0o700))
	for name, text := range map[string]string{".claude/settings.json": settings, ".claude.json": servers} {
		must.OK(t, os.WriteFile(c.path(name), []byte(text), 0o600))
	}
	cmd := exec.Command("go", "build", "-o", c.path("probe"), "../mcp/probe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return c
}

// path is the path of a file in the user's home.
func (c *client) path(name string) string { return filepath.Join(c.root, "root", name) }

func (c *client) read(name string, into any) {
	c.t.Helper()
	text, err := os.ReadFile(c.path(name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	must.OK(c.t, err)
}

// install puts belay into the client's files.
func (c *client) install() {
	c.t.Helper()
	says(c.t, c.root, "belay", "hook", "install", "--client", "claude", "--scope", "user")
	says(c.t, c.root, "belay", "mcp", "install", "--client", "claude", "--scope", "user")
}

// connect starts the MCP server as its file says.
func (c *client) connect() {
	c.t.Helper()
	var file struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	c.read(".claude.json", &file)
	probe := file.MCPServers["probe"]
	if !strings.HasSuffix(probe.Command, "/belay") {
		c.t.Fatalf("belay is not in front of the server: %+v", file)
	}
	c.server = inside(c.root, append([]string{probe.Command}, probe.Args...)...)
	var err error
	if c.in, err = c.server.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	out, err := c.server.StdoutPipe()
	must.OK(c.t, err)
	c.out = bufio.NewScanner(out)
	must.OK(c.t, c.server.Start())
	c.t.Cleanup(func() { c.in.Close() }) // which ends it
	c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	fmt.Fprintln(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.tool("echo", `{"text":"before"}`, "before")
}

// ask sends a request and returns the answer to it.
func (c *client) ask(method, params string) string {
	c.t.Helper()
	c.calls++
	id := fmt.Sprintf(`"call-%d"`, c.calls)
	fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params)
	for c.out.Scan() {
		if line := c.out.Text(); strings.Contains(line, id) {
			return line
		}
	}
	c.t.Fatalf("no answer to %s %s: %v", method, params, c.out.Err())
	return ""
}

// tool calls a tool, whose answer must have this in it.
func (c *client) tool(name, arguments, want string) {
	c.t.Helper()
	if got := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)); !strings.Contains(got, want) {
		c.t.Errorf("%s: %s", name, got)
	}
}

// worksOn checks that all that was there before an upgrade works on after it: the server that runs, also through a crash, the files and
// what they call.
func (c *client) worksOn() {
	c.t.Helper()
	c.tool("echo", `{"text":"after"}`, "after")
	if said := says(c.t, c.root, "belay", "mcp", "status"); !strings.Contains(said, "probe") {
		c.t.Errorf("the new one does not see the server of the old one: %s", said)
	}
	c.tool("exit", `{"n":3}`, `"isError":true`)
	c.tool("echo", `{"text":"again"}`, "again")
	c.in.Close()
	for c.out.Scan() {
	}
	if err := c.server.Wait(); err != nil {
		c.t.Errorf("the server that ran through the upgrade: %v", err)
	}
	c.connect() // with the new one

	for _, args := range [][]string{{"hook", "status"}, {"mcp", "status"}} {
		said := says(c.t, c.root, append([]string{"belay"}, append(args, "--client", "claude", "--json")...)...)
		if !strings.Contains(said, `"installed"`) && !strings.Contains(said, `"behind belay"`) || strings.Contains(said, "missing") {
			c.t.Errorf("belay %s: %s", strings.Join(args, " "), said)
		}
	}
	var file struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	c.read(".claude/settings.json", &file)
	line := file.Hooks["Stop"][0].Hooks[0].Command
	cmd := inside(c.root, "sh", "-c", line)
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"Stop"}`)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(line, "belay hook") || string(out) != `decided`+"\n"+`{"hook_event_name":"Stop"}` {
		c.t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// uninstall takes belay out of the files, which must be what they were.
func (c *client) uninstall() {
	c.t.Helper()
	c.in.Close()
	for c.out.Scan() {
	}
	if err := c.server.Wait(); err != nil {
		c.t.Error(err)
	}
	says(c.t, c.root, "belay", "uninstall-all", "--yes")
	for name, want := range map[string]string{".claude/settings.json": settings, ".claude.json": servers} {
		if got, err := os.ReadFile(c.path(name)); err != nil || string(got) != want {
			c.t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}
