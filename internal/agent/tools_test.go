package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

func TestTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tools agent.Tools
		if use := tools.Use(); len(use.Totals)+len(use.Calls)+use.Cut+tools.Running() != 0 {
			t.Errorf("%+v", use)
		}
		begun := time.Now()
		tools.Begin("a", "Bash")
		tools.Begin("a", "Bash") // a message comes several times
		time.Sleep(2 * time.Second)
		tools.Begin("b", "Read")
		time.Sleep(time.Second)
		tools.End("a")
		tools.End("nobody")
		tools.Begin("c", "Bash")
		time.Sleep(time.Second)
		if tools.Running() != 2 {
			t.Errorf("%d run", tools.Running())
		}
		// What still runs has taken until now.
		want := "[{Bash 2 4s} {Read 1 2s}] [Bash 0s 3s, Read 2s 2s, Bash 3s 1s] 0"
		for range 2 {
			if got := show(tools.Use(), begun); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		tools.EndAll()
		time.Sleep(time.Hour)
		if got := show(tools.Use(), begun); got != want || tools.Running() != 0 {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func show(use agent.ToolUse, begun time.Time) string {
	var calls []string
	for _, c := range use.Calls {
		calls = append(calls, fmt.Sprintf("%s %v %v", c.Name, c.Start.Sub(begun), c.Time))
	}
	return fmt.Sprintf("%v [%s] %d", use.Totals, strings.Join(calls, ", "), use.Cut)
}

// However many there are, and whatever they are called, a few are kept; all are counted.
func TestTools_Many(t *testing.T) {
	var tools agent.Tools
	for i := range 1000 {
		tools.Begin(fmt.Sprint(i), fmt.Sprintf("tool%d", i/2)+strings.Repeat("é", 1000))
	}
	tools.EndAll()
	use := tools.Use()
	count := 0
	for _, one := range use.Totals {
		count += one.Count
		if len(one.Name) > 70 || !strings.HasSuffix(one.Name, "…") {
			t.Errorf("name %q", one.Name)
		}
	}
	if count != 1000 || len(use.Totals) != agent.MaxTools+1 || use.Totals[agent.MaxTools].Name != agent.OtherTools {
		t.Errorf("%d in %+v", count, use.Totals)
	}
	if len(use.Calls) != agent.MaxTools || use.Cut != 1000-agent.MaxTools {
		t.Errorf("%d calls, %d cut", len(use.Calls), use.Cut)
	}
}
