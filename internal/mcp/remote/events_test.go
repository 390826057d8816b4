package remote

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// told is what comes of a stream that is read in pieces of a size.
func told(stream []byte, size int) (messages, named string, e *events) {
	var in bytes.Buffer
	var others []string
	e = &events{inbox: &in, named: func(event string, data []byte) { others = append(others, event+"="+string(data)) }}
	for len(stream) > 0 {
		n := min(size, len(stream))
		e.Write(bytes.Clone(stream[:n]))
		stream = stream[n:]
	}
	e.end()
	return in.String(), strings.Join(others, "|"), e
}

func TestEvents(t *testing.T) {
	long := `"` + strings.Repeat("x", 3*heldData) + `"`
	for name, tt := range map[string]struct{ stream, want, named, id string }{
		"Plain":         {"data: {}\n\n", "{}\n", "", ""},
		"Message":       {"event: message\ndata: {}\n\n", "{}\n", "", ""},
		"TypeBehind":    {"data: /x\nevent: endpoint\n\n", "", "endpoint=/x", ""},
		"Named":         {"event: endpoint\ndata: /x?a=b\n\ndata: {}\n\n", "{}\n", "endpoint=/x?a=b", ""},
		"LineEnds":      {"data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", "1\n2\n3\n", "", ""},
		"ByteOrderMark": {"\ufeffdata: {}\n\n", "{}\n", "", ""},
		"NoSpace":       {"data:{}\nid:5\n\n", "{}\n", "", "5"},
		"SeveralLines":  {"data: {\ndata: }\n\n", "{ }\n", "", ""},
		"Comment":       {": ping\n\n:\ndata: 1\n\n", "1\n", "", ""},
		"OnlyID":        {"id: a\ndata:\n\nid: b\ndata: 1\n\n", "1\n", "", "b"},
		"NullInID":      {"id: a\ndata: 1\n\nid: b\x00\ndata: 2\n\n", "1\n2\n", "", "a"},
		"Incomplete":    {"id: a\ndata: 1\n\nid: b\ndata: {\"half", "1\n", "", "a"},
		"NoEmptyLine":   {"data: 1\n\ndata: {}", "1\n{}\n", "", ""},
		"Unknown":       {"nonsense\nfoo: bar\ndata\ndata: 1\n\n", " 1\n", "", ""},
		"Long":          {"data: " + long + "\n\ndata: 2\n\n", long + "\n2\n", "", ""},
		"LongAndNamed":  {"event: odd\ndata: " + long + "\n\ndata: 2\n\n", "2\n", "odd=" + long[:heldData], ""},
	} {
		for _, size := range []int{1, 2, 3, 1 << 20} {
			got, named, e := told([]byte(tt.stream), size)
			if got != tt.want || named != tt.named || e.lastID != tt.id {
				t.Errorf("%s in pieces of %d: %.200q, %.200q, id %q", name, size, got, named, e.lastID)
			}
		}
	}
	if _, _, e := told([]byte("retry: 250\n\nretry: soon\n\n"), 100); e.retry != 250*time.Millisecond {
		t.Error(e.retry)
	}
}

// What comes of a stream does not depend on the pieces that it comes in, and each message is on one line.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\r\nevent: message\rdata: {\"a\":\ndata: 1}\n\n: x\n\nretry: 3\n"), 1)
	f.Add([]byte("\ufeffdata:x\n\nevent:endpoint\ndata:/y\n\n"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		size = max(1, size%16)
		whole, named, a := told(stream, len(stream)+1)
		parts, other, b := told(stream, size)
		if whole != parts || named != other || a.lastID != b.lastID || a.retry != b.retry || a.count != b.count {
			t.Errorf("%q in pieces of %d: %q and %q, %q and %q", stream, size, whole, parts, named, other)
		}
		if strings.ContainsRune(whole, '\r') || strings.Count(whole, "\n") > a.count {
			t.Errorf("%q: %d events, %q", stream, a.count, whole)
		}
	})
}

// A JSON text is on one line, whatever it looked like, and means the same.
func FuzzCopyJSON(f *testing.F) {
	f.Add([]byte("{\r\n \"a\": [1,\n2]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out bytes.Buffer
		if err := copyJSON(&out, bytes.NewReader(text)); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("%v: %q", err, out.String())
		}
		var a, b bytes.Buffer
		if json.Compact(&a, bytes.TrimPrefix(text, []byte(byteOrderMark))) == nil && (json.Compact(&b, out.Bytes()) != nil || a.String() != b.String()) {
			t.Errorf("%q became %q", a.String(), b.String())
		}
	})
}
