package term

import (
	"reflect"
	"testing"
)

func TestKeyboard(t *testing.T) {
	for sent, want := range map[string][]Key{
		"q":                            {"q"},
		"jk":                           {"j", "k"},
		"ä漢":                           {"ä", "漢"},
		"\x1b[A\x1b[B\x1bOA":           {KeyUp, KeyDown, KeyUp},
		"\x1b[5~\x1b[6~\x1b[H\x1b[4~":  {KeyPageUp, KeyPageDown, KeyHome, KeyEnd},
		"\x1b[Z\t\r\n":                 {KeyBackTab, KeyTab, KeyEnter, KeyEnter},
		"\x1b[1;5A\x1b[?1;2cx":         {"x"}, // Ctrl-Up, and what a terminal says of itself
		"\x1bq":                        nil,   // Alt-q
		"\x1b":                         {KeyEscape},
		"\x1b\x1b[A":                   {KeyEscape, KeyUp},
		"\x1b[":                        nil,
		"\x03\x0c\x00\x7f":             {KeyCtrlC, KeyCtrlL},
		"\xff\xfeq\xe2\x82":            {"q"},
		"a\x1b[200~xy\x1b[A\x1b[201~b": {"a", "b"}, // pasted
		"\x1b[200~xy\x1b[201":          nil,
	} {
		// What is sent may come in pieces of any length.
		for size := 1; size <= len(sent); size++ {
			var k keyboard
			var got []Key
			for at := 0; at < len(sent); at += size {
				got = append(got, k.feed([]byte(sent[at:min(at+size, len(sent))]))...)
			}
			got = append(got, k.flush()...)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q in pieces of %d: %q, want %q", sent, size, got, want)
			}
		}
	}
}

func FuzzKeyboard(f *testing.F) {
	f.Add([]byte("\x1b[A\x1b[200~x\x1b[201~\x1bOqä"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		var whole, split keyboard
		want := append(whole.feed(sent), whole.flush()...)
		var got []Key
		for i := range sent {
			got = append(got, split.feed(sent[i:i+1])...)
			if len(split.pending) > maxSequence+8 {
				t.Fatalf("%d bytes are kept", len(split.pending))
			}
		}
		if got = append(got, split.flush()...); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q at once, %q byte by byte", want, got)
		}
	})
}
