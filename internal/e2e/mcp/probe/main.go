//go:build linux

// Command probe is an MCP server whose tools do what servers should not. E2E_MCP_SERVER says what else is wrong with it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type text struct {
	Text string `json:"text,omitempty"`
	N    int    `json:"n,omitempty"`
}

func say(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func main() {
	kind := os.Getenv("E2E_MCP_SERVER")
	switch kind {
	case "dies at start":
		fmt.Fprintln(os.Stderr, "no such database")
		os.Exit(7)
	case "dies at the second start":
		if _, err := os.Stat(os.Getenv("E2E_MCP_FLAG")); err == nil {
			fmt.Fprintln(os.Stderr, "the lock is taken")
			os.Exit(8)
		}
		os.WriteFile(os.Getenv("E2E_MCP_FLAG"), nil, 0o600)
	case "chatty":
		fmt.Println("server is starting on stdio")
		fmt.Println(`{"level":"info","msg":"ready"}`)
		fmt.Println(`[1,2,3]`)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "probe", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	tool := func(name string, hint *mcp.ToolAnnotations, do func(context.Context, *mcp.CallToolRequest, text) (string, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Annotations: hint}, func(ctx context.Context, r *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			out, err := do(ctx, r, in)
			return say(out), nil, err
		})
	}
	plain := func(do func(text) string) func(context.Context, *mcp.CallToolRequest, text) (string, error) {
		return func(_ context.Context, _ *mcp.CallToolRequest, in text) (string, error) { return do(in), nil }
	}
	tool("echo", nil, plain(func(in text) string { return in.Text }))
	tool("look", &mcp.ToolAnnotations{ReadOnlyHint: true}, plain(func(in text) string { return in.Text }))
	tool("pid", nil, plain(func(text) string { return strconv.Itoa(os.Getpid()) }))
	tool("exit", nil, plain(func(in text) string {
		fmt.Fprintln(os.Stderr, "about to exit")
		os.Exit(in.N)
		return ""
	}))
	tool("panic", nil, plain(func(text) string { panic("out of cheese") }))
	tool("kill", nil, plain(func(text) string { return kill(syscall.SIGKILL) }))
	tool("stop", nil, plain(func(text) string { return kill(syscall.SIGSTOP) }))
	tool("mute", nil, plain(func(text) string {
		syscall.Close(1)
		select {}
	}))
	tool("print", nil, plain(func(in text) string {
		fmt.Println(in.Text)
		return "printed"
	}))
	tool("big", nil, plain(func(in text) string { return strings.Repeat("x", in.N) }))
	tool("fail", nil, func(context.Context, *mcp.CallToolRequest, text) (string, error) { return "", errors.New("no luck") })
	tool("sleep", nil, func(ctx context.Context, _ *mcp.CallToolRequest, in text) (string, error) {
		for end := time.Now().Add(time.Duration(in.N) * time.Millisecond); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if in.Text == "heed" && ctx.Err() != nil {
				return "", ctx.Err()
			}
		}
		return "slept", nil
	})
	// The second server of a run answers what the first one died of.
	tool("once", &mcp.ToolAnnotations{IdempotentHint: true}, plain(func(in text) string {
		if _, err := os.Stat(in.Text); err == nil {
			return "the second time"
		}
		os.WriteFile(in.Text, nil, 0o600)
		os.Exit(3)
		return ""
	}))
	tool("doom", &mcp.ToolAnnotations{IdempotentHint: true}, plain(func(text) string { os.Exit(3); return "" }))
	// A tool whose error is one of the protocol, with that code.
	s.AddTool(&mcp.Tool{Name: "refuse", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in text
			json.Unmarshal(r.Params.Arguments, &in)
			return nil, &jsonrpc.Error{Code: int64(in.N), Message: in.Text}
		})
	tool("grow", nil, plain(func(text) string { os.WriteFile(os.Getenv("E2E_MCP_FLAG"), nil, 0o600); os.Exit(1); return "" }))
	if kind == "grows" {
		if _, err := os.Stat(os.Getenv("E2E_MCP_FLAG")); err == nil {
			tool("grown", nil, plain(func(text) string { return "yes" }))
		}
	}
	s.AddResource(&mcp.Resource{URI: "mem://a", Name: "a"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "mem://a", Text: "A"}}}, nil
	})
	if at := os.Getenv("E2E_MCP_LISTEN"); at != "" {
		serve(s, kind, at)
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is the same server over HTTP: one for all sessions, in the form that kind says.
func serve(s *mcp.Server, kind, at string) {
	get := func(*http.Request) *mcp.Server { return s }
	var handler http.Handler = mcp.NewStreamableHTTPHandler(get, nil)
	switch kind {
	case "stateless":
		handler = mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true})
	case "sse":
		handler = mcp.NewSSEHandler(get, nil)
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(at, handler))
	os.Exit(1)
}

func kill(sig syscall.Signal) string {
	syscall.Kill(os.Getpid(), sig)
	time.Sleep(time.Second)
	return "still here"
}
