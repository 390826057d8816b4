//go:build unix

package member_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/budget"
)

// turnCost is what each call costs.
const turnCost = 0.05

// spend has runs of the machine spend until the budget is used up, as belay run does: it waits for a moment where the rest is only reserved. It returns what was spent.
func (m *machine) spend(terms budget.Terms, most float64) (spent float64) {
	m.t.Helper()
	book := m.state.Budgets().Book("team", &terms)
	closed := func() bool {
		for until := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			s, err := book.Check(time.Now())
			if err != nil {
				m.t.Error(err)
			}
			if !s.Reached() {
				return false
			}
			if own, err := book.Own(time.Now()); err != nil || own.Reserved == 0 || time.Now().After(until) {
				return true
			}
		}
	}
	for spent < most-1e-9 && !closed() {
		time.Sleep(2 * time.Millisecond) // a turn is paid for when it is over
		if _, err := book.Charge(time.Now(), budget.Charge{USD: turnCost, Spender: budget.Spender{Profile: "x"}}); err != nil {
			m.t.Error(err)
		}
		spent += turnCost
	}
	return spent
}

// A budget is that of all machines: it is used up by them together, and exceeded by at most one turn of each run that is under way then.
func TestMember_Budgets(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee", "cat")
	terms := budget.Terms{Limit: 5, Window: budget.Day}
	spent := make([]float64, len(list))
	for i, m := range list {
		spent[i] = m.spend(terms, turnCost)
	}
	// Turns are as many as fit in, without an agent that would take seconds for each. So the members learn of the budget first.
	for _, m := range list {
		book := m.state.Budgets().Book("team", nil)
		eventually(t, m.name+" leaves something to the others", func() bool { own, err := book.Own(time.Now()); return err == nil && own.Reserved > 0 })
	}
	const runs = 4
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, m := range list {
		for range runs {
			all.Go(func() {
				here := m.spend(terms, math.Inf(1))
				mu.Lock()
				defer mu.Unlock()
				spent[i] += here
			})
		}
	}
	all.Wait()
	sum := spent[0] + spent[1] + spent[2]
	t.Logf("of $5 three machines with %d runs each have spent %.2f: %.2f", runs, sum, spent)
	if sum < 4.9 || sum > 5+3*runs*turnCost+1e-9 {
		t.Errorf("they have spent %.2f of $5", sum)
	}
}

// A machine that has left the fleet, also while PostgreSQL is away, can spend what is left of the budget by itself.
func TestMember_BudgetAfterLeaving(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	terms := budget.Terms{Limit: 5, Window: budget.Day}
	list[0].spend(terms, turnCost)
	list[1].spend(terms, turnCost)
	book := list[0].state.Budgets().Book("team", nil)
	eventually(t, "some is reserved", func() bool {
		own, err := book.Own(time.Now())
		return err == nil && own.Reserved > 0
	})
	list[0].net.Cut()
	list[0].says("out of reach")
	if err := list[0].leave(); err != nil {
		t.Error(err)
	}
	if s, err := book.Check(time.Now()); err != nil || s.Left() < 5-2*turnCost-1e-9 {
		t.Errorf("%.2f of $5 is left, %v", s.Left(), err)
	}
}

// A machine that is cut off spends what was leased to it, and no more.
func TestMember_BudgetCutOff(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	terms := budget.Terms{Limit: 5, Window: budget.Day}
	if got := a.spend(terms, turnCost) + b.spend(terms, turnCost); got > 2*turnCost+1e-9 {
		t.Fatalf("%.2f", got)
	}
	eventually(t, "both know of both", func() bool {
		for _, m := range list {
			own, err := m.state.Budgets().Book("team", nil).Own(time.Now())
			s, err2 := m.state.Budgets().Book("team", nil).Check(time.Now())
			if err != nil || err2 != nil || own.Reserved == 0 || s.Spent-own.Reserved < 2*turnCost-1e-9 {
				return false
			}
		}
		return true
	})
	s, _ := b.state.Budgets().Book("team", nil).Check(time.Now())
	share := s.Left()
	b.net.Cut()
	b.says("out of reach")
	here := b.spend(terms, math.Inf(1))
	if here > share+turnCost+1e-9 {
		t.Errorf("it has spent %.2f of a share of %.2f", here, share)
	}
	there := a.spend(terms, math.Inf(1))
	total := here + there + 2*turnCost
	t.Logf("cut off with a share of $%.2f it has spent %.2f, the other %.2f: %.2f of $5", share, here, there, total)
	if total > 5+share+2*turnCost {
		t.Errorf("together they have spent %.2f of $5, of which %.2f were leased", total, share)
	}
}
