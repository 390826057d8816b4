package wire

// Envelope is what the proxy needs to know of a message: of the arguments only where they stand, of the result only whether
// it is one.
type Envelope struct {
	Valid bool // JSON in shape, of "jsonrpc":"2.0", with an id that can be one
	JSON  bool // JSON in shape
	Batch bool // a JSON array; the elements have envelopes of their own

	ID     []byte // as it stands in the line; nil if there is none
	IDAt   Span
	Method []byte // without quotes; nil if there is none
	Result bool
	Failed bool // it has an error
	Bad    bool // it is the result of a tool that says isError

	Name      []byte // of a tool or prompt
	ArgsAt    Span   // where the arguments of a tool stand
	URI       []byte
	Token     []byte // the progress token that a request gives or a notification names
	Request   []byte // the id that a notification cancels
	RequestAt Span
	Listener  []byte // the subscriptions/listen request that a notification belongs to
	Cursor    bool   // not the first page
	Resumed   bool   // goes on with an earlier call (requestState, inputResponses)
	Modern    bool   // says its protocol version with each request, as from 2026-07-28
	Version   []byte // that version
}

// Span is where something stands in a line.
type Span struct{ From, To int }

// Replace is a line with a text in the place of what stands there.
func (at Span) Replace(line []byte, text string) []byte {
	edited := make([]byte, 0, len(line)+len(text))
	return append(append(append(edited, line[:at.From]...), text...), line[at.To:]...)
}

func (e *Envelope) IsRequest() bool  { return e.Valid && e.Method != nil && e.ID != nil }
func (e *Envelope) IsNotice() bool   { return e.Valid && e.Method != nil && e.ID == nil }
func (e *Envelope) IsResponse() bool { return e.Valid && e.Method == nil && e.ID != nil }
