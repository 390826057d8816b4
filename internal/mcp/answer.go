package mcp

import (
	"encoding/json"
	"fmt"
	"time"

	messages "github.com/belay-run/belay/internal/message"
)

// The errors that clients get from us: those of JSON-RPC, and of what it leaves to implementations.
const (
	codeParse    = -32700
	codeInvalid  = -32600
	codeCrashed  = -32000
	codeTimeout  = -32001
	codeStart    = -32010
	codeRefused  = -32011
	codeTooLarge = -32012
)

// The errors of servers that mean something to us.
const (
	codeNoMethod   = -32601
	codeParams     = -32602
	codeInternal   = -32603
	codeNoResource = -32002
)

// fail answers a call of the client in place of the server, and puts it on record with what r says. A tool's failure is a
// result, which models get to see; anything else is an error.
func (c *core) fail(k *call, code int, text string, r incident) {
	c.recordFailed(k, r)
	switch {
	case k.id == "" || k.cancelled:
	case k.method == "tools/call":
		c.out.toClient(toolFailed(k.id, text, k.modern))
	default:
		c.refuse([]byte(k.id), code, text)
	}
	if c.closing {
		c.endIfIdle()
	}
}

// refuse answers with an error; an id that is not known is null.
func (c *core) refuse(id []byte, code int, text string) {
	if id == nil {
		id = []byte("null")
	}
	c.out.toClient(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quoted("belay: "+text)))
}

func toolFailed(id, text string, modern bool) []byte {
	kind := ""
	if modern {
		kind = `,"resultType":"complete"`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}],"isError":true%s}}`,
		id, quoted("belay: "+text), kind)
}

func cancelled(id, reason string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":` + string(quoted(reason)) + `}}`)
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string always has a form
	return b
}

// crashText tells a client, and its model, what became of a call.
func crashText(o *Options, k *call, d death) string {
	return messages.ServerCrashed(o.Name, d.text(), k.method, k.tool, d.tail, !o.NoRestart)
}

func startText(o *Options, d death) string {
	switch {
	case d.err != nil && d.remote:
		return messages.ServerNotReached(o.Name, d.err)
	case d.err != nil:
		return fmt.Sprintf("the MCP server %q cannot be started: %v", o.Name, d.err)
	case d.remote:
		return messages.CallNotDone(o.Name, d.text())
	}
	return messages.ServerDied(o.Name, d.text(), d.tail)
}

func timeoutText(o *Options, k *call, took time.Duration) string {
	if k.tool != "" {
		return messages.ToolTimedOut(o.Name, k.tool, took, 10*k.limit)
	}
	return messages.CallTimedOut(o.Name, k.method, took)
}

// whyNoServer says why there is no server.
func (c *core) whyNoServer() string {
	if !c.suspectAt.IsZero() {
		return fmt.Sprintf("the MCP server %q is not responding", c.opt.Name)
	}
	return messages.ServerNotBack(c.opt.Name)
}
