//go:build unix

package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/commandtest"
)

const mcpServers = `{"numStartups": 3, "mcpServers": {
  "files": {"command": "npx", "args": ["-y", "files-server"]},
  "db": {"command": "./db-server", "env": {"A": "1"}, "timeout": 120000},
  "web": {"type": "http", "url": "https://example.com/mcp"}
}}`

func TestMCP_InstallAndUninstall(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Belay(t, "mcp", "install", "--client", "claude").Ends(0).Prints("claude has no servers in the user scope: ")
	commandtest.Belay(t, "mcp", "status", "--client", "claude").Ends(0).Prints("no MCP servers in the user scope")
	path := commandtest.Write(t, commandtest.Home(".claude.json"), mcpServers, 0o600)
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "--dry-run").Ends(0).Says().Prints("+++", "files-server")
	if commandtest.Read(t, path) != mcpServers {
		t.Fatal("a dry run has changed the file")
	}
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "fils").Ends(2).Says("did you mean files?")
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "nothing-like-it").Ends(2).Says("the servers are ")
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "files").Ends(0).Says().Prints("files is now behind belay\n", path+". The original is in "+path+".belay-backup", "restart claude to apply the change")
	commandtest.Belay(t, "mcp", "status", "--client", "claude").Ends(0).Prints("files                behind belay\n", "db                   direct\n", "web                  remote\n")
	commandtest.Belay(t, "mcp", "install", "--client", "claude").Ends(0).Prints("db is now behind belay\n", "web is not changed because it has no credentials in the file and may need a login. If it needs none: belay mcp install --client claude --scope user web\n")
	if after := commandtest.Read(t, path); !strings.Contains(after, `"--timeout", "1m59s"`) || !strings.Contains(after, `"numStartups": 3`) {
		t.Errorf("%s", after)
	}
	commandtest.Belay(t, "mcp", "install", "--client", "claude").Ends(0).Prints("nothing to change in the user scope")
	commandtest.Belay(t, "mcp", "uninstall", "--client", "claude").Ends(0).Says().Prints("files is started directly again\n", "db is started directly again\n")
	if commandtest.Read(t, path) != mcpServers {
		t.Errorf("it was not undone: %s", commandtest.Read(t, path))
	}
	if _, err := os.Lstat(path + ".belay-backup"); err == nil {
		t.Error("the copy is left")
	}

	// Each scope is a place of its own, and the others are spoken of.
	commandtest.Write(t, filepath.Join(dir, ".mcp.json"), mcpServers, 0o600)
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "--scope", "project").Ends(0).
		Prints("everyone who works on this project now needs belay on the PATH", "Note: 2 servers in the user scope ("+path+") are not behind belay. To change that: belay mcp install --client claude --scope user\n")
	if got := commandtest.Read(t, filepath.Join(dir, ".mcp.json")); !strings.Contains(got, `"command": "belay"`) {
		t.Errorf("a shared file names a path of this machine: %s", got)
	}
	commandtest.Belay(t, "mcp", "uninstall", "--client", "claude").Ends(0).Prints("nothing to change in the user scope", "Note: 2 servers in the project scope")
	commandtest.Belay(t, "mcp", "status", "--client", "claude").Ends(0).Says().Prints("3 servers in the user scope ("+path+"):\nfiles                direct\n",
		"no MCP servers in the local scope ("+path+")\n", "3 servers in the project scope ("+filepath.Join(dir, ".mcp.json")+"):\nfiles                behind belay\n")
	var row struct{ Name, State, File, Client, Scope string }
	first, _, _ := strings.Cut(commandtest.Belay(t, "mcp", "status", "--client", "claude", "--scope", "project", "--json").Ends(0).Stdout, "\n")
	if err := json.Unmarshal([]byte(first), &row); err != nil || row.State != "behind belay" || row.File != filepath.Join(dir, ".mcp.json") || row.Client != "claude" || row.Scope != "project" {
		t.Errorf("%v: %s", err, first)
	}
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "--scope", "local").Ends(0).Prints("nothing to change in the local scope")
}

