package gosdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/boundary/gosdk"
	"github.com/belay-run/belay/internal/test/must"
)

// recorder keeps what boundaries have caught.
type recorder struct {
	mu   sync.Mutex
	list []boundary.Failure
}

func (r *recorder) record(f boundary.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, f)
}

// take returns what there is and forgets it.
func (r *recorder) take() []boundary.Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

type out struct {
	Said string `json:"said"`
}

// loud panics when it is put into words.
type loud struct{}

func (loud) Error() string { panic("even its words panic") }

// badOut panics when the SDK turns it into JSON, which is after the handler.
type badOut struct{ X int }

func (badOut) MarshalJSON() ([]byte, error) { panic("marshal") }

func newServer(b gosdk.Boundary) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "lab", Version: "1"}, nil)
	server.AddReceivingMiddleware(b.Middleware())
	typed := func(name string, f func(context.Context) (out, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
			Secret string `json:"secret,omitempty"`
		}) (*mcp.CallToolResult, out, error) {
			o, err := f(ctx)
			return nil, o, err
		})
	}
	typed("good", func(context.Context) (out, error) { return out{"hello"}, nil })
	typed("panics", func(context.Context) (out, error) { panic("boom") })
	typed("nil-panic", func(context.Context) (out, error) { panic(nil) })
	typed("loud", func(context.Context) (out, error) { return out{}, loud{} })
	typed("goexit", func(context.Context) (out, error) { runtime.Goexit(); return out{}, nil })
	typed("fails", func(context.Context) (out, error) { return out{}, errors.New("no such\nplanet") })
	typed("hangs", func(context.Context) (out, error) { select {} })
	typed("protocol", func(context.Context) (out, error) { return out{}, &jsonrpc.Error{Code: -32602, Message: "on purpose"} })
	mcp.AddTool(server, &mcp.Tool{Name: "bad-out"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, badOut, error) {
		return nil, badOut{}, nil
	})
	raw := func(name string, h mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, h)
	}
	raw("raw-panics", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("raw boom") })
	raw("raw-fails", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("raw")
	})
	raw("own-error", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "my own words"}}}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { panic("prompt") })
	return server
}

