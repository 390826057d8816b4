package relay

import (
	"encoding/json"
	"fmt"
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

// errorAnswer is an error in the place of the server's answer; an id that is not known is null.
func errorAnswer(id []byte, code int, text string) []byte {
	if id == nil {
		id = []byte("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quoted("belay: "+text))
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
