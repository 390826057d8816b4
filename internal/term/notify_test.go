package term

import (
	"strings"
	"testing"
	"unicode"
)

// A text can end no sequence, and begin none.
func TestNotify_Sequence(t *testing.T) {
	const bell, end = "\a", "\x1b\\"
	for _, tt := range []struct {
		how        Notice
		text, want string
	}{
		{Bell, "belay: claude finished", bell},
		{OSC9, "belay: claude finished after 3m12s ($0.42)", "\x1b]9;belay: claude finished after 3m12s ($0.42)" + end + bell},
		{OSC99, "belay: claude finished", "\x1b]99;;belay: claude finished" + end + bell},
		{OSC777, "belay: a;b finished", "\x1b]777;notify;Belay;belay: a,b finished" + end + bell},
		{OSC9, "belay: a\x1b\\b\ac\u009cd\ne", "\x1b]9;belay: ab\ufffdc\ufffdd e" + end + bell},
	} {
		got := tt.how.sequence(tt.text)
		if got != tt.want {
			t.Errorf("%v %q: %q, want %q", tt.how, tt.text, got, tt.want)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]"), end+bell)
		if tt.how != Bell && strings.ContainsFunc(inner, unicode.IsControl) {
			t.Errorf("%v %q: %q", tt.how, tt.text, got)
		}
	}
}