// sentWith is the last message that the server has sent, once it is the one with that text: the log is written after the
// message has gone out.
func sentWith(t *testing.T, sent func() string, text string) (line string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	must.OK(t, err)
	for range 1000 {
		if line = sent(); strings.Contains(line, string(quoted)) {
			return line
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the server has not sent %s, but %s", quoted, line)
	return line
}

// connect returns a session over a transport on which every line of the server is kept.
func connect(t *testing.T, server *mcp.Server, version string) (*mcp.ClientSession, func() string) {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	log := &lines{}
	if _, err := server.Connect(t.Context(), &mcp.LoggingTransport{Transport: there, Writer: log}, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), here, &mcp.ClientSessionOptions{ProtocolVersion: version})
	must.OK(t, err)
	t.Cleanup(func() { session.Close() })
	return session, log.last
}

type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// last is the last message that the server has sent.
func (l *lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	written := ""
	for line := range strings.Lines(l.text.String()) {
		if strings.HasPrefix(line, "write: ") {
			written = line
		}
	}
	return written
}

var _ io.Writer = (*lines)(nil)

// In both eras of the protocol a tool that fails gives a complete result that says so, the next call works, and the stack
// reaches the recorder alone.
func TestMiddleware_BothEras(t *testing.T) {
	const modern, legacy = "2026-07-28", "2025-11-25"
	for _, version := range []string{modern, legacy} {
		t.Run(version, func(t *testing.T) {
			rec := &recorder{}
			server := newServer(gosdk.Boundary{Settings: boundary.Settings{Server: "lab", Record: rec.record},
				Tools: map[string]time.Duration{"hangs": 50 * time.Millisecond}})
			session, sent := connect(t, server, version)
			for _, c := range []struct {
				tool, text string
				cause      boundary.Cause
				stack      bool
			}{
				{"panics", "Error in panics: panic: boom", boundary.Panicked, true},
				{"nil-panic", "Error in nil-panic: panic: panic called with nil argument", boundary.Panicked, true},
				{"goexit", "Error in goexit: ended its goroutine (runtime.Goexit)", boundary.Exited, false},
				{"fails", "Error in fails: no such planet", boundary.Failed, false},
				{"hangs", "Error in hangs: took longer than 50ms", boundary.TimedOut, false},
				{"bad-out", "Error in bad-out: panic: marshal", boundary.Panicked, true},
				{"raw-panics", "Error in raw-panics: panic: raw boom", boundary.Panicked, true},
				{"raw-fails", "Error in raw-fails: raw", boundary.Failed, false},
				{"own-error", "my own words", "", false},
			} {
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: map[string]any{"secret": "s3cret"}})
				if c.tool == "bad-out" {
					res, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool})
				}
				if err != nil {
					t.Fatalf("%s: %v", c.tool, err)
				}
				text := ""
				if len(res.Content) == 1 {
					if tc, ok := res.Content[0].(*mcp.TextContent); ok {
						text = tc.Text
					}
				}
				if !res.IsError || text != c.text {
					t.Errorf("%s: isError %v, %q; want %q", c.tool, res.IsError, text, c.text)
				}
				line := sentWith(t, sent, c.text)
				if says := strings.Contains(line, `"resultType":"complete"`); says != (version == modern) {
					t.Errorf("%s: says that it is complete: %v\n%s", c.tool, says, line)
				}
				if strings.Contains(line, ".go:") {
					t.Errorf("%s: a stack reached the client: %s", c.tool, line)
				}
				got := rec.take()
				if c.cause == "" {
					if len(got) != 0 {
						t.Errorf("%s: recorded: %+v", c.tool, got)
					}
					continue
				}
				if len(got) != 1 || got[0].Cause != c.cause || got[0].Name != c.tool || got[0].Server != "lab" || (got[0].Stack != "") != c.stack {
					t.Errorf("%s: recorded: %+v", c.tool, got)
				}
				if c.tool != "bad-out" && (got[0].Input.Size != len(`{"secret":"s3cret"}`) || len(got[0].Input.SHA256) != 64) {
					t.Errorf("%s: input %+v", c.tool, got[0].Input)
				}
				if data, _ := json.Marshal(got[0]); strings.Contains(string(data), "s3cret") {
					t.Errorf("%s: the input is in it: %s", c.tool, data)
				}
			}
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "protocol"})
			if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32602 {
				t.Errorf("a protocol error that is meant: %v", err)
			}
			_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nobody"})
			if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32602 {
				t.Errorf("an unknown tool: %v", err)
			}
			if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "good", Arguments: map[string]any{"secret": 1}}); err != nil || !res.IsError {
				t.Errorf("wrong arguments: %+v, %v", res, err)
			}
			if got := rec.take(); len(got) != 0 {
				t.Errorf("recorded: %+v", got)
			}
			if _, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p"}); err == nil || !strings.Contains(err.Error(), "Error in prompts/get: panic: prompt") {
				t.Errorf("a prompt that panics: %v", err)
			}
			if got := rec.take(); len(got) != 1 || got[0].Stack == "" {
				t.Errorf("recorded: %+v", got)
			}
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "good"})
			if err != nil || res.IsError {
				t.Errorf("after all that: %+v, %v", res, err)
			}
		})
	}
}

// An error whose words panic. The SDK asks for them itself, inside of the boundary.
func TestMiddleware_LoudError(t *testing.T) {
	rec := &recorder{}
	session, _ := connect(t, newServer(gosdk.Boundary{Settings: boundary.Settings{Record: rec.record}}), "")
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "loud"})
	if err != nil || !res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := rec.take(); len(got) != 1 || got[0].Cause != boundary.Panicked {
		t.Errorf("recorded: %+v", got)
	}
}

// A client that gives up is not told of a failure, and none is recorded.
func TestMiddleware_Cancelled(t *testing.T) {
	rec := &recorder{}
	session, _ := connect(t, newServer(gosdk.Boundary{Settings: boundary.Settings{Record: rec.record}}), "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hangs"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "good"}); err != nil || res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	if got := rec.take(); len(got) != 0 {
		t.Errorf("recorded: %+v", got)
	}
}
