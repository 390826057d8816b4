package term

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/test/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with testdata/NAME.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must.OK(t, os.MkdirAll("testdata", 0o755))
		must.OK(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v\n%s\nwant\n%s", path, err, got, want)
	}
}

// runs is a table with all kinds of columns.
func runs() Sheet {
	return Sheet{
		Columns: []Column{{Heading: "TIME", Kind: Time}, {Heading: "RUN", Kind: Whole, Style: Faint},
			{Heading: "PROFILE", Drop: 4, Redundant: func(row []string) bool { return row[2] == row[3] }}, {Heading: "COMMAND", Kind: Path, Min: 6},
			{Heading: "LABELS", Drop: 3},
			{Heading: "RESULT", Kind: Whole, Style: Bad, Gist: func(cell string) string { class, _, _ := strings.Cut(cell, ","); return class }},
			{Heading: "WAITED", Kind: Number, Drop: 2}, {Heading: "COST", Kind: Number, Min: 8}, {Heading: "", Bars: []Bar{
				{Length: 0.02, Full: 1, Style: Good}, {Length: 1, Full: 0.999, Style: Good, Rest: Bad}, {}, {Length: 0.5, Full: 0.01, Style: Good, Rest: Bad}}},
			{Heading: "ERROR", Kind: Note, Style: Bad}},
		Rows: [][]Piece{
			Cells("2026-11-15 09:00:00", "0b1c2d3e", "claude", "claude", "nightly", Styled(Good, "ok"), "", "$0.0123", ""),
			Cells("2026-11-15 10:00:00", "1f0c9a3e", "claude", "claude", "nightly team=web", "rate_limit, given up", "4m10s", "≥ ~$1,234.5678",
				"429 Too Many Requests: 今日の上限に達しました。Your usage limit resets at 15:00 (UTC)"),
			Cells("2026-11-15 11:00:00", "77abcdef", "generic", "/usr/local/lib/node_modules/a-rather-long-name/bin/run", "", Styled(Good, "ok"), "1.2s", "", ""),
			Cells("2026-11-15 12:00:00", "88abcdef", "codex", "codex", "fu\u0308nf", "crash", "", "unknown", "exit 137"),
		},
	}
}

func TestSheet_Layouts(t *testing.T) {
	for _, width := range []int{0, 20, 40, 80, 120, 200} {
		got := strings.Join(runs().Lines(Look{Width: width}), "")
		golden(t, fmt.Sprintf("runs-%d.golden", width), got)
	}
	look := Look{Width: 200, ASCII: true, Palette: Palette{on: true}}
	golden(t, "runs-colors.golden", strings.ReplaceAll(strings.Join(runs().Lines(look), ""), "\x1b", "ESC"))
	indented := runs()
	indented.Indent = "  "
	golden(t, "runs-indented.golden", strings.Join(indented.Lines(Look{Width: 60}), ""))
}

