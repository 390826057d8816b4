package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func envelopeOf(line string) Envelope {
	m := Parse([]byte(line))
	return m.Envelope
}

func TestScan_Kinds(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                  "request",
		` { "method" : "ping" , "id" : "a" , "jsonrpc" : "2.0" } `:  "request",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:    "notice",
		`{"jsonrpc":"2.0","id":null,"method":"x"}`:                  "notice",
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                      "response",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`: "response",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:                "batch",
		`{"id":1,"method":"ping"}`:                                  "json",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                  "json",
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:                "json",
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:               "json",
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`:           "json", // which of them?
		`{"jsonrpc":"2.0","id":1,"method":7}`:                       "json",
		`{"level":"info"}`:                                          "json",
		`{"params":{"jsonrpc":"2.0","id":1,"method":"x"}}`:          "json",
		``:               "none",
		`hello`:          "none",
		`42`:             "none",
		`"text"`:         "none",
		`[INFO] started`: "none",
		`{"jsonrpc":"2.0","id":1,"method":"ping"`:               "none",
		`{"jsonrpc":"2.0","id":1,"method":"ping"}}`:             "none",
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`:           "none",
		`{"jsonrpc":"2.0","id":1,"params":[}],"method":"ping"}`: "none",
		`{"jsonrpc":"2.0" "id":1}`:                              "none",
		`{"jsonrpc":"2.0",}`:                                    "none",
		`{,}`:                                                   "none",
		`{"a" 1}`:                                               "none",
		`{"a":}`:                                                "none",
		strings.Repeat("[", 20000):                              "none",
		`{"j\u0073onrpc":"2.0","\u0069d":1,"method":"pi\u006eg"}`:           "request",
		`{"jsonrpc":"2.0","id":1,"result":"` + `\\\"}` + `"}`:               "response",
		`{"jsonrpc":"2.0","id":1,"result":{"id":2,"method":"x","error":1}}`: "response",
	} {
		e := envelopeOf(line)
		got := "none"
		switch {
		case e.IsRequest():
			got = "request"
		case e.IsNotice():
			got = "notice"
		case e.IsResponse():
			got = "response"
		case e.Batch && e.JSON:
			got = "batch"
		case e.JSON:
			got = "json"
		}
		if got != want {
			t.Errorf("%.80s: %s, want %s", line, got, want)
		}
	}
}

func TestScan_Fields(t *testing.T) {
	e := envelopeOf(`{"jsonrpc":"2.0","params":{"arguments":{"name":"no","_meta":{"progressToken":"no"}},"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":{"progressToken":1}},"name":"t\u006fol","uri":"u","cursor":"c","requestState":"s"},"id":5,"method":"tools/call"}`)
	if string(e.Name) != "tool" || string(e.Token) != "7" || string(e.URI) != "u" || !e.Cursor || !e.Resumed || !e.Modern || string(e.Method) != "tools/call" {
		t.Errorf("%+v", e)
	}
	for line, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`:                                       true,
		`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"isError":false}],"a":{}}}`:               true,
		`{"jsonrpc":"2.0","id":1,"result":{"isError":false,"content":[]}}`:                                      false,
		`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"isError":true},"content":[{"isError":true}]}}`: false,
		`{"jsonrpc":"2.0","id":1,"isError":true,"result":{"isError":"true"}}`:                                   false,
	} {
		if e := envelopeOf(line); e.Bad != want || !e.Result {
			t.Errorf("%s: %v, result %v", line, e.Bad, e.Result)
		}
	}
	e = envelopeOf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x 1","reason":"r"}}`)
	if string(e.Request) != `"x 1"` {
		t.Errorf("%s", e.Request)
	}
	e = envelopeOf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}`)
	if string(e.Listener) != "3" {
		t.Errorf("%s", e.Listener)
	}
}

// The scanner finds in every piece of JSON what a full parser finds, in however many pieces it comes, and takes nothing
// for JSON that is not balanced.
func FuzzScan(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":[{}],"b":"]}"},"name":"a"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"isError":false}],"isError":true}}`,
		`{"id":"\"\\","jsonrpc":"2.0","result":{"a":[1,-2.5e+7,true,null,{"b":"\u00e9\n"}]}}`,
		`[{"jsonrpc":"2.0","method":"x"},2]`, `{"params":{"requestId":1,"uri":"x"},"error":{}}`, ` {"a" : [ ] } `, `{"id":1,"id":2}`, `{"a":"\\`, "[1,2",
	} {
		f.Add(line, uint8(3))
	}
	f.Fuzz(func(t *testing.T, line string, cut uint8) {
		if strings.ContainsRune(line, '\n') {
			return
		}
		whole := envelopeOf(line)
		var s scanner
		for rest := line; rest != ""; {
			n := min(int(cut)%7+1, len(rest))
			s.feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		pieces := s.end()
		a, _ := json.Marshal(view(whole))
		b, _ := json.Marshal(view(pieces))
		if !bytes.Equal(a, b) {
			t.Fatalf("%q\nwhole:  %s\npieces: %s", line, a, b)
		}
		if !json.Valid([]byte(line)) {
			return
		}
		var object map[string]json.RawMessage
		var array []json.RawMessage
		switch {
		case json.Unmarshal([]byte(line), &array) == nil && array != nil:
			if !whole.JSON || !whole.Batch {
				t.Fatalf("%q is an array: %+v", line, view(whole))
			}
			return
		case json.Unmarshal([]byte(line), &object) != nil || object == nil:
			if whole.JSON {
				t.Fatalf("%q is neither an object nor an array", line)
			}
			return
		}
		if !whole.JSON || whole.Batch {
			t.Fatalf("%q is an object: %+v", line, view(whole))
		}
		if repeated(line) {
			return
		}
		compare(t, line, whole, object)
	})
}

