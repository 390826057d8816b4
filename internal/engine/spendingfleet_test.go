package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/test/must"
)

// What a machine leaves to the others of its fleet does not keep it from working once its member was killed: nothing else would end that before the window does.
func TestSpending_MemberWasKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := costly(t, expensive(1))
		joined := perDay("team", 5)
		r.Budgets = append(r.Budgets, joined)
		must.OK(t, r.State.Prepare())
		book := r.State.Budgets().Book(joined.Name, joined.Terms)
		must.OK(t, book.SetElsewhere(time.Now(), 1, 0, 0))
		if s, err := book.Check(time.Now()); err != nil || !s.Reached() {
			t.Fatalf("%+v, %v", s, err)
		}
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"agent"}})
		if err != nil || !res.Success {
			t.Errorf("%+v, %v", res, err)
		}
		if s := standing(t, r, "team"); s.Spent < 1.09 || s.Spent > 1.11 {
			t.Errorf("spent $%v", s.Spent)
		}
	})
}
