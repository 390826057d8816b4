// Package gosdk puts a boundary around the handlers of an MCP server built with the official Go SDK, which by its makers'
// decision lets a panic in a handler end the whole server.
//
//	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1.0"}, nil)
//	server.AddReceivingMiddleware(gosdk.Boundary{Settings: boundary.Settings{Server: "files", Record: state.Recorder()}}.Middleware())
//
// A tool that panics, returns an error or takes longer than 30 s gives the client a result that says isError and "Error in
// <tool>: <short text>"; the stack goes to the recorder and nowhere else. The result is complete in both eras of the
// protocol: from 2026-07-28 on it says so, as it must. A [jsonrpc.Error] is a protocol error that the handler means, and
// passes; so does a result that the handler itself has made an error.
//
// Handlers of prompts, resources and the rest are guarded against panics alone: they may take as long as they like.
package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belay-run/belay/boundary"
)

// Boundary says how the handlers of a server are guarded. The zero value works.
type Boundary struct {
	boundary.Settings
	// Tools are the tools with a time limit of their own: longer ones, or less than 0 for none. A tool that asks its user
	// something waits for a person.
	Tools map[string]time.Duration
}

// Middleware is for [mcp.Server.AddReceivingMiddleware]. Middleware that is added with or after it runs outside of it.
func (b Boundary) Middleware() mcp.Middleware {
	b.Tools = maps.Clone(b.Tools)
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
				return b.guardTool(ctx, method, call, next)
			}
			return b.guardOther(ctx, method, req, next)
		}
	}
}

// guardTool guards the call of a tool.
func (b Boundary) guardTool(ctx context.Context, method string, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	name, s := req.Params.Name, b.Settings
	if d, ok := b.Tools[name]; ok {
		s.Timeout = d
	}
	guarded := boundary.Guard(name, func(ctx context.Context, _ json.RawMessage) (answer, error) {
		res, err := next(ctx, method, req)
		if meant, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return answer{protocolErr: meant}, nil
		}
		if err == nil {
			err = handlerError(res)
		}
		return answer{result: res}, err
	}, s)
	got, failure := guarded(ctx, req.Params.Arguments)
	switch {
	case failure == nil && got.protocolErr != nil:
		return nil, got.protocolErr
	case failure == nil:
		return got.result, nil
	case failure.Cause == boundary.Cancelled:
		return nil, failure.Err
	}
	return errorResult(req.Session, failure.ForClient()), nil
}

// answer is what the SDK has made of a handler: a result, or a protocol error that the handler returned.
type answer struct {
	result      mcp.Result
	protocolErr error
}

// guardOther guards all other handlers, whose panics would end the server just as well.
func (b Boundary) guardOther(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	s := b.Settings
	s.Timeout = -1
	guarded := boundary.Guard(method, func(ctx context.Context, _ struct{}) (answer, error) {
		res, err := next(ctx, method, req)
		return answer{result: res, protocolErr: err}, nil // errors are answers here
	}, s)
	got, failure := guarded(ctx, struct{}{})
	switch {
	case failure == nil:
		return got.result, got.protocolErr
	case failure.Cause == boundary.Cancelled:
		return nil, failure.Err
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: failure.ForClient()}
}

// handlerError is what a typed handler returned, which the SDK has put into a result. Wrong arguments
// from the client are left out: the model is told of them, and no handler has failed.
func handlerError(res mcp.Result) error {
	call, ok := res.(*mcp.CallToolResult)
	if !ok || call == nil {
		return nil
	}
	err := call.GetError()
	if err != nil && strings.HasPrefix(err.Error(), `validating "arguments"`) {
		return nil
	}
	return err
}

// firstComplete is the version of the protocol from which on a result must say that it is one.
const firstComplete = "2026-07-28"

// errorResult is the result of a tool that has failed. The field that says that it is complete can be set from outside of
// the SDK only by way of JSON.
func errorResult(session *mcp.ServerSession, text string) *mcp.CallToolResult {
	res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: true}
	if session != nil {
		if p := session.InitializeParams(); p != nil && p.ProtocolVersion < firstComplete {
			return res
		}
	}
	complete := &mcp.CallToolResult{}
	data, err := json.Marshal(boundary.ErrorResult(text))
	if err != nil || json.Unmarshal(data, complete) != nil {
		return res
	}
	return complete
}
