package wire

import (
	"bytes"
	"encoding/json"
)

// finding is what has been found of an envelope.
type finding struct {
	Envelope
	jsonrpc bool // it says "jsonrpc":"2.0"
	sawID   bool
	odd     bool // it has an id or a method that cannot be one, or two of them
}

// place is an object whose fields matter.
type place byte

const (
	elsewhere place = iota
	inMessage
	inParams
	inMeta
	inResult
)

// field is what a key means in an object.
type field struct {
	inner place // the object that its value may be, of which keys matter too
	args  bool  // its value are the arguments of a tool
	// note keeps its value, which stands there in the line. nil stands for an object or an array.
	note func(f *finding, value []byte, at Span)
}

// fields are what the keys of an object mean.
var fields = [...]map[string]field{
	inMessage: {
		"jsonrpc": {note: func(f *finding, value []byte, _ Span) { f.jsonrpc = string(value) == `"2.0"` }},
		"id":      {note: (*finding).noteID},
		"method":  {note: (*finding).noteMethod},
		"params":  {inner: inParams},
		"result":  {inner: inResult, note: func(f *finding, _ []byte, _ Span) { f.Result = true }},
		"error":   {note: func(f *finding, _ []byte, _ Span) { f.Failed = true }},
	},
	inParams: {
		"name":           {note: func(f *finding, value []byte, _ Span) { f.Name = plain(value) }},
		"arguments":      {args: true},
		"uri":            {note: func(f *finding, value []byte, _ Span) { f.URI = plain(value) }},
		"progressToken":  {note: noteToken},
		"requestId":      {note: func(f *finding, value []byte, at Span) { f.Request, f.RequestAt = value, at }},
		"cursor":         {note: func(f *finding, _ []byte, _ Span) { f.Cursor = true }},
		"requestState":   {note: noteResumed},
		"inputResponses": {note: noteResumed},
		"_meta":          {inner: inMeta},
	},
	inMeta: {
		"progressToken": {note: noteToken},
		"io.modelcontextprotocol/protocolVersion": {note: func(f *finding, value []byte, _ Span) {
			f.Modern, f.Version = true, plain(value)
		}},
		"io.modelcontextprotocol/subscriptionId": {note: func(f *finding, value []byte, _ Span) { f.Listener = value }},
	},
	inResult: {"isError": {note: func(f *finding, value []byte, _ Span) { f.Bad = string(value) == "true" }}},
}

func noteToken(f *finding, value []byte, _ Span) { f.Token = value }
func noteResumed(f *finding, _ []byte, _ Span)   { f.Resumed = true }

func (f *finding) noteID(value []byte, at Span) {
	f.odd = f.odd || f.sawID
	f.sawID = true
	if value != nil && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
		f.ID = value
	} else {
		f.odd = f.odd || string(value) != "null" // no id can be an object or a boolean
	}
	f.IDAt = at
}

func (f *finding) noteMethod(value []byte, _ Span) {
	f.odd = f.odd || f.Method != nil || value == nil || value[0] != '"'
	f.Method = plain(value)
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
