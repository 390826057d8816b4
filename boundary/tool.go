package boundary

import (
	"context"
	"encoding/json"
)

// Tool puts the handler of an MCP tool behind a boundary. failed makes the result that the client gets in place of one,
// from a text such as "Error in search: connection refused"; [ErrorResult] does for servers without an SDK.
func Tool[In, Out any](name string, fn func(context.Context, In) (Out, error), failed func(text string) Out, s Settings) func(context.Context, In) Out {
	guarded := Guard(name, fn, s)
	return func(ctx context.Context, in In) Out {
		out, failure := guarded(ctx, in)
		if failure != nil {
			return failed(failure.ForClient())
		}
		return out
	}
}

// Guard is Tool for callers that handle the failure themselves.
func Guard[In, Out any](name string, fn func(context.Context, In) (Out, error), s Settings) func(context.Context, In) (Out, *Failure) {
	if s.Timeout == 0 {
		s.Timeout = toolTimeout
	}
	return func(ctx context.Context, in In) (Out, *Failure) {
		c := call{s, Failure{Kind: KindTool, Name: name, Server: s.Server, input: in}}
		return run(ctx, c, func(ctx context.Context) (Out, error) { return fn(ctx, in) })
	}
}

// ForClient is what the client of a tool is told: what happened, and no stack.
func (f *Failure) ForClient() string { return "Error in " + f.Name + ": " + f.Text }

// Result is the result of a tools/call, for servers without an SDK. As JSON it is complete in both eras of the protocol:
// from 2026-07-28 on a result must say that it is one, and older clients ignore the field.
type Result struct {
	Content []Content `json:"content"`
	IsError bool      `json:"isError,omitempty"`
}

// Content is a piece of text in a result.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// TextResult is a good result.
func TextResult(text string) *Result { return &Result{Content: []Content{{"text", text}}} }

// ErrorResult is the result of a tool that has failed.
func ErrorResult(text string) *Result {
	return &Result{Content: []Content{{"text", text}}, IsError: true}
}

// MarshalJSON implements [json.Marshaler].
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if r.Content == nil {
		r.Content = []Content{} // null is none
	}
	return json.Marshal(struct {
		plain
		ResultType string `json:"resultType"`
	}{plain(r), "complete"})
}
