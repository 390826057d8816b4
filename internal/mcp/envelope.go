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

// field is what a key means in an object.
type field struct {
	inner place // the object that its value may be, of which keys matter too
	args  bool  // its value are the arguments of a tool
	// note keeps its value, which stands there in the line. nil stands for an object or an array.
	note func(s *scanner, value []byte, at span)
}

// fields are what the keys of an object mean.
var fields = [...]map[string]field{
	inMessage: {
		"jsonrpc": {note: func(s *scanner, value []byte, _ span) { s.version = string(value) == `"2.0"` }},
		"id":      {note: (*scanner).noteID},
		"method":  {note: (*scanner).noteMethod},
		"params":  {inner: inParams},
		"result":  {inner: inResult, note: func(s *scanner, _ []byte, _ span) { s.env.result = true }},
		"error":   {note: func(s *scanner, _ []byte, _ span) { s.env.failed = true }},
	},
	inParams: {
		"name":           {note: func(s *scanner, value []byte, _ span) { s.env.name = plain(value) }},
		"arguments":      {args: true},
		"uri":            {note: func(s *scanner, value []byte, _ span) { s.env.uri = plain(value) }},
		"progressToken":  {note: noteToken},
		"requestId":      {note: func(s *scanner, value []byte, at span) { s.env.request, s.env.requestAt = value, at }},
		"cursor":         {note: func(s *scanner, _ []byte, _ span) { s.env.cursor = true }},
		"requestState":   {note: noteResumed},
		"inputResponses": {note: noteResumed},
		"_meta":          {inner: inMeta},
	},
	inMeta: {
		"progressToken": {note: noteToken},
		"io.modelcontextprotocol/protocolVersion": {note: func(s *scanner, value []byte, _ span) {
			s.env.modern, s.env.version = true, plain(value)
		}},
		"io.modelcontextprotocol/subscriptionId": {note: func(s *scanner, value []byte, _ span) { s.env.listener = value }},
	},
	inResult: {"isError": {note: func(s *scanner, value []byte, _ span) { s.env.bad = string(value) == "true" }}},
}

func noteToken(s *scanner, value []byte, _ span) { s.env.token = value }
func noteResumed(s *scanner, _ []byte, _ span)   { s.env.resumed = true }

func (s *scanner) noteID(value []byte, at span) {
	s.odd = s.odd || s.sawID
	s.sawID = true
	if value != nil && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
		s.env.id = value
	} else {
		s.odd = s.odd || string(value) != "null" // no id can be an object or a boolean
	}
	s.env.idAt = at
}

func (s *scanner) noteMethod(value []byte, _ span) {
	s.odd = s.odd || s.env.method != nil || value == nil || value[0] != '"'
	s.env.method = plain(value)
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
