//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/cli"
)

const mcpServers = `{"numStartups": 3, "mcpServers": {
  "files": {"command": "npx", "args": ["-y", "files-server"]},
  "db": {"command": "./db-server", "env": {"A": "1"}, "timeout": 120000},
  "web": {"type": "http", "url": "https://example.com/mcp"}
}}`

func TestMCP_InstallAndUninstall(t *testing.T) {
	dir := place(t)
	belay(t, "mcp", "install", "--client", "claude").ends(0).prints("claude has no servers in the user scope: ")
	belay(t, "mcp", "status", "--client", "claude").ends(0).prints("no MCP servers in the user scope")
	path := write(t, home(".claude.json"), mcpServers, 0o600)
	belay(t, "mcp", "install", "--client", "claude", "--dry-run").ends(0).says().prints("+++", "files-server")
	if read(t, path) != mcpServers {
		t.Fatal("a dry run has changed the file")
	}
	belay(t, "mcp", "install", "--client", "claude", "fils").ends(2).says("did you mean files?")
	belay(t, "mcp", "install", "--client", "claude", "nothing-like-it").ends(2).says("the servers are ")
	belay(t, "mcp", "install", "--client", "claude", "files").ends(0).says().prints("files is now behind belay\n", path+". The original is in "+path+".belay-backup", "restart claude to apply the change")
	belay(t, "mcp", "status", "--client", "claude").ends(0).prints("files                behind belay\n", "db                   direct\n", "web                  remote\n")
	belay(t, "mcp", "install", "--client", "claude").ends(0).prints("db is now behind belay\n", "web is not changed because it has no credentials in the file and may need a login. If it needs none: belay mcp install --client claude --scope user web\n")
	if after := read(t, path); !strings.Contains(after, `"--timeout", "1m59s"`) || !strings.Contains(after, `"numStartups": 3`) {
		t.Errorf("%s", after)
	}
	belay(t, "mcp", "install", "--client", "claude").ends(0).prints("nothing to change in the user scope")
	belay(t, "mcp", "uninstall", "--client", "claude").ends(0).says().prints("files is started directly again\n", "db is started directly again\n")
	if read(t, path) != mcpServers {
		t.Errorf("it was not undone: %s", read(t, path))
	}
	if _, err := os.Lstat(path + ".belay-backup"); err == nil {
		t.Error("the copy is left")
	}

	// Each scope is a place of its own, and the others are spoken of.
	write(t, filepath.Join(dir, ".mcp.json"), mcpServers, 0o600)
	belay(t, "mcp", "install", "--client", "claude", "--scope", "project").ends(0).
		prints("everyone who works on this project now needs belay on the PATH", "Note: 2 servers in the user scope ("+path+") are not behind belay. To change that: belay mcp install --client claude --scope user\n")
	if got := read(t, filepath.Join(dir, ".mcp.json")); !strings.Contains(got, `"command": "belay"`) {
		t.Errorf("a shared file names a path of this machine: %s", got)
	}
	belay(t, "mcp", "uninstall", "--client", "claude").ends(0).prints("nothing to change in the user scope", "Note: 2 servers in the project scope")
	belay(t, "mcp", "status", "--client", "claude").ends(0).says().prints("3 servers in the user scope ("+path+"):\nfiles                direct\n",
		"no MCP servers in the local scope ("+path+")\n", "3 servers in the project scope ("+filepath.Join(dir, ".mcp.json")+"):\nfiles                behind belay\n")
	var row struct{ Name, State, File, Client, Scope string }
	first, _, _ := strings.Cut(belay(t, "mcp", "status", "--client", "claude", "--scope", "project", "--json").ends(0).stdout, "\n")
	if err := json.Unmarshal([]byte(first), &row); err != nil || row.State != "behind belay" || row.File != filepath.Join(dir, ".mcp.json") || row.Client != "claude" || row.Scope != "project" {
		t.Errorf("%v: %s", err, first)
	}
	belay(t, "mcp", "install", "--client", "claude", "--scope", "local").ends(0).prints("nothing to change in the local scope")
}

// A server over HTTP goes through belay too. Its credentials are neither on a command line nor in what is printed.
func TestMCP_InstallRemote(t *testing.T) {
	place(t)
	const text = `{"mcpServers": {
  "api": {"type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer sk-ant-REDACTED"}},
  "docs": {"type": "http", "url": "https://docs.example.com/mcp"},
  "login": {"type": "http", "url": "https://login.example.com/mcp", "oauth": {"clientId": "x"}},
  "near": {"type": "sse", "url": "http://localhost:9000/sse"},
  "own": {"command": "belay", "args": ["mcp", "--url", "https://own.example.com/mcp"]}
}}`
	path := write(t, home(".claude.json"), text, 0o600)
	dry := belay(t, "mcp", "install", "--client", "claude", "--dry-run").ends(0).says().prints("+++", "BELAY_HEADER_AUTHORIZATION")
	if strings.Contains(dry.stdout, "Abcdefghijkl") || read(t, path) != text {
		t.Errorf("%s\n%s", dry.stdout, read(t, path))
	}
	belay(t, "mcp", "install", "--client", "claude").ends(0).says().prints("api is now behind belay\n", "near is now behind belay\n",
		"docs is not changed because it has no credentials in the file and may need a login. If it needs none: belay mcp install --client claude --scope user docs\n",
		"login is not changed because it needs oauth, which only the client can do\n")
	belay(t, "mcp", "status", "--client", "claude", "--scope", "user").ends(0).says().prints("api                  behind belay\n", "docs                 remote\n",
		"login                remote\n", "near                 behind belay\n", "own                  behind belay, by hand\n")
	belay(t, "mcp", "status", "--client", "claude", "--scope", "user", "--json").ends(0).prints(`"url":"https://api.example.com/mcp"`, `"why":"needs oauth, which only the client can do"`)
	belay(t, "mcp", "install", "--client", "claude", "docs", "login").ends(0).says().prints("docs is now behind belay\n", "login is not changed because it needs oauth")
	belay(t, "uninstall-all", "--yes").ends(0).prints("Removed belay from 3 servers", ":6: not changed because belay was put there by hand")
	if read(t, path) != text {
		t.Errorf("it was not undone: %s", read(t, path))
	}
}

