package printable_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/test/must"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"Plain":                  {"a b\n\tc", "a b\n\tc"},
		"OtherScripts":           {"Größe ✓ 漢字 עברית", "Größe ✓ 漢字 עברית"},
		"Colour":                 {"\x1b[1;31merror\x1b[0m: no", "error: no"},
		"ColonColour":            {"\x1b[38:2::255:0:0mred", "red"},
		"ClearScreen":            {"a\x1b[2J\x1b[Hb", "ab"},
		"PrivateMode":            {"a\x1b[?1049hb", "ab"},
		"Title":                  {"a\x1b]0;owned\ab", "ab"},
		"TitleEndedByST":         {"a\x1b]0;owned\x1b\\b", "ab"},
		"Link":                   {"see \x1b]8;;https://example.com\x1b\\here\x1b]8;;\x1b\\", "see here"},
		"DeviceControl":          {"a\x1bP$q\"p\x1b\\b", "ab"},
		"Charset":                {"a\x1b(0b", "ab"},
		"Reset":                  {"a\x1bcb", "ab"},
		"C1":                     {"a\u009b31mb\u0085c", "ab\ufffdc"},
		"C1Title":                {"a\u009d0;x\u009cb", "ab"},
		"RawC1":                  {"a\x9b31mb", "a\ufffd31mb"},
		"NotWhole":               {"a\x1b[31", "a\ufffd[31"},
		"NotWholeTitle":          {"a\x1b]0;b\nc", "a\ufffd]0;b\nc"},
		"LastByte":               {"a\x1b", "a\ufffd"},
		"EscapeInASequence":      {"\x1b[3\x1b[31mx", "\ufffd[3x"},
		"Bell":                   {"a\ab", "a\ufffdb"},
		"Backspace":              {"rm\b\bls", "rm\ufffd\ufffdls"},
		"Null":                   {"a\x00b", "a\ufffdb"},
		"Delete":                 {"a\x7fb", "a\ufffdb"},
		"CarriageReturn":         {"10%\r20%", "10% 20%"},
		"WindowsLines":           {"a\r\nb\r\n", "a\nb\n"},
		"DirectionOfWriting":     {"a\u202eb\u2066c\u2069", "a\ufffdb\ufffdc\ufffd"},
		"NoUTF8":                 {"a\xffb\xc3", "a\ufffdb\ufffd"},
		"ASequenceWithoutAnEnd":  {"\x1b]" + strings.Repeat("x", 5000) + "\a", "\ufffd]" + strings.Repeat("x", 5000) + "\ufffd"},
		"SequencesMakeASequence": {"\x1b\x1b[0m[31mx", "\ufffd[31mx"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := printable.Text(c.in); got != c.want {
				t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"a":                          "a",
		"a\nbelay: all is well\n":    "a belay: all is well",
		"a\r\n\r\n\tb":               "a b",
		"a\u2028b\u2029c":            "a b c",
		"\x1b[31ma\x1b[0m\n\x1b[Kb ": "a b ",
	} {
		if got := printable.Line(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	hostile := "a\x1b\x7f\u0085\u009b31m\u202e\u2066\xff ü漢<>"
	data, err := json.Marshal(hostile)
	must.OK(t, err)
	got := printable.JSON(data)
	if want := `"a\u001b\u007f\u0085\u009b31m\u202e\u2066\ufffd ü漢\u003c\u003e"`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(hostile, "\ufffd") {
		t.Errorf("read back as %q, %v", back, err)
	}
	if got := printable.JSON([]byte("{\"a\":\"\xff\"}")); string(got) != `{"a":"\ufffd"}` {
		t.Errorf("%s", got)
	}
}

// harmless fails the test if a text can still control a terminal.
func harmless(t *testing.T, text, allowed string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if printable.Controls(r) && !strings.ContainsRune(allowed, r) {
			t.Errorf("%q has %U", text, r)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"\x1b[31mx", "\x1b]0;x\a", "\u009b1m", "\r\n\r", "\x1b\x1b[0m[1m", "\xff\x1b(0", "a\u202eb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := printable.Text(text)
		harmless(t, clean, "\n\t")
		if again := printable.Text(clean); again != clean {
			t.Errorf("%q becomes %q and then %q", text, clean, again)
		}
		harmless(t, printable.Line(text), "")
		data, err := json.Marshal(text)
		must.OK(t, err)
		escaped := printable.JSON(data)
		harmless(t, string(escaped), "")
		var back string
		if err := json.Unmarshal(escaped, &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) {
			t.Errorf("%q comes back as %q: %v", text, back, err)
		}
	})
}

func TestDollars(t *testing.T) {
	for amount, want := range map[float64]string{
		0: "$0.0000", 0.64: "$0.6400", 1234.5: "$1234.5000", 1e300: "$1e+300", 2e9: "$2e+09",
		-1e308: "unknown", -0.01: "unknown", math.Inf(1): "unknown", math.NaN(): "unknown",
	} {
		if got := printable.Dollars(amount); got != want {
			t.Errorf("%g is shown as %s, want %s", amount, got, want)
		}
	}
}
