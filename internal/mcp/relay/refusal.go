package relay

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/belay-run/belay/internal/mcp/wire"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/verdict"
)

// refusal is what a server has answered a call with, if that is an error; ok is false if it is a result.
func refusal(k *call, m *wire.Message) (i Incident, ok bool) {
	switch {
	case m.Failed:
		i.code, i.text = errorOf(m)
		i.class = classOf(i.code)
	case m.Bad && k.method == "tools/call":
		i.class, i.text = verdict.Unknown, toolErrorOf(m)
	default:
		return i, false
	}
	i.answered = true
	return i, true
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