// Clients without hooks say what they have in their place.
func TestHook_InstallForEditors(t *testing.T) {
	dir := place(t)
	t.Setenv("SHELL", "/bin/bash")
	belay(t, "hook", "install", "--client", "vscode").ends(2).says("the hooks of vscode are those of other clients, or in .github/hooks; belay does not change these")
	belay(t, "hook", "install", "--client", "opencode").ends(2).says("plugins in JavaScript")
	const text = `{"version": 1, "hooks": {"stop": [{"command": "./stop.sh"}, {"command": "a | b"}]}}`
	path := write(t, filepath.Join(dir, ".cursor", "hooks.json"), text, 0o600)
	installed := belay(t, "hook", "install", "--client", "cursor", "--scope", "project").ends(0).prints("belay is now in front of 1 hook in ", "hooks.json:1: not changed because it is more than one command, or a command of the shell itself\n")
	if strings.Contains(installed.stdout, "Note: .") {
		t.Errorf("a note that says nothing: %s", installed.stdout)
	}
	belay(t, "hook", "status", "--client", "cursor").ends(0).prints("installed", "belay hook --name stop.sh --timeout 59s -- ./stop.sh")
	belay(t, "hook", "uninstall", "--client", "cursor", "--scope", "project").ends(0)
	if read(t, path) != text {
		t.Errorf("it was not undone: %s", read(t, path))
	}
}

func TestMCP_InstallForCodex(t *testing.T) {
	place(t)
	t.Setenv("CODEX_HOME", home("elsewhere"))
	before := "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files-server\"]\n"
	path := write(t, home("elsewhere", "config.toml"), before, 0o600)
	belay(t, "mcp", "install", "--client", "codex").ends(0).prints("files is now behind belay\n")
	belay(t, "mcp", "status", "--client", "codex").ends(0).prints("behind belay")
	belay(t, "mcp", "uninstall", "--client", "codex").ends(0)
	if read(t, path) != before {
		t.Errorf("%s", read(t, path))
	}
	write(t, path, "[mcp_servers", 0o600)
	belay(t, "mcp", "install", "--client", "codex").ends(125).says(path + " was not changed: ")
	belay(t, "mcp", "status", "--client", "codex").ends(125).says(path + " cannot be understood: ")
}

// What cannot be the address of a server, or would put a credential where others read it, is refused before anything is started.
func TestMCP_URL(t *testing.T) {
	place(t)
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
		got := belay(t, append([]string{"mcp"}, strings.Fields(args)...)...).ends(2).says(want)
		if strings.Contains(got.stderr, "ann:pass") {
			t.Error(got.stderr)
		}
	}
}

// server is an MCP server that answers every request with its method, and crashes when told to.
func server(t *testing.T) {
	t.Helper()
	script(t, "server", `while read -r line; do
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
		c.over <- cli.Run(ctx, append([]string{"mcp"}, args...), inR, outW, c.stderr)
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
	place(t)
	server(t)
	belay(t, "mcp", "status").ends(0).says().prints("no MCP server is running behind belay\n")
	c := connect(t, t.Context(), "--name", "things", "--timeout", "10s", "--tool-timeout", "slow=1m", "--retry-tool", "crash", "--call-retries", "0", "--no-retry-tool", "b", "--max-message", "8", "--", "server")
	if got := c.asks(hello); !strings.Contains(got, `"serverInfo"`) {
		t.Errorf("%s", got)
	}
	io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	if got := c.asks(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(got, `"tools":[]`) {
		t.Errorf("%s", got)
	}
	belay(t, "mcp", "status").ends(0).says().prints("SERVER", "GENERATION", "things")
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
	if got := belay(t, "mcp", "status", "--json").ends(0); json.Unmarshal([]byte(got.stdout), &row) != nil || row.Name != "things" || row.PID != os.Getpid() || row.Restarts != 1 || row.Failure == "" {
		t.Errorf("%s", got.stdout)
	}
	belay(t, "ps").ends(0).prints("things")
	c.in.Close()
	if code := <-c.over; code != 0 {
		t.Errorf("exit code %d: %s", code, c.stderr)
	}
	if log := read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl")); !strings.Contains(log, `"mcp:things"`) {
		t.Errorf("the crash is not on record: %s", log)
	}
	belay(t, "mcp", "status").ends(0).prints("no MCP server is running behind belay\n")
}

func TestMCP_EndsWithItsContext(t *testing.T) {
	place(t)
	server(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := connect(t, ctx, "--no-gate", "--", "server")
	c.asks(hello)
	cancel()
	if code := <-c.over; code != 143 {
		t.Errorf("exit code %d: %s", code, c.stderr)
	}
}
