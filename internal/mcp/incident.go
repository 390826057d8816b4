package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/verdict"
)

// incident is something to be put on record. It never contains arguments or results.
type incident struct {
	event  string // tool_error, request_error, crash, hung, memory, start_failed, retry, refused, pollution, late, oversize, client_error, unrecorded
	text   string
	method string
	tool   string
	input  digest // of a tool's arguments
	code   int    // of a JSON-RPC error
	count  int
	took   time.Duration
	class  verdict.Class
	death  *death
	// passing says that it is no final result: what it has led to is on record by itself, or there is another try.
	passing bool
	// answered says that the server works: it has answered, and its answer is an error.
	answered bool
	retries  int

	generation, pid int
}

func (c *core) record(r incident) {
	r.generation, r.pid = c.generation, c.pid
	c.out.record(r)
}

// serverFailed reports whether the server itself has failed.
func (r *incident) serverFailed() bool {
	if r.answered {
		return false
	}
	switch r.class {
	case verdict.Crash, verdict.Timeout, verdict.Resources, verdict.BreakerOpen,
		verdict.Network, verdict.RateLimit, verdict.Overloaded, verdict.ServerError, verdict.Auth: // over a network
		return true
	}
	return false
}

// recordFailed records that a call of the client has failed.
func (c *core) recordFailed(k *call, r incident) {
	if k.id == "" || k.cancelled { // ours, or on record already
		return
	}
	r.event, r.method, r.tool = "request_error", k.method, k.tool
	if k.method == "tools/call" {
		r.event, r.input = "tool_error", k.input()
		r.text = k.withoutArguments(r.text)
	}
	r.retries = k.retries
	c.record(r)
}

// maxQuoted is how much of a tool's arguments is looked for in its error.
const maxQuoted = 64 << 10

// withoutArguments is what a tool says of its failure, without what it quotes of its arguments: longer pieces, and credentials.
func (k *call) withoutArguments(text string) string {
	if len(k.args) == 0 {
		return text
	}
	args := []string{string(k.args[:min(len(k.args), maxQuoted)])}
	return (&redact.Known{Quoted: func() []string { return args }}).Text(text)
}

// digest is what is kept of a tool's arguments.
type digest struct {
	sha256 string // empty for arguments that were too large to be kept
	size   int
}

// maxHashed is the size of the arguments that are kept, as long as a call lasts, to hash them should it fail.
const maxHashed = 1 << 20

// input is the digest of the call's arguments.
func (k *call) input() digest {
	d := digest{size: k.argsSize}
	if k.args != nil {
		sum := sha256.Sum256(k.args)
		d.sha256 = hex.EncodeToString(sum[:])
	}
	return d
}

// refusal is what a server has answered a call with, if that is an error; ok is false if it is a result.
func refusal(k *call, m *wire.Message) (r incident, ok bool) {
	switch {
	case m.Failed:
		r.code, r.text = errorOf(m)
		r.class = classOf(r.code)
	case m.Bad && k.method == "tools/call":
		r.class, r.text = verdict.Unknown, toolErrorOf(m)
	default:
		return r, false
	}
	r.answered = true
	return r, true
}

// classOf is the class of a JSON-RPC error. It tells mistakes of the client from failures of the server.
func classOf(code int) verdict.Class {
	switch code {
	case codeParse, codeInvalid, codeParams, codeNoResource:
		return verdict.InvalidRequest
	case codeNoMethod:
		return verdict.NotFound
	case codeInternal:
		return verdict.ServerError
	}
	return verdict.Unknown
}

const (
	// maxRead is the size of an answer whose error is read: longer ones are no error messages.
	maxRead = 256 << 10
	// maxText is how much of an error is kept, in characters.
	maxText = 500
)

// errorOf reads a JSON-RPC error.
func errorOf(m *wire.Message) (code int, text string) {
	var answer struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if !readAnswer(m, &answer) {
		return 0, messages.ErrorOfSize(m.Size)
	}
	return answer.Error.Code, orText(answer.Error.Message, messages.ErrorWithoutMessage())
}

// toolErrorOf reads what a tool says of its failure.
func toolErrorOf(m *wire.Message) string {
	var answer struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if !readAnswer(m, &answer) {
		return messages.ErrorOfSize(m.Size)
	}
	var texts []string
	for _, c := range answer.Result.Content {
		texts = append(texts, c.Text)
	}
	return orText(strings.Join(texts, " "), messages.ErrorWithoutMessage())
}

// readAnswer reads a line into a struct. What is of another type than expected stays empty.
func readAnswer(m *wire.Message, into any) bool {
	if m.Size > maxRead {
		return false
	}
	json.Unmarshal(m.Bytes(), into)
	return true
}

// orText is a text on one line, bounded, or another if it is empty.
func orText(text, otherwise string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*maxText)], "")
	text = redact.Text(strings.Join(strings.Fields(text), " ")) // before it is cut: half of a credential is harder to find
	if r := []rune(text); len(r) > maxText {
		text = string(r[:maxText]) + "…"
	}
	return cmp.Or(text, otherwise)
}

// entry is the line of the log.
func (o *Options) entry(r incident, now time.Time) journal.Entry {
	detail := struct {
		Server     string `json:"server"`
		Generation int    `json:"generation"`
		PID        int    `json:"pid,omitempty"`
		Method     string `json:"method,omitempty"`
		Tool       string `json:"tool_name,omitempty"`
		Hash       string `json:"input_sha256,omitempty"`
		Size       int    `json:"input_bytes,omitempty"`
		Code       int    `json:"code,omitempty"`
		Retries    int    `json:"retry_count,omitempty"`
		Count      int    `json:"count,omitempty"`
		Stderr     string `json:"stderr,omitempty"`
	}{Server: o.Name, Generation: r.generation, PID: r.pid, Method: r.method, Tool: r.tool, Hash: r.input.sha256, Size: r.input.size,
		Code: r.code, Retries: r.retries, Count: r.count}
	e := journal.Entry{Timestamp: journal.Time{Time: now}, Invocation: o.ID, Profile: o.gateKey(), Command: o.command(), Attempt: r.generation,
		Status: journal.Error, ErrorType: r.class, Error: r.text, ResponseTime: r.took.Seconds(), Gate: o.gateKey(),
		Kind: journal.MCP, Event: r.event}
	if r.passing {
		e.Status = journal.Retry
	}
	if d := r.death; d != nil {
		e.Error, e.ExitCode, e.Signal = messages.OnServer(d.text()), d.code, d.signal
		if r.method == "" {
			e.ResponseTime = d.uptime.Seconds()
		}
		detail.Stderr = d.tail
		if d.err != nil {
			e.ErrorType = verdict.ToolMissing
		}
	}
	e.Detail, _ = json.Marshal(detail)
	return e
}
