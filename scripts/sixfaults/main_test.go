package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

var cellForm = regexp.MustCompile(`^(\*\*answer\*\* after \d+ s|no answer in \d+ s|exit [1-9]\d* after \d+ s(: “[^“”]+”)?)$`)

// The README's table is one that this program has made, with the faults and the CLIs of today. What came of them is not
// asked here: make faults measures it.
func TestTable_README(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), begin)
	table, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("README.md has no table of faults; run: make faults")
	}
	rows, isOurs := strings.CutPrefix(table, header(agents()))
	if !isOurs {
		t.Fatalf("README.md has another header; run: make faults\n%s", table)
	}
	rows, measured, _ := strings.Cut(rows, "\n\n")
	lines := strings.Split(rows, "\n")
	if len(lines) != len(faults) {
		t.Fatalf("README.md has %d faults, and there are %d; run: make faults", len(lines), len(faults))
	}
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if cells[0] != faults[i].name || len(cells) != 1+2*len(agents()) {
			t.Errorf("not the row of %q; run: make faults\n%s", faults[i].name, line)
			continue
		}
		for _, cell := range cells[1:] {
			if !cellForm.MatchString(cell) {
				t.Errorf("%s: not an outcome: %s", cells[0], cell)
			}
		}
	}
	if !strings.HasPrefix(measured, "Measured on ") || strings.Contains(table, "127.0.0.1") {
		t.Errorf("not a table that make faults has made:\n%s", table)
	}
}

func TestOutcome_String(t *testing.T) {
	for want, o := range map[string]outcome{
		"**answer** after 63 s": {took: 62900 * time.Millisecond, answered: true, message: answer},
		"no answer in 120 s":    {code: 143, took: 120 * time.Second, stopped: true},
		"exit 78 after 1 s":     {code: 78, took: 300 * time.Millisecond},
		"exit 1 after 2 s: “Selected model is at capacity”":                  {code: 1, took: 2 * time.Second, message: "ERROR: Selected model is at capacity. Please try a different model."},
		"exit 1 after 2 s: “HTTP 401: no key for a\\|b, says 'ask' of it …”": {code: 1, took: 2 * time.Second, message: "HTTP 401: no key for a|b, says `ask` of it, http://127.0.0.1:4711/v1/responses"},
	} {
		if got := o.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		} else if !cellForm.MatchString(got) {
			t.Errorf("%s has not the form of a cell", got)
		}
	}
}

func TestRenew(t *testing.T) {
	got, err := renew("before\n"+begin+"old\n"+end+"after\n", "new\n")
	if want := "before\n" + begin + "new\n" + end + "after\n"; err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := renew("no markers\n", "new\n"); err == nil {
		t.Error("a text without markers is not refused")
	}
}

// Two faults that are over quickly: each CLI on its own, and with Belay.
func TestRun(t *testing.T) {
	b := &bench{belay: filepath.Join(t.TempDir(), "belay"), limit: 3 * time.Minute}
	for _, cli := range agents() {
		b.clis = filepath.Dir(filepath.Dir(clitest.Find(t, cli, "")))
	}
	if err := built.Belay.As(b.belay); err != nil {
		t.Fatal(err)
	}
	for _, cli := range agents() {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			for name, tt := range map[string]struct {
				fault fault
				belay bool
				code  int
				form  string
			}{
				"UsageLimitAlone":   {fault{steps: `usage-limit(resets=1h)`}, false, 1, `usage limit|5-hour limit`},
				"WrongKeyWithBelay": {fault{steps: `401 x*`}, true, 78, `.`},
			} {
				o, err := b.run(cli, &tt.fault, tt.belay)
				if err != nil || o.code != tt.code || o.stopped || o.answered || !regexp.MustCompile(tt.form).MatchString(o.message) {
					t.Errorf("%s: %+v, %v", name, o, err)
				}
			}
		})
	}
}