func TestSheet_LeavesOut(t *testing.T) {
	columns := []Column{{Heading: "DAY", Kind: Time}, {Heading: "PROFILE", Redundant: func(row []string) bool { return row[1] == row[2] }}, {Heading: "COMMAND"},
		{Heading: "LABELS"}, {Heading: "RUNS", Kind: Number}, {Bars: []Bar{{Length: 1, Full: 1}}}}
	same := [][]Piece{Cells("2026-01-02 15:04:05", "gh", "gh", "", "7"), Cells("2026-01-02 16:04:05", "gh", "gh", "", "11")}
	for _, tt := range []struct {
		name  string
		rows  [][]Piece
		width int
		want  string
	}{
		{"AFileHasAllButEmptyColumns", same, 0, "DAY                  PROFILE  COMMAND  RUNS\n2026-01-02 15:04:05  gh       gh       7\n2026-01-02 16:04:05  gh       gh       11\n"},
		{"ATerminalHasNoRepetitions", same, 80, "2026-01-02  COMMAND  RUNS\n15:04:05    gh          7  ████████████████████████\n16:04:05    gh         11\n"},
		{"OneThatDiffersIsShown", [][]Piece{Cells("15:04:05", "gh", "gh", "", "1"), Cells("2026-01-02 16:04:05", "codex", "npx", "", "1")}, 45,
			"DAY                  PROFILE  COMMAND  RUNS\n15:04:05             gh       gh          1\n2026-01-02 16:04:05  codex    npx         1\n"},
		{"AShorterTime", [][]Piece{Cells("15:04:05", "gh", "gh", "", "1"), Cells("2026-01-02 16:04:05", "codex", "npx", "", "1")}, 40,
			"DAY          PROFILE  COMMAND  RUNS\n15:04:05     gh       gh          1\n01-02 16:04  codex    npx         1\n"},
		{"NoRows", nil, 0, "DAY  PROFILE  COMMAND  LABELS  RUNS\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join((Sheet{Columns: columns, Rows: tt.rows}).Lines(Look{Width: tt.width}), ""); got != tt.want {
				t.Errorf("%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

func TestFollowing(t *testing.T) {
	var b strings.Builder
	var table Following
	columns := []Column{{Heading: "RUN"}, {Heading: "COST", Kind: Number}, {Heading: "ERROR", Kind: Note}}
	for _, rows := range [][][]Piece{{Cells("abc", "", "first")}, nil, {Cells("d", "$1", "second")}, {Cells("longer", "", "third")}} {
		must.OK(t, table.Write(&b, columns, rows))
	}
	if want := "RUN  COST  ERROR\nabc        first\nd    $1    second\nlonger        third\n"; b.String() != want {
		t.Errorf("%q\nwant\n%q", b.String(), want)
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever is in a table, and however wide the terminal is: no line is wider, and what may not be cut is there whole.
func TestSheet_NeverTooWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	alphabet := []rune("abcdefghij-/. ,0123456789漢字🙂é\u0301ü\u200d≥…")
	word := func(most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		return strings.TrimSpace(b.String())
	}
	for range 3000 {
		var s Sheet
		n := 1 + rng.IntN(12)
		for i := range n {
			c := Column{Heading: fmt.Sprintf("H%d", i)[:1+rng.IntN(2)], Kind: Kind(rng.IntN(5)), Min: rng.IntN(10), Drop: rng.IntN(3)}
			switch rng.IntN(5) {
			case 0:
				c.Style = Bad
			case 1:
				c.Redundant = func(row []string) bool { return row[i] == row[0] }
			case 2:
				c.Drop, c.Bars = 0, []Bar{{Length: rng.Float64(), Full: rng.Float64()}, {Length: 2, Full: -1}}
			}
			s.Columns = append(s.Columns, c)
		}
		if rng.IntN(2) == 0 {
			s.Columns[n-1] = Column{Heading: "ERROR", Kind: Note, Style: Bad}
		}
		for range rng.IntN(5) {
			var row []any
			for _, c := range s.Columns {
				switch {
				case c.Bars != nil: // has no cells
				case c.Kind == Number:
					row = append(row, fmt.Sprintf("%d", rng.Int64N(1e12)))
				case c.Kind == Whole:
					row = append(row, fmt.Sprintf("%x", rng.Int64N(1<<32)))
				case c.Kind == Time:
					row = append(row, fmt.Sprintf("2026-01-%02d 15:04:05", 1+rng.IntN(2)))
				default:
					row = append(row, word(60))
				}
			}
			s.Rows = append(s.Rows, Cells(row...))
		}
		look := Look{Width: 20 + rng.IntN(160), ASCII: rng.IntN(2) == 0, Palette: Palette{on: rng.IntN(2) == 0}}
		text := sgr.ReplaceAllString(strings.Join(s.Lines(look), ""), "")
		for line := range strings.Lines(text) {
			if got := printable.Width(strings.TrimSuffix(line, "\n")); got > look.Width {
				t.Fatalf("%d columns of %d: %q\n%s", got, look.Width, line, text)
			}
		}
		for _, row := range s.Rows {
			for i, c := range s.Columns {
				if c.Bars != nil {
					continue
				}
				want := row[0].Text
				if row = row[1:]; c.Drop == 0 && c.Redundant == nil && (c.Kind == Number || c.Kind == Whole) && !strings.Contains(text, want) {
					t.Fatalf("%q of column %d is not whole in %d columns:\n%s", want, i, look.Width, text)
				}
			}
		}
	}
}

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		bar  Bar
		want string
	}{
		{Bar{}, ""},
		{Bar{Length: 1, Full: 1}, "██████████"},
		{Bar{Length: 0.5, Full: 0.999}, "████░"},
		{Bar{Length: 0.001, Full: 1}, "█"},
		{Bar{Length: 1, Full: 0.001}, "█░░░░░░░░░"},
		{Bar{Length: 1, Full: 0}, "░░░░░░░░░░"},
		{Bar{Length: 7, Full: 7}, "██████████"},
		{Bar{Length: -1, Full: 1}, ""},
	} {
		if got := tt.bar.draw(10, Look{}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.bar, got, tt.want)
		}
	}
	if got := (Bar{Length: 1, Full: 0.5}).draw(4, Look{ASCII: true}); got != "##--" {
		t.Errorf("%q", got)
	}
}

func TestLook_Locale(t *testing.T) {
	for _, tt := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false}, {"", "", "en_US.UTF-8", true}, {"", "", "de_DE.utf8", true}, {"C", "", "en_US.UTF-8", false}, {"", "C.UTF-8", "C", true},
		{"", "POSIX", "en_US.UTF-8", false}, {"", "", "de_DE.ISO-8859-1", false},
	} {
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LC_CTYPE", tt.ctype)
		t.Setenv("LANG", tt.lang)
		if got := UTF8(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
