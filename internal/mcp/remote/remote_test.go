package remote_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/remote"
	"github.com/belay-run/belay/internal/test/must"
)

// client is one on stdio, whose server is behind a proxy.
type client struct {
	t    *testing.T
	in   io.Writer
	stop func()

	mu      sync.Mutex
	came    sync.Cond
	lines   []string
	answers map[string][]string // by the id
	log     []journal.Entry
}

// connect puts a proxy in front of a server.
func connect(t *testing.T, at string, opt remote.Options, more mcp.Options) *client {
	t.Helper()
	where, err := url.Parse(at)
	must.OK(t, err)
	opt.Name, opt.URL = "srv", where
	server, err := remote.New(opt, func(name string) (string, bool) { return "value-of-" + name, name != "UNSET" })
	more.PathError = err
	if more.Remote = server; server == nil {
		more.Remote = &remote.Server{}
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, answers: map[string][]string{}}
	c.came.L = &c.mu
	more.Name, more.ID, more.Stdin, more.Stdout, more.Stderr = "srv", "test", inR, outW, io.Discard
	more.Log = func(e journal.Entry) {
		c.mu.Lock()
		c.log = append(c.log, e)
		c.mu.Unlock()
	}
	ended := make(chan struct{})
	go func() {
		mcp.New(more).Run(context.Background())
		outW.Close()
		close(ended)
	}()
	go c.read(outR)
	c.stop = sync.OnceFunc(func() {
		inW.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the proxy does not end")
		}
	})
	t.Cleanup(c.stop)
	return c
}

func (c *client) read(from io.Reader) {
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if _, rest, _ := strings.Cut(line, `"id":`); len(line) > 1<<16 { // reading all of it takes long under the race detector
			id, _, _ := strings.Cut(rest, ",")
			m.ID = json.RawMessage(id)
		} else {
			json.Unmarshal([]byte(line), &m)
		}
		c.mu.Lock()
		c.lines = append(c.lines, line)
		if m.Method == "" {
			c.answers[string(m.ID)] = append(c.answers[string(m.ID)], line)
		}
		c.came.Broadcast()
		c.mu.Unlock()
	}
}

func (c *client) says(format string, args ...any) { fmt.Fprintf(c.in, format+"\n", args...) }

// waitFor waits until something has come.
func (c *client) waitFor(what string, have func() bool) {
	c.t.Helper()
	timer := time.AfterFunc(time.Minute, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.came.Broadcast()
	})
	defer timer.Stop()
	end := time.Now().Add(time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !have() {
		if time.Now().After(end) {
			c.t.Fatalf("no %s; there came\n%.2000s", what, strings.Join(c.lines, ""))
		}
		c.came.Wait()
	}
}

// answer is the one to the request of that id.
func (c *client) answer(id string) string {
	c.t.Helper()
	c.waitFor("answer to "+id, func() bool { return len(c.answers[id]) > 0 })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[id][0]
}

func (c *client) asks(id, format string, args ...any) string {
	c.t.Helper()
	c.says(format, args...)
	return c.answer(id)
}

func (c *client) calls(id, tool, arguments string) string {
	c.t.Helper()
	return c.asks(id, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

const version = "2025-11-25"

// opens begins a session, as clients do.
func (c *client) opens() string {
	c.t.Helper()
	got := c.asks(`"init"`, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, version)
	c.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return got
}

// has fails unless all of it is in the answer.
func has(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%s: %q is not in %.1000s", what, p, got)
		}
	}
}

// sdkServer is one of the official SDK.
func sdkServer() *sdk.Server {
	type input struct {
		Text string `json:"text,omitempty"`
		N    int    `json:"n,omitempty"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, _ *sdk.CallToolRequest, in input) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text + strings.Repeat("x", in.N)}}}, nil, nil
	})
	return s
}

// The official SDK's servers work through the proxy, whatever they answer with.
func TestRemote_SDKServers(t *testing.T) {
	for name, handler := range map[string]http.Handler{
		"Streams":   sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return sdkServer() }, nil),
		"JSON":      sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return sdkServer() }, &sdk.StreamableHTTPOptions{JSONResponse: true}),
		"Stateless": sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return sdkServer() }, &sdk.StreamableHTTPOptions{Stateless: true}),
		"SSE":       sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return sdkServer() }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(handler)
			t.Cleanup(web.CloseClientConnections)
			c := connect(t, web.URL, remote.Options{}, mcp.Options{})
			has(t, "initialize", c.opens(), `"serverInfo"`, `"listChanged":true`)
			for i := range 5 {
				has(t, "call", c.calls(fmt.Sprint(i), "echo", fmt.Sprintf(`{"text":"<%d>"}`, i)), fmt.Sprintf(`\u003c%d`, i))
			}
			has(t, "large call", c.calls("99", "echo", `{"n":1048576}`), strings.Repeat("x", 100))
			c.stop()
			for id, all := range c.answers {
				if len(all) != 1 {
					t.Errorf("%s was answered %d times", id, len(all))
				}
			}
			if len(c.log) > 0 {
				t.Errorf("%+v", c.log)
			}
		})
	}
}

// listen takes an address that was in use a moment ago.
func listen(t *testing.T, at string) net.Listener {
	t.Helper()
	for range 1000 {
		if l, err := net.Listen("tcp", at); err == nil {
			return l
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s is still in use", at)
	return nil
}
