package verdict_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/belay-run/belay/verdict"
)

func TestLastLines(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		lines int
		limit int
		want  string
	}{
		{"Empty", "", 3, 100, ""},
		{"Blank", " \n\t\n\r\n", 3, 100, ""},
		{"Last", "one\ntwo\nthree\nfour\n", 2, 100, "three\nfour"},
		{"SkipsEmpty", "one\n\n  \ntwo\n\n", 2, 100, "one\ntwo"},
		{"FewerThanAsked", "one", 5, 100, "one"},
		{"NoLines", "one", 0, 100, ""},
		{"NoRoom", "one", 1, 0, ""},
		{"NegativeRoom", "one", 1, -5, ""},
		{"WindowsLines", "one\r\ntwo\r\n", 2, 100, "one\ntwo"},
		{"Progress", "10%\r50%\rdone", 1, 100, "done"},
		{"WholeLinesOnly", "aaaaaaaa\nbb\ncc", 3, 8, "bb\ncc"},
		{"JustFits", "aa\nbb\ncc", 3, 8, "aa\nbb\ncc"},
		{"LongLineCut", "error: no such thing as that", 1, 12, "error: no…"},
		{"CutBetweenRunes", "ääääää", 1, 8, "ää…"},
		{"CutWithoutMark", "abcdef", 1, 2, "ab"},
		{"Colours", "\x1b[1;31merror\x1b[0m: \x1b[38;5;12mbad\x1b[m", 1, 100, "error: bad"},
		{"TitleAndLink", "\x1b]0;title\x07\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", 1, 100, "text"},
		{"TitleWithoutEnd", "\x1b]0;title\nnext", 2, 100, "next"},
		{"CharacterSet", "\x1b(B\x1b$(Dtext\x1b=\x1b>", 1, 100, "text"},
		{"StrayEscape", "a\x1b\x01b\x1b", 1, 100, "ab"},
		{"EscapeInEscape", "\x1b[\x1b[31mred", 1, 100, "red"},
		{"CutEscapes", "a\x1b[31\nb\x1b(\nc\x1b]x", 3, 100, "a\nb\nc"},
		{"Controls", "a\x00b\x08c\x7fd\u0085e\tf", 1, 100, "abcd e f"},
		{"DirectionOverride", "abc\u202edef", 1, 100, "abcdef"},
		{"BrokenUTF8", "a\xff\xfeb\xe2\x80", 1, 100, "ab"},
		{"Unicode", "You’ve hit your limit · 日本", 1, 100, "You’ve hit your limit · 日本"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := verdict.LastLines(test.text, test.lines, test.limit)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLastLines_LineOf16MiB(t *testing.T) {
	got := verdict.LastLines(strings.Repeat("x", 16<<20), 3, 100)
	if len(got) != 100 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %d bytes", len(got))
	}
}

// showable reports what is wrong with text that is to be shown.
func showable(s string, limit int) string {
	switch {
	case len(s) > limit:
		return "too long"
	case !utf8.ValidString(s):
		return "not UTF-8"
	case strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }):
		return "has control characters"
	}
	return ""
}