// A server over HTTP goes through belay too. Its credentials are neither on a command line nor in what is printed.
func TestMCP_InstallRemote(t *testing.T) {
	commandtest.Place(t)
	const text = `{"mcpServers": {
  "api": {"type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer sk-ant-REDACTED"}},
  "docs": {"type": "http", "url": "https://docs.example.com/mcp"},
  "login": {"type": "http", "url": "https://login.example.com/mcp", "oauth": {"clientId": "x"}},
  "near": {"type": "sse", "url": "http://localhost:9000/sse"},
  "own": {"command": "belay", "args": ["mcp", "--url", "https://own.example.com/mcp"]}
}}`
	path := commandtest.Write(t, commandtest.Home(".claude.json"), text, 0o600)
	dry := commandtest.Belay(t, "mcp", "install", "--client", "claude", "--dry-run").Ends(0).Says().Prints("+++", "BELAY_HEADER_AUTHORIZATION")
	if strings.Contains(dry.Stdout, "Abcdefghijkl") || commandtest.Read(t, path) != text {
		t.Errorf("%s\n%s", dry.Stdout, commandtest.Read(t, path))
	}
	commandtest.Belay(t, "mcp", "install", "--client", "claude").Ends(0).Says().Prints("api is now behind belay\n", "near is now behind belay\n",
		"docs is not changed because it has no credentials in the file and may need a login. If it needs none: belay mcp install --client claude --scope user docs\n",
		"login is not changed because it needs oauth, which only the client can do\n")
	commandtest.Belay(t, "mcp", "status", "--client", "claude", "--scope", "user").Ends(0).Says().Prints("api                  behind belay\n", "docs                 remote\n",
		"login                remote\n", "near                 behind belay\n", "own                  behind belay, by hand\n")
	commandtest.Belay(t, "mcp", "status", "--client", "claude", "--scope", "user", "--json").Ends(0).Prints(`"url":"https://api.example.com/mcp"`, `"why":"needs oauth, which only the client can do"`)
	commandtest.Belay(t, "mcp", "install", "--client", "claude", "docs", "login").Ends(0).Says().Prints("docs is now behind belay\n", "login is not changed because it needs oauth")
	commandtest.Belay(t, "uninstall-all", "--yes").Ends(0).Prints("Removed belay from 3 servers", ":6: not changed because belay was put there by hand")
	if commandtest.Read(t, path) != text {
		t.Errorf("it was not undone: %s", commandtest.Read(t, path))
	}
}

func TestMCP_InstallForCodex(t *testing.T) {
	commandtest.Place(t)
	t.Setenv("CODEX_HOME", commandtest.Home("elsewhere"))
	before := "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files-server\"]\n"
	path := commandtest.Write(t, commandtest.Home("elsewhere", "config.toml"), before, 0o600)
	commandtest.Belay(t, "mcp", "install", "--client", "codex").Ends(0).Prints("files is now behind belay\n")
	commandtest.Belay(t, "mcp", "status", "--client", "codex").Ends(0).Prints("behind belay")
	commandtest.Belay(t, "mcp", "uninstall", "--client", "codex").Ends(0)
	if commandtest.Read(t, path) != before {
		t.Errorf("%s", commandtest.Read(t, path))
	}
	commandtest.Write(t, path, "[mcp_servers", 0o600)
	commandtest.Belay(t, "mcp", "install", "--client", "codex").Ends(125).Says(path + " was not changed: ")
	commandtest.Belay(t, "mcp", "status", "--client", "codex").Ends(125).Says(path + " cannot be understood: ")
}

// What cannot be the address of a server, or would put a credential where others read it, is refused before anything is started.
func TestMCP_URL(t *testing.T) {
	commandtest.Place(t)
	for args, want := range map[string]string{
		"--url ftp://example.com":                        "--url takes an http or https address",
		"--url https:///mcp":                             "--url takes an http or https address",
		"--url https://ann:pass@example.com":             "--url has a password in it",
		"--url https://x --transport ws":                 `"ws" is not a transport`,
		"--url https://x --header-env Authorization:Key": "is not a header and the environment variable",
		"--url https://x --header-env =KEY":              "is not a header and the environment variable",
		"--url https://x --header-env A/B=KEY":           "is not a header and the environment variable",
		"--url https://x --bearer-env Authorization=KEY": "is not a header and the environment variable",
		"--url https://x --cwd /tmp":                     "--cwd cannot be used with --url",
		"--url https://x -- server":                      "--url and a command cannot be used together",
		"--header-env A=B -- server":                     "--header-env needs --url",
		"--bearer-env A -- server":                       "--bearer-env needs --url",
		"--transport sse":                                "--transport needs --url",
		"--url https://x --timeout soon":                 "--timeout",
	} {
		got := commandtest.Belay(t, append([]string{"mcp"}, strings.Fields(args)...)...).Ends(2).Says(want)
		if strings.Contains(got.Stderr, "ann:pass") {
			t.Error(got.Stderr)
		}
	}
}

