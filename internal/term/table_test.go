package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLayout(t *testing.T) {
	headings := []string{"TIME", "RUN", "COST", "ERROR"}
	rows := [][]string{{"09:00:00", "a", "", "short"}, {"10:00:00", "bcd", "", "a rather long error that goes on and on"}}
	for _, tt := range []struct {
		name string
		most int
		want string
	}{
		{"AFileHasItWhole", 0, "TIME      RUN  ERROR\n09:00:00  a    short\n10:00:00  bcd  a rather long error that goes on and on\n"},
		{"TheLastColumnIsCut", 40, "TIME      RUN  ERROR\n09:00:00  a    short\n10:00:00  bcd  a rather long error that…\n"},
		{"OrHasALineOfItsOwn", 30, "TIME      RUN\n09:00:00  a\n    short\n10:00:00  bcd\n    a rather long error that …\n"},
		{"NothingIsLongerThanTheTerminal", 9, "TIME    …\n09:00:00…\n    short\n10:00:00…\n    a ra…\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := layout(headings, rows, tt.most)
			if got != tt.want {
				t.Errorf("%q\nwant\n%q", got, tt.want)
			}
			for line := range strings.Lines(got) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); tt.most > 0 && n > tt.most {
					t.Errorf("%q has %d columns", line, n)
				}
			}
		})
	}
	if got, want := layout([]string{"DAY", "RUNS", ""}, [][]string{{"1", "2", "██████"}}, 10), "DAY  RUNS\n1    2\n"; got != want {
		t.Errorf("a bar that does not fit: %q, want %q", got, want)
	}
	if got := layout(headings, nil, 0); got != "TIME  RUN  COST  ERROR\n" {
		t.Errorf("no rows: %q", got)
	}
}

func TestFollowing(t *testing.T) {
	var b strings.Builder
	var table Following
	headings := []string{"RUN", "COST", "ERROR"}
	for _, rows := range [][][]string{{{"abc", "", "first"}}, nil, {{"d", "$1", "second"}}, {{"longer", "", "third"}}} {
		if err := table.Write(&b, headings, rows); err != nil {
			t.Fatal(err)
		}
	}
	if want := "RUN  COST  ERROR\nabc        first\nd    $1    second\nlonger        third\n"; b.String() != want {
		t.Errorf("%q\nwant\n%q", b.String(), want)
	}
}
