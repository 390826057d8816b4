package mcp

import (
	"bytes"
	"encoding/json"
)

// envelope is what the proxy needs to know of a message: of the arguments only where they stand, of the result only whether
// it is one.
type envelope struct {
	valid bool // JSON in shape, of "jsonrpc":"2.0", with an id that can be one
	json  bool // JSON in shape
	batch bool // a JSON array; the elements have envelopes of their own

	id     []byte // as it stands in the line; nil if there is none
	idAt   span
	method []byte // without quotes; nil if there is none
	result bool
	failed bool // it has an error
	bad    bool // it is the result of a tool that says isError

	name      []byte // of a tool or prompt
	argsAt    span   // where the arguments of a tool stand
	uri       []byte
	token     []byte // the progress token that a request gives or a notification names
	request   []byte // the id that a notification cancels
	requestAt span
	listener  []byte // the subscriptions/listen request that a notification belongs to
	cursor    bool   // not the first page
	resumed   bool   // goes on with an earlier call (requestState, inputResponses)
	modern    bool   // says its protocol version with each request, as from 2026-07-28
	version   []byte // that version
}

// span is where something stands in a line.
type span struct{ from, to int }

func (e *envelope) isRequest() bool  { return e.valid && e.method != nil && e.id != nil }
func (e *envelope) isNotice() bool   { return e.valid && e.method != nil && e.id == nil }
func (e *envelope) isResponse() bool { return e.valid && e.method == nil && e.id != nil }

type field byte

const (
	other field = iota
	fieldVersion
	fieldID
	fieldMethod
	fieldParams
	fieldResult
	fieldError
	fieldName
	fieldURI
	fieldToken
	fieldRequest
	fieldCursor
	fieldResumed
	fieldMeta
	fieldModern
	fieldListener
	fieldArguments
	fieldIsError
)

// fields are what the keys of an object mean.
var fields = [...]map[string]field{
	inMessage: {"jsonrpc": fieldVersion, "id": fieldID, "method": fieldMethod, "params": fieldParams, "result": fieldResult, "error": fieldError},
	inParams: {"name": fieldName, "arguments": fieldArguments, "uri": fieldURI, "progressToken": fieldToken, "requestId": fieldRequest,
		"cursor": fieldCursor, "requestState": fieldResumed, "inputResponses": fieldResumed, "_meta": fieldMeta},
	inMeta: {"progressToken": fieldToken, "io.modelcontextprotocol/protocolVersion": fieldModern,
		"io.modelcontextprotocol/subscriptionId": fieldListener},
	inResult: {"isError": fieldIsError},
}

// note keeps a value that is wanted, which ends before at. nil stands for an object or an array.
func (s *scanner) note(value []byte, at int) {
	e := &s.env
	where := span{s.from, at}
	switch s.field {
	case fieldVersion:
		s.version = string(value) == `"2.0"`
	case fieldID:
		s.odd = s.odd || s.sawID
		s.sawID = true
		if value != nil && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
			e.id = value
		} else {
			s.odd = s.odd || string(value) != "null" // no id can be an object or a boolean
		}
		e.idAt = where
	case fieldMethod:
		s.odd = s.odd || e.method != nil || value == nil || value[0] != '"'
		e.method = plain(value)
	case fieldResult:
		e.result = true
	case fieldError:
		e.failed = true
	case fieldName:
		e.name = plain(value)
	case fieldURI:
		e.uri = plain(value)
	case fieldToken:
		e.token = value
	case fieldRequest:
		e.request, e.requestAt = value, where
	case fieldCursor:
		e.cursor = true
	case fieldResumed:
		e.resumed = true
	case fieldModern:
		e.modern, e.version = true, plain(value)
	case fieldListener:
		e.listener = value
	case fieldIsError:
		e.bad = string(value) == "true"
	}
}

// plain takes the quotes off a string, and undoes its escapes.
func plain(quoted []byte) []byte {
	if len(quoted) < 2 || quoted[0] != '"' {
		return nil
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil
	}
	return []byte(text)
}
