package term

import (
	"strings"
	"testing"
)

// Only rows that differ are written, and nothing is cleared: a terminal would flicker.
func TestPainter(t *testing.T) {
	p := painter{fresh: true}
	rows := []Row{{{Text: "one"}}, {{Text: "two", Style: Bad}}}
	if got, want := string(p.paint(rows, 5)), beginUpdate+"\x1b[1;1Hone\x1b[K\x1b[2;1Htwo\x1b[K\x1b[3;1H\x1b[J"+endUpdate; got != want {
		t.Errorf("first %q, want %q", got, want)
	}
	if got := p.paint(rows, 5); len(got) > 0 {
		t.Errorf("the same again is written: %q", got)
	}
	rows[1][0].Text = "2"
	if got, want := string(p.paint(rows, 5)), beginUpdate+"\x1b[2;1H2\x1b[K"+endUpdate; got != want {
		t.Errorf("a change %q, want %q", got, want)
	}
	if got, want := string(p.paint(rows[:1], 5)), beginUpdate+"\x1b[2;1H\x1b[J"+endUpdate; got != want {
		t.Errorf("a row less %q, want %q", got, want)
	}
	p.forget()
	if got := string(p.paint(rows, 1)); !strings.Contains(got, "one") || strings.Contains(got, "2;1H") {
		t.Errorf("on one line %q", got)
	}
}

// What a row holds may be anyone's.
func TestRow_CannotControlTheTerminal(t *testing.T) {
	row := Row{{Text: "a\x1b[2Jb\x1b]0;title\x07c\rd\ne\u202ef", Style: Bad}}
	if got, want := row.styled(true), "\x1b[31mabc d e\ufffdf\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := row.styled(false), "abc d e\ufffdf"; got != want {
		t.Errorf("without colours %q, want %q", got, want)
	}
}

// Rows follow the conventions for colours.
func TestRows_Colors(t *testing.T) {
	rows := []Row{{{Text: "waiting ", Style: Warning}, {Text: "  "}}, nil}
	for _, tt := range []struct{ force, no, want string }{
		{"", "", "waiting\n\n"},
		{"1", "", "\x1b[33mwaiting \x1b[0m\n\n"},
		{"1", "1", "waiting\n\n"},
	} {
		t.Setenv("CLICOLOR_FORCE", tt.force)
		t.Setenv("NO_COLOR", tt.no)
		var b strings.Builder
		if err := Rows(&b, rows); err != nil || b.String() != tt.want {
			t.Errorf("CLICOLOR_FORCE=%s NO_COLOR=%s: %q (%v), want %q", tt.force, tt.no, b.String(), err, tt.want)
		}
	}
}