func compare(t *testing.T, line string, e Envelope, object map[string]json.RawMessage) {
	str := func(raw json.RawMessage) (s string, ok bool) {
		ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
		return s, ok
	}
	version := string(object["jsonrpc"]) == `"2.0"`
	id, hasID := object["id"]
	goodID := !hasID || string(id) == "null" || id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
	method, isText := str(object["method"])
	_, hasMethod := object["method"]
	if valid := version && goodID && (!hasMethod || isText); valid != e.Valid {
		t.Fatalf("%q: valid %v, want %v", line, e.Valid, valid)
	}
	if !e.Valid {
		return
	}
	if want := hasID && string(id) != "null"; want != (e.ID != nil) || want && string(id) != string(e.ID) {
		t.Fatalf("%q: id %q, want %q", line, e.ID, id)
	}
	if hasMethod != (e.Method != nil) || utf8.ValidString(line) && method != string(e.Method) {
		t.Fatalf("%q: method %q, want %q", line, e.Method, method)
	}
	_, result := object["result"]
	_, failed := object["error"]
	if result != e.Result || failed != e.Failed {
		t.Fatalf("%q: result %v, error %v", line, e.Result, e.Failed)
	}
	if e.ID != nil {
		// With another id in its place, all else is the same.
		m := Parse([]byte(line))
		spliced := bytes.Join(m.Splice(m.IDAt, []byte(`"belay-retry-1"`)), nil)
		var again map[string]json.RawMessage
		if err := json.Unmarshal(spliced, &again); err != nil || string(again["id"]) != `"belay-retry-1"` || len(again) != len(object) {
			t.Fatalf("%q became %q: %v", line, spliced, err)
		}
		back := Parse(spliced)
		if restored := bytes.Join(back.Splice(back.Envelope.IDAt, e.ID), nil); string(restored) != line {
			t.Fatalf("%q came back as %q", line, restored)
		}
	}
	var answer map[string]json.RawMessage
	if json.Unmarshal(object["result"], &answer); (string(answer["isError"]) == "true") != e.Bad {
		t.Fatalf("%q: isError is %v", line, e.Bad)
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(object["params"], &params) != nil || !utf8.ValidString(line) {
		return
	}
	if name, ok := str(params["name"]); ok && name != string(e.Name) {
		t.Fatalf("%q: name %q, want %q", line, e.Name, name)
	}
	if a := params["arguments"]; len(a) > 0 && (a[0] == '{' || a[0] == '[') {
		m := Parse([]byte(line))
		if got := m.AppendTo(nil, e.ArgsAt); string(got) != string(a) {
			t.Fatalf("%q: arguments %q, want %q", line, got, a)
		}
	}
	if r := params["requestId"]; len(r) > 0 && r[0] != '{' && r[0] != '[' && string(r) != string(e.Request) {
		t.Fatalf("%q: request %q, want %q", line, e.Request, r)
	}
}

// repeated says whether a key stands twice in the message or its params: then parsers differ.
func repeated(line string) bool {
	dec := json.NewDecoder(strings.NewReader(line))
	var walk func() bool
	walk = func() bool {
		t, err := dec.Token()
		if err != nil {
			return true
		}
		if t == json.Delim('[') {
			for dec.More() {
				if walk() {
					return true
				}
			}
			dec.Token()
		}
		if t == json.Delim('{') {
			keys := map[string]bool{}
			for dec.More() {
				key, err := dec.Token()
				if err != nil || keys[key.(string)] {
					return true
				}
				keys[key.(string)] = true
				if walk() {
					return true
				}
			}
			dec.Token()
		}
		return false
	}
	return walk()
}

// view is an Envelope that can be compared.
func view(e Envelope) any {
	return map[string]any{"valid": e.Valid, "json": e.JSON, "batch": e.Batch, "id": string(e.ID), "method": string(e.Method), "result": e.Result,
		"failed": e.Failed, "bad": e.Bad, "argsAt": [2]int{e.ArgsAt.From, e.ArgsAt.To}, "name": string(e.Name), "uri": string(e.URI), "token": string(e.Token), "request": string(e.Request),
		"listener": string(e.Listener), "cursor": e.Cursor, "resumed": e.Resumed, "modern": e.Modern, "idAt": [2]int{e.IDAt.From, e.IDAt.To}}
}

// Lines come out as they went in, wherever the stream was cut.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\n\nbc\r\nd"), uint16(1))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"), uint16(5))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		var got [][]byte
		s := &Splitter{Max: 1 << 10, Take: func(m *Message) {
			if m.TooLarge != (m.Size > 1<<10) || m.TooLarge && m.Parts != nil {
				t.Fatalf("size %d, over %v", m.Size, m.TooLarge)
			}
			if m.TooLarge {
				got = append(got, []byte("over"))
				return
			}
			line := m.Bytes()
			if one := Parse(line); one.Envelope.Valid != m.Valid || string(one.Envelope.ID) != string(m.ID) {
				t.Fatalf("%q: %+v, %+v", line, view(one.Envelope), view(m.Envelope))
			}
			got = append(got, line)
		}}
		step := int(cut)%200 + 1
		for rest := data; len(rest) > 0; {
			n := min(step, len(rest))
			lent := bytes.Clone(rest[:n])
			s.Write(lent)
			clear(lent) // it was only lent
			rest = rest[n:]
		}
		s.Flush()
		var want [][]byte
		for _, line := range bytes.SplitAfter(data, []byte("\n")) {
			whole, ended := bytes.CutSuffix(line, []byte("\n"))
			switch {
			case len(whole) > 1<<10:
				want = append(want, []byte("over"))
			case ended || len(whole) > 0:
				want = append(want, whole)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("%q, want %q", got[i], want[i])
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for name, line := range map[string]string{
		"Small":   `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"echo","arguments":{"text":"xxxxxxxxxxxxxxxx"}}}`,
		"100kB":   `{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 100_000) + `"}]}}`,
		"Escaped": `{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`\n\"`, 25_000) + `"}]}}`,
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(line)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var s scanner
			for b.Loop() {
				s.feed(data)
				s.end()
				s.reset()
			}
		})
	}
}
