package budget_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/test/must"
)

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

var claude = budget.Spender{Profile: "claude", Project: "/src/app"}

func perDay(usd float64) *budget.Terms { return &budget.Terms{Limit: usd, Window: budget.Day} }

func charge(t *testing.T, b *budget.Book, now time.Time, usd float64) budget.Standing {
	t.Helper()
	s, err := b.Charge(now, budget.Charge{Spender: claude, USD: usd})
	must.OK(t, err)
	return s
}

func check(t *testing.T, b *budget.Book, now time.Time) budget.Standing {
	t.Helper()
	s, err := b.Check(now)
	must.OK(t, err)
	return s
}

func TestBook_Charge(t *testing.T) {
	t.Parallel()
	files := budget.Files{Dir: filepath.Join(t.TempDir(), "budgets")}
	b := files.Book("nightly", perDay(1))
	if s := check(t, b, noon); s.Spent != 0 || s.Closed() || s.Left() != 1 || !s.Ends.Equal(noon.Add(12*time.Hour)) {
		t.Errorf("a new one: %+v", s)
	}
	for range 7 {
		charge(t, b, noon, 0.1)
	}
	if s := check(t, b, noon); s.Spent != 0.7 || s.Low() || s.Closed() {
		t.Errorf("seven times 0.10: %+v", s)
	}
	if s := charge(t, b, noon, 0.1); !s.Low() || s.Closed() || s.Left() != 0.2 {
		t.Errorf("at 80 %%: %+v", s)
	}
	charge(t, b, noon, 0.1)
	if s := charge(t, b, noon, 0.1); !s.Closed() || s.Spent != 1 { // ten times 0.1 is not 1 in floating point
		t.Errorf("at the limit: %+v", s)
	}
	if s := charge(t, b, noon, -0.3); s.Closed() || s.Spent != 0.7 {
		t.Errorf("corrected: %+v", s)
	}
	if s := charge(t, b, noon, math.Inf(1)); s.Spent != 0.7 {
		t.Errorf("an amount that cannot be: %+v", s)
	}
	// Another process that knows only the name.
	if s := check(t, files.Book("nightly", nil), noon); s.Limit != 1 || s.Window != budget.Day || s.Spent != 0.7 {
		t.Errorf("joined by its name: %+v", s)
	}
	if s := check(t, b, noon.Add(12*time.Hour)); s.Spent != 0 {
		t.Errorf("the next day: %+v", s)
	}
}

// Every window is a sum of days, so that terms can change and clocks can be set.
func TestBook_Windows(t *testing.T) {
	t.Parallel()
	files := budget.Files{Dir: t.TempDir()}
	b := files.Book("x", perDay(10))
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	for n := range 5 { // from Monday, the 16th, on
		charge(t, b, day(n), 1)
	}
	for name, tt := range map[string]struct {
		window budget.Window
		now    time.Time
		want   float64
	}{
		"a day":                     {budget.Day, day(4), 1},
		"its week":                  {budget.Week, day(4), 5},
		"its month":                 {budget.Month, day(4), 5},
		"the week before":           {budget.Week, day(-1), 0},
		"the week after":            {budget.Week, day(7), 0},
		"the clock is set back":     {budget.Day, day(1), 1},
		"the clock is set far back": {budget.Day, day(-400), 0},
	} {
		if s := check(t, files.Book("x", &budget.Terms{Limit: 10, Window: tt.window}), tt.now); s.Spent != tt.want {
			t.Errorf("%s: %v", name, s.Spent)
		}
	}
	// In another zone it is another day; the money is counted once.
	kiritimati := time.FixedZone("", 14*3600)
	if s := charge(t, b, day(4).In(kiritimati), 2); s.Spent != 2 {
		t.Errorf("already tomorrow: %+v", s)
	}
	if s := check(t, files.Book("x", &budget.Terms{Limit: 10, Window: budget.Week}), day(4)); s.Spent != 7 {
		t.Errorf("over zones: %+v", s)
	}
	// Days that are in no window any more are forgotten, also those that a wrong clock has made.
	charge(t, b, noon.AddDate(0, 3, 0), 1)
	data, _ := os.ReadFile(filepath.Join(files.Dir, "x.json"))
	if strings.Contains(string(data), "2026-11") {
		t.Errorf("%s", data)
	}
}

func TestBook_Strict(t *testing.T) {
	t.Parallel()
	files := budget.Files{Dir: t.TempDir()}
	strict := files.Book("x", &budget.Terms{Limit: 10, Window: budget.Day, Strict: true})
	lenient := files.Book("y", perDay(10))
	for _, b := range []*budget.Book{strict, lenient} {
		charge(t, b, noon, 1)
		s, err := b.Charge(noon, budget.Charge{Spender: claude, Unknown: 1})
		if err != nil || s.Closed() != (b == strict) || s.Unknown != 1 {
			t.Errorf("%s: %+v, %v", b.Name, s, err)
		}
	}
	if changed, err := strict.Reset(noon, true); !changed || err != nil {
		t.Error(changed, err)
	}
	if s := check(t, strict, noon); s.Closed() || s.Spent != 1 {
		t.Errorf("without what is unknown: %+v", s)
	}
	if changed, err := strict.Reset(noon, true); changed || err != nil {
		t.Error("twice:", changed, err)
	}
	if _, err := strict.Reset(noon, false); err != nil {
		t.Error(err)
	}
	if s := check(t, files.Book("x", nil), noon); s.Spent != 0 || s.Limit != 10 {
		t.Errorf("after a reset: %+v", s)
	}
	if s := check(t, strict, noon.AddDate(0, 0, 1)); s.Closed() {
		t.Errorf("the next day: %+v", s)
	}
}

