package term_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/test/must"
)

func TestPrintf(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("FORCE_COLOR", "1")
	hostile := "a\x1b[31m\nbelay: all is well\u202e"
	var b strings.Builder
	for _, print := range []func() error{
		func() error { return term.Printf(&b, "%s|%-8s|%d\n\tend\n", hostile, "\x1b[1mb\x1b[0m", 7) },
		func() error {
			return term.Printf(&b, "%v|%v|%v\n", errors.New(hostile), struct{ Name string }{"\a\n"}, time.Second)
		},
		func() error { return term.Printf(&b, "%q|%q|%5.1f|%v\n", hostile, []string{"\x1b"}, 2.25, error(nil)) },
		func() error { return term.Text(&b, "two\nlines\x1b[2J\n") },
		func() error { return term.PaletteOf(&b).Text(&b, term.Strong, "bold\x1b[2J\n\nbold\n") },
		func() error { return term.Palette{}.Text(&b, term.Strong, "plain\n") },
		func() error { return term.JSON(&b, map[string]any{"a": hostile + "\u009b\x7f"}) },
		func() error { return term.JSONLines(&b, []int{1, 2}) },
	} {
		if err := print(); err != nil {
			t.Error(err)
		}
	}
	want := "a belay: all is well\ufffd|b       |7\n\tend\n" +
		"a belay: all is well\ufffd|{\ufffd }|1s\n" +
		`"a\x1b[31m\nbelay: all is well\u202e"|["\x1b"]|  2.2|<nil>` + "\n" +
		"two\nlines\n" +
		"\x1b[1mbold\x1b[0m\n\n\x1b[1mbold\x1b[0m\n" +
		"plain\n" +
		`{"a":"a\u001b[31m\nbelay: all is well\u202e\u009b\u007f"}` + "\n1\n2\n"
	if b.String() != want {
		t.Errorf("%q\nwant\n%q", b.String(), want)
	}
}

func TestScreen_ForeignText(t *testing.T) {
	s, out := screen(t)
	s.Line("%s failed: %s", "x\x1b[2J", "one\ntwo\r")
	if got := out(); got != "belay: x failed: one two \n" {
		t.Errorf("%q", got)
	}
}

func TestTable_ForeignText(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var b strings.Builder
	must.OK(t, term.Table(&b, []term.Column{{Heading: "A"}, {Heading: "B"}}, [][]term.Piece{term.Cells("\x1b[31mred\x1b[0m", "one\ntwo"), term.Cells("b", "\u009b1m")}))
	if want := "A    B\nred  one two\nb\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