// server is an MCP server that answers every request with its method, and crashes when told to.
func server(t *testing.T) {
	t.Helper()
	commandtest.Script(t, "server", `while read -r line; do
  id=$(printf '%s' "$line" | sed -nE 's/.*"id":("[^"]*"|[0-9]+).*/\1/p')
  case $line in
  *'"crash"'*) echo falling >&2; exit 1 ;;
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
  *'"id":'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[]}}' ;;
  esac
done`)
}

// client is one that talks to belay mcp.
type client struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Scanner
	stderr *strings.Builder
	over   chan int
}

func connect(t *testing.T, ctx context.Context, args ...string) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t, inW, bufio.NewScanner(outR), &strings.Builder{}, make(chan int, 1)}
	go func() {
		c.over <- belay.Run(ctx, append([]string{"mcp"}, args...), inR, outW, c.stderr)
		outW.Close()
		inR.Close()
	}()
	return c
}

// asks sends a request and returns the answer.
func (c *client) asks(request string) string {
	c.t.Helper()
	if _, err := io.WriteString(c.in, request+"\n"); err != nil {
		c.t.Fatal(err)
	}
	if !c.out.Scan() {
		c.t.Fatalf("no answer to %s; exit code %d, %s", request, <-c.over, c.stderr)
	}
	return c.out.Text()
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// The proxy carries messages, brings a crashed server back, and shows itself while it runs.
func TestMCP_Serve(t *testing.T) {
	commandtest.Place(t)
	server(t)
	commandtest.Belay(t, "mcp", "status").Ends(0).Says().Prints("no MCP server is running behind belay\n")
	c := connect(t, t.Context(), "--name", "things", "--timeout", "10s", "--tool-timeout", "slow=1m", "--retry-tool", "crash", "--call-retries", "0", "--no-retry-tool", "b", "--max-message", "8", "--", "server")
	if got := c.asks(hello); !strings.Contains(got, `"serverInfo"`) {
		t.Errorf("%s", got)
	}
	io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	if got := c.asks(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(got, `"tools":[]`) {
		t.Errorf("%s", got)
	}
	commandtest.Belay(t, "mcp", "status").Ends(0).Says().Prints("SERVER", "GENERATION", "things")
	if got := c.asks(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"crash"}}`); !strings.Contains(got, `"id":3`) || !strings.Contains(got, "error") && !strings.Contains(got, "isError") {
		t.Errorf("%s", got)
	}
	if got := c.asks(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`); !strings.Contains(got, `"tools":[]`) {
		t.Errorf("the server was not brought back: %s", got)
	}
	var row struct {
		Name     string
		PID      int
		Restarts int
		Failure  string `json:"last_failure"`
	}
	if got := commandtest.Belay(t, "mcp", "status", "--json").Ends(0); json.Unmarshal([]byte(got.Stdout), &row) != nil || row.Name != "things" || row.PID != os.Getpid() || row.Restarts != 1 || row.Failure == "" {
		t.Errorf("%s", got.Stdout)
	}
	commandtest.Belay(t, "ps").Ends(0).Prints("things")
	c.in.Close()
	if code := <-c.over; code != 0 {
		t.Errorf("exit code %d: %s", code, c.stderr)
	}
	if log := commandtest.Read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl")); !strings.Contains(log, `"mcp:things"`) {
		t.Errorf("the crash is not on record: %s", log)
	}
	commandtest.Belay(t, "mcp", "status").Ends(0).Prints("no MCP server is running behind belay\n")
}

func TestMCP_EndsWithItsContext(t *testing.T) {
	commandtest.Place(t)
	server(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := connect(t, ctx, "--no-gate", "--", "server")
	c.asks(hello)
	cancel()
	if code := <-c.over; code != 143 {
		t.Errorf("exit code %d: %s", code, c.stderr)
	}
}
