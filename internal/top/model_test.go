package top

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/supervise"
)

func newModel() *Model {
	m := new(Model)
	m.Update(example())
	return m
}

// Nothing is done without a yes.
func TestModel_AsksFirst(t *testing.T) {
	m := newModel()
	for _, keys := range []string{"xn", "xq", "xx", "c ", "x\x1b", "r"} {
		for _, key := range keys {
			if a := m.Press(string(key)); a.Kind != Nothing {
				t.Errorf("%q does %v", keys, a.Kind)
			}
		}
	}
	m.Press("x")
	if a := m.Press("y"); a.Kind != Cancel || a.Run.ID != example().Runs[0].ID {
		t.Errorf("x and y do %v with %q", a.Kind, a.Run.ID)
	}
	m.Press("G")
	m.Press("x")
	if a := m.Press("y"); a.Kind != Reap {
		t.Errorf("with a killed run they do %v", a.Kind)
	}
	m.Press("tab")
	m.Press("x")
	if a := m.Press("y"); a.Kind != Nothing {
		t.Errorf("with a gate they do %v", a.Kind)
	}
	m.Press("r")
	if a := m.Press("y"); a.Kind != Reset || a.Gate != "claude/api" {
		t.Errorf("r and y do %v with %q", a.Kind, a.Gate)
	}
	m.Press("j")
	m.Press("r")
	if a := m.Press("y"); a.Kind != Nothing || !strings.Contains(m.Rows(80, 24)[23], "q quit") {
		t.Errorf("there is nothing to reset of a gate that is full, and r does %v", a.Kind)
	}
	for _, key := range []string{"q", "ctrl+c"} {
		if a := m.Press(key); a.Kind != Quit {
			t.Errorf("%s does %v", key, a.Kind)
		}
	}
	m.Press("tab")
	m.Press("x")
	if a := m.Press("ctrl+c"); a.Kind != Quit {
		t.Errorf("Ctrl-C at a question does %v", a.Kind)
	}
}

// What is asked about is what was chosen when it was asked, whatever the list looks like when the answer comes.
func TestModel_ChoiceStays(t *testing.T) {
	m := newModel()
	m.Press("j")
	chosen := example().Runs[1].ID
	m.Press("x")
	s := example()
	s.Runs = append([]supervise.Record{{ID: "0", Command: "new"}}, s.Runs[1:]...)
	m.Update(s)
	if a := m.Press("y"); a.Run.ID != chosen {
		t.Errorf("%q is cancelled, not %q", a.Run.ID, chosen)
	}
	s.Runs = s.Runs[2:]
	m.Update(s) // the chosen one has ended
	m.Press("x")
	if a := m.Press("y"); a.Run.ID != s.Runs[1].ID {
		t.Errorf("%q is chosen in its place, not %q", a.Run.ID, s.Runs[1].ID)
	}
	m.Update(Snapshot{At: at})
	m.Press("x")
	if a := m.Press("y"); a.Kind != Nothing {
		t.Errorf("with no run x and y do %v", a.Kind)
	}
	m.Press("enter")
	m.Press("tab")
	m.Press("enter")
	m.Press("r")
	m.Rows(80, 24)
}

// A run that ends while it is looked at stays on the screen, and cannot be cancelled.
func TestModel_LookedAtEnds(t *testing.T) {
	m := newModel()
	if a := m.Press("enter"); a.Kind != Refresh {
		t.Errorf("Enter does %v", a.Kind)
	}
	m.SetLines("another", lines())
	m.Update(Snapshot{At: at})
	m.SetLines(example().Runs[0].ID, lines()[2:])
	text := plain(m.Rows(80, 24))
	for _, want := range []string{"20261116-130158-1f0c9a3e\n", "now        ended\n", "attempt 3: ok\n", "/home/me/src/shop\n", "nightly team=web\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	m.Press("x")
	if a := m.Press("y"); a.Kind != Nothing {
		t.Errorf("x and y do %v", a.Kind)
	}
	m.Press("esc")
	if text := plain(m.Rows(80, 24)); !strings.Contains(text, "all gates are healthy") {
		t.Errorf("Esc does not lead back:\n%s", text)
	}
}

// Whatever is shown, in whatever size, after whatever keys: it fits, and nothing panics.
func TestModel_AlwaysFits(t *testing.T) {
	keys := []string{"j", "k", "g", "G", "x", "y", "n", "r", "?", "tab", "enter", "esc", "pgdown", "pgup", "end", " "}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := example()
		s.Runs, s.Gates, s.Budgets = s.Runs[r.IntN(5):], s.Gates[r.IntN(3):], s.Budgets[r.IntN(3):]
		if r.IntN(2) == 0 {
			s.Runs[0].Command, s.Runs[0].Activity = "\x1b[31m漢字\n", strings.Repeat("x\u0301🙂 ", r.IntN(40))
			s.Gates[0].Key, s.Trouble = strings.Repeat("漢", r.IntN(60)), strings.Repeat("trouble ", r.IntN(30))
		}
		if r.IntN(8) == 0 {
			s = Snapshot{At: at}
		}
		m := new(Model)
		m.Update(s)
		columns, height := 1+r.IntN(130), 1+r.IntN(40)
		for range r.IntN(12) {
			m.Press(keys[r.IntN(len(keys))])
			if looked, ok := m.Looked(); ok {
				m.SetLines(looked.ID, lines())
			}
			m.Fit(columns, height)
			check(t, m.Rows(columns, height), columns, height)
			if t.Failed() {
				t.Fatalf("at %dx%d", columns, height)
			}
		}
	}
}
