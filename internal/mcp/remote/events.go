package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"
)

// events reads a stream of server-sent events, in whatever pieces it comes. Messages go to an inbox on one line each, the long ones as
// they come; what other events say goes to named.
type events struct {
	inbox io.Writer
	named func(event string, data []byte)

	lastID string        // of the last event that was complete
	retry  time.Duration // how long the server wants us to wait before the stream is resumed; 0 if it has not said
	count  int           // events that were complete

	bom     int  // bytes of a byte order mark that were seen; -1 if there can be none any more
	cr      bool // the last byte was a CR: an LF belongs to it
	state   byte
	field   []byte
	value   []byte
	event   string
	id      string
	data    []byte
	hasData bool
	long    bool // data has been passed on already
}

const (
	atLine  byte = iota // nothing of the line was read
	inField             // its name
	atValue             // behind the colon
	inValue
	inComment
)

const (
	// heldData is how long the data of an event may be until it is passed on before the event is complete.
	heldData = 64 << 10
	// heldValue bounds the other fields.
	heldValue = 4 << 10
)

// Write takes the next bytes.
func (e *events) Write(b []byte) (int, error) {
	n := len(b)
	for e.bom >= 0 && len(b) > 0 {
		if e.bom == len(byteOrderMark) || b[0] != byteOrderMark[e.bom] {
			e.bom = -1
			break
		}
		e.bom, b = e.bom+1, b[1:]
	}
	for len(b) > 0 {
		if e.cr {
			if e.cr = false; b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := lineEnd(b)
		if end < 0 {
			e.part(b)
			break
		}
		e.part(b[:end])
		e.cr = b[end] == '\r'
		e.endLine()
		b = b[end+1:]
	}
	return n, nil
}

// lineEnd is where the first line of b ends; -1 if it does not.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// part takes a piece of a line.
func (e *events) part(b []byte) {
	for len(b) > 0 {
		switch e.state {
		case atLine:
			e.state, e.field, e.value = inField, e.field[:0], e.value[:0]
			if b[0] == ':' {
				e.state = inComment
			}
		case inField:
			colon := bytes.IndexByte(b, ':')
			if colon < 0 {
				e.field = appendUpTo(e.field, b, heldValue)
				return
			}
			e.field = appendUpTo(e.field, b[:colon], heldValue)
			b = b[colon+1:]
			e.beginValue()
		case atValue:
			if e.state = inValue; b[0] == ' ' {
				b = b[1:]
			}
		case inValue:
			if string(e.field) == "data" {
				e.addData(b)
			} else {
				e.value = appendUpTo(e.value, b, heldValue)
			}
			return
		default:
			return
		}
	}
}

func (e *events) beginValue() {
	e.state = atValue
	if string(e.field) != "data" {
		return
	}
	if e.hasData {
		e.addData([]byte{' '}) // lines are joined by a line end, which in JSON is a space
	}
	e.hasData = true
}

func (e *events) addData(b []byte) {
	if len(e.data)+len(b) > heldData && e.isMessage() {
		e.long = true
		e.inbox.Write(e.data)
		e.inbox.Write(b)
		e.data = e.data[:0]
		return
	}
	e.data = appendUpTo(e.data, b, heldData)
}

func appendUpTo(to, b []byte, most int) []byte {
	return append(to, b[:min(len(b), max(0, most-len(to)))]...)
}

func (e *events) isMessage() bool { return e.event == "" || e.event == "message" }

func (e *events) endLine() {
	state := e.state
	if e.state = atLine; state == atLine {
		e.dispatch()
		return
	}
	if state == inComment {
		return
	}
	if state == inField { // a field without a colon has an empty value
		e.beginValue()
		e.state = atLine
	}
	switch string(e.field) {
	case "event":
		e.event = string(e.value)
	case "id":
		if bytes.IndexByte(e.value, 0) < 0 {
			e.id = string(e.value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(e.value), 10, 31); err == nil {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// dispatch ends an event. One without data only says where the stream can be resumed.
func (e *events) dispatch() {
	if e.hasData || e.id != e.lastID {
		e.count++
	}
	e.lastID = e.id
	switch {
	case !e.hasData:
	case !e.isMessage():
		if e.named != nil {
			e.named(e.event, e.data)
		}
	case e.long || len(e.data) > 0:
		e.data = append(e.data, '\n')
		e.inbox.Write(e.data)
	}
	e.data, e.hasData, e.long, e.event = e.data[:0], false, false, ""
}

// end is called at the end of the stream. An event that lacks only the empty line behind it counts.
func (e *events) end() {
	if e.state != atLine {
		e.endLine()
	}
	if e.hasData && !e.long && json.Valid(e.data) {
		e.dispatch()
	}
}

// read takes a stream of events to its end. each is called after each piece.
func read(e *events, body io.Reader, each func()) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := body.Read(*buf)
		if n > 0 {
			e.Write((*buf)[:n])
			if each != nil {
				each()
			}
		}
		if errors.Is(err, io.EOF) {
			e.end()
			return nil
		}
		if err != nil {
			return err
		}
	}
}
