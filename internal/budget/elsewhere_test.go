package budget_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/test/must"
)

// What other machines have spent takes part in the sum, and can become less on another day of the window.
func TestBook_Elsewhere(t *testing.T) {
	book := budget.Files{Dir: t.TempDir()}.Book("team", &budget.Terms{Limit: 10, Window: budget.Month})
	day := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	if _, err := book.Charge(day, budget.Charge{USD: 1, Unknown: 1, Spender: budget.Spender{Profile: "x"}}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ spent, allowance, left, reserved float64 }{{2, 3, 2, 5}, {4, 1.5, 0.5, 4.5}, {4, 6, 5, 0}, {0, 10, 9, 0}, {0, 10, 9, 0}} {
		now := day.AddDate(0, 0, i)
		must.OK(t, book.SetElsewhere(now, c.spent, 2, c.allowance))
		s, err := book.Check(now)
		own, err2 := book.Own(now)
		if err != nil || err2 != nil || s.Left() != c.left || own.USD != 1 || own.Unknown != 1 || s.Unknown != 3 || own.Reserved != c.reserved || own.Period != "month 2026-11-01" {
			t.Errorf("%d: %+v is left, not %v; %+v, %v, %v", i, s, c.left, own, err, err2)
		}
	}
	must.OK(t, book.SetElsewhere(day, 3, 0, 2))
	must.OK(t, book.Unreserve(day))
	if s, err := book.Check(day); err != nil || s.Left() != 6 {
		t.Errorf("%v is left of what is no longer reserved, %v", s.Left(), err)
	}
}
