package printable_test

import (
	"testing"

	"github.com/belay-run/belay/internal/printable"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "plain": 5, "für": 3, "fu\u0308r": 3, "漢字": 4, "ｆｕｌｌ": 8, "🙂 ok": 5, "한글": 4, "한": 2, "≥ $6.03": 7, "a\u200bb": 2, "…": 1, "█░": 2,
		"\ufffd": 1, "👩\u200d🚀": 4, "ก็": 1,
	} {
		if got := printable.Width(text); got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text        string
		columns     int
		end, middle string
	}{
		{"whole", 5, "whole", "whole"},
		{"0123456789", 7, "012345…", "012…789"},
		{"0123456789", 1, "…", "…"},
		{"0123456789", 0, "", ""},
		{"漢字漢字", 6, "漢字…", "漢…字"},
		{"漢字漢字", 4, "漢…", "…字"},
		{"fu\u0308nf Fu\u0308ße", 5, "fu\u0308nf…", "fu\u0308…ße"},
		{"a\u0301b\u0301c\u0301d\u0301", 3, "a\u0301b\u0301…", "a\u0301…d\u0301"},
	} {
		end, middle := printable.CutEnd(tt.text, tt.columns, "…"), printable.CutMiddle(tt.text, tt.columns, "…")
		if end != tt.end || middle != tt.middle {
			t.Errorf("%q in %d columns: %q, %q, want %q, %q", tt.text, tt.columns, end, middle, tt.end, tt.middle)
		}
		if printable.Width(end) > tt.columns || printable.Width(middle) > tt.columns {
			t.Errorf("%q in %d columns: %q, %q are too wide", tt.text, tt.columns, end, middle)
		}
	}
	if got := printable.CutEnd("0123456789", 6, "..."); got != "012..." {
		t.Errorf("%q", got)
	}
}

// A text is cut between characters, and what is not UTF-8 is cut too.
func TestPrefix(t *testing.T) {
	for _, tt := range []struct {
		text  string
		n     int
		want  string
		whole int // of what is cut between any two bytes
	}{{"plain", 9, "plain", 5}, {"plain", 2, "pl", 2}, {"für", 2, "f", 1}, {"漢字", 5, "漢", 3}, {"🙂", 3, "", 0}, {"\x80\x80\x80\x80\x80\x80", 5, "\x80", 5}, {"x", 0, "", 0}} {
		if got := printable.Prefix(tt.text, tt.n); got != tt.want {
			t.Errorf("%d bytes of %q are %q", tt.n, tt.text, got)
		}
		if got := printable.WholeRunes([]byte(tt.text[:min(tt.n, len(tt.text))])); got != tt.whole {
			t.Errorf("%d bytes of %q are whole, want %d", got, tt.text, tt.whole)
		}
	}
}