func TestBook_Shares(t *testing.T) {
	t.Parallel()
	b := budget.Files{Dir: t.TempDir()}.Book("x", &budget.Terms{Limit: 1000, Window: budget.Week})
	codex := budget.Spender{Profile: "codex", Project: "/src/app", Name: "docs"}
	for day := range 3 {
		for who, usd := range map[budget.Spender]float64{claude: 0.1, codex: 2} {
			if _, err := b.Charge(noon.AddDate(0, 0, day), budget.Charge{Spender: who, USD: usd}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := b.Shares(noon)
	want := []budget.Share{{Spender: codex, Spent: 6}, {Spender: claude, Spent: 0.3}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for n := range 80 {
		if _, err := b.Charge(noon, budget.Charge{Spender: budget.Spender{Name: fmt.Sprint(n)}, USD: 1}); err != nil {
			t.Fatal(err)
		}
	}
	got, _ = b.Shares(noon)
	sum := 0.0
	for _, s := range got {
		sum += s.Spent
	}
	if len(got) > 52 || got[0].Spender != budget.Others || math.Abs(sum-86.3) > 1e-6 {
		t.Errorf("%d spenders, the first %+v, %v in all", len(got), got[0], sum)
	}
}

func TestBook_Settle(t *testing.T) {
	t.Parallel()
	files := budget.Files{Dir: filepath.Join(t.TempDir(), "budgets")}
	if files.Book("x", nil).Known() {
		t.Error("known before it was made")
	}
	must.OK(t, files.Book("x", perDay(5)).Settle())
	before, _ := os.Stat(filepath.Join(files.Dir, "x.json"))
	must.OK(t, files.Book("x", perDay(5)).Settle())
	if after, _ := os.Stat(filepath.Join(files.Dir, "x.json")); !os.SameFile(before, after) {
		t.Error("written again though nothing has changed")
	}
	charge(t, files.Book("x", nil), noon, 2)
	must.OK(t, files.Book("x", &budget.Terms{Limit: 7, Window: budget.Month}).Settle())
	joined := files.Book("x", nil)
	if s := check(t, joined, noon); !joined.Known() || s.Limit != 7 || s.Window != budget.Month || s.Spent != 2 {
		t.Errorf("%+v", s)
	}
}

// What cannot be read is set aside, said, and lets everything through.
func TestBook_Damaged(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":          "",
		"half a line":    `{"v":1,"name":"x","da`,
		"not JSON":       "hello\n",
		"another one's":  `{"v":1,"name":"y"}` + "\n[]\n",
		"a wrong sum":    `{"v":1,"name":"x","days":"2026-11-16 -3 0"}` + "\n[]\n",
		"a wrong limit":  `{"v":1,"name":"x","terms":{"limit":-5,"window":"day"}}` + "\n[]\n",
		"a wrong window": `{"v":1,"name":"x","terms":{"limit":5,"window":"year"}}` + "\n[]\n",
		"a later one":    `{"v":2,"name":"x"}` + "\n[]\n",
		"huge":           strings.Repeat("x", 5<<20),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.json")
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		b := budget.Files{Dir: dir}.Book("x", nil)
		s, err := b.Check(noon)
		if !errors.Is(err, budget.ErrDamaged) || s.Closed() {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if _, err := os.Stat(path + ".damaged"); err != nil || !b.Known() {
			t.Errorf("%s: %v", name, err)
		}
		if s := charge(t, b, noon, 1); s.Spent != 1 {
			t.Errorf("%s: then %+v", name, s)
		}
	}
	// Without its second line a book counts all the same.
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"v":1,"name":"x","terms":{"limit":5,"window":"day"},"days":"2026-11-16 3 0"}`+"\n[{"), 0o600))
	if s := charge(t, budget.Files{Dir: dir}.Book("x", nil), noon, 1); s.Spent != 4 {
		t.Errorf("%+v", s)
	}
}

// A directory that cannot be made or is no directory lets everything through.
func TestBook_Trouble(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	b := budget.Files{Dir: filepath.Join(file, "budgets")}.Book("x", perDay(0.01))
	if s, err := b.Charge(noon, budget.Charge{USD: 5}); err == nil || s.Closed() {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := b.Check(noon); err == nil || s.Closed() || s.Limit != 0.01 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFiles_List(t *testing.T) {
	t.Parallel()
	files := budget.Files{Dir: t.TempDir()}
	for _, name := range []string{"b", "B", "a.b-c_1"} {
		charge(t, files.Book(name, perDay(1)), noon, 0.5)
	}
	for name, text := range map[string]string{"junk.json": "x", "z.json": `{"v":1,"name":"other"}`, "notes.txt": ""} {
		os.WriteFile(filepath.Join(files.Dir, name), []byte(text), 0o600)
	}
	list, err := files.List()
	var names []string
	for _, b := range list {
		names = append(names, b.Name)
		if s := check(t, b, noon); s.Spent != 0.5 {
			t.Errorf("%s: %+v", b.Name, s)
		}
	}
	if err != nil || !reflect.DeepEqual(names, []string{"B", "a.b-c_1", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
	if list, err := (budget.Files{Dir: filepath.Join(files.Dir, "none")}).List(); list != nil || err != nil {
		t.Error(list, err)
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "../x", "a/b", "a b", "a=b", "a,b", "-x", "é", strings.Repeat("a", 65), "a\n"} {
		if budget.CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
	for _, name := range []string{"a", "Team-1", "x_y.z", "2026"} {
		if err := budget.CheckName(name); err != nil {
			t.Error(err)
		}
	}
}
