package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
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
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	line = append(line, `,"error":{"code":`...)
	line = strconv.AppendInt(line, int64(code), 10)
	line = append(line, `,"message":`...)
	line = append(line, quoted("belay: "+text)...)
	c.out.toClient(append(line, "}}"...))
}

func toolFailed(id, text string, modern bool) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	line = append(line, `,"result":{"content":[{"type":"text","text":`...)
	line = append(line, quoted("belay: "+text)...)
	line = append(line, `}],"isError":true`...)
	if modern {
		line = append(line, `,"resultType":"complete"`...)
	}
	return append(line, "}}"...)
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
	var b strings.Builder
	what := k.method
	if k.tool != "" {
		what = "tool " + strconv.Quote(k.tool)
	}
	fmt.Fprintf(&b, "the MCP server %q %s while %s was under way", o.Name, d.text(), what)
	if o.NoRestart {
		b.WriteString("; it is not started again (--no-restart), and whether the call took effect is not known")
	} else {
		b.WriteString("; it is started again, but what it kept in memory is gone, and whether the call took effect is not known")
	}
	b.WriteString(tailText(d.tail))
	return b.String()
}

func startText(o *Options, d death) string {
	if d.err != nil {
		return fmt.Sprintf("the MCP server %q cannot be started: %v", o.Name, d.err)
	}
	return fmt.Sprintf("the MCP server %q %s before it could be used%s", o.Name, d.text(), tailText(d.tail))
}

func tailText(tail string) string {
	if tail = strings.TrimSpace(tail); tail == "" {
		return "; it wrote nothing to stderr"
	}
	return ". The end of its stderr:\n" + tail
}

func timeoutText(o *Options, k *call, took time.Duration) string {
	if k.tool != "" {
		return fmt.Sprintf("tool %q of the MCP server %q gave no answer within %s and was cancelled; it may have taken effect. To allow it more time: belay mcp --tool-timeout %s=%s",
			k.tool, o.Name, seconds(took), k.tool, seconds(10*k.limit))
	}
	return fmt.Sprintf("the MCP server %q gave no answer to %s within %s", o.Name, k.method, seconds(took))
}

// whyNoServer says why there is no server.
func (c *core) whyNoServer() string {
	if !c.suspectAt.IsZero() {
		return fmt.Sprintf("the MCP server %q does not react", c.opt.Name)
	}
	return fmt.Sprintf("the MCP server %q has not come back in time", c.opt.Name)
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func megabytes(n int) string {
	if n < 1<<20 {
		return strconv.Itoa(n) + " bytes"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}
