package term

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/term/termtest"
)

// model is a terminal that can be in another program's hands, or take no output.
type model struct {
	*termtest.Terminal
	t          *testing.T
	mu         sync.Mutex
	background bool
	blocked    bool
	suspended  chan os.Signal
	stops      int
}

func (m *model) Write(p []byte) (int, error) {
	if !m.writable() {
		m.t.Error("a terminal that takes no output was written to")
	}
	return m.Terminal.Write(p)
}

func (m *model) width() int     { return m.Width() }
func (m *model) inFront() bool  { m.mu.Lock(); defer m.mu.Unlock(); return !m.background }
func (m *model) writable() bool { m.mu.Lock(); defer m.mu.Unlock(); return !m.blocked }

func (m *model) suspends() (<-chan os.Signal, func(), func()) {
	return m.suspended, func() {
		m.set(func() { m.stops++ })
		time.Sleep(10 * time.Second)
	}, func() {}
}

func (m *model) set(change func()) { m.mu.Lock(); defer m.mu.Unlock(); change() }

// row is the line that the cursor is in.
func (m *model) row() string {
	line, _ := m.Row()
	return line
}

// onModel returns a screen on a modelled terminal, and a stream of a command on the same.
func onModel(t *testing.T, cols int) (*Screen, io.Writer, *model) {
	t.Helper()
	m := &model{Terminal: termtest.New(cols), t: t, suspended: make(chan os.Signal)}
	s := &Screen{w: m, tty: true, Prefix: "belay: ", inPlace: m, busy: make(chan struct{}, 1)}
	return s, &output{s, m}, m
}

// inBubble runs a test in which time is fake, in a locale that has more characters than ASCII.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	synctest.Test(t, test)
}

// working is a text for a status line that counts how often it was asked for.
func working() func(int) string {
	n := 0
	return func(columns int) string {
		n++
		return fmt.Sprintf("claude %d · Bash npm test 漢字 %s", n, strings.Repeat("and more ", 50))
	}
}

// after waits until so much time has passed, and what is due then is done.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestStatus_AppearsAfterTwoSecondsAndIsGoneAtTheEnd(t *testing.T) {
	for _, cols := range []int{80, 120, 200, 40} {
		inBubble(t, func(t *testing.T) {
			s, _, m := onModel(t, cols)
			stop := s.Status(working(), nil)
			after(1900 * time.Millisecond)
			if got := m.Text(); got != "" {
				t.Errorf("after 1.9s: %q", got)
			}
			after(200 * time.Millisecond)
			if got := m.row(); !strings.HasPrefix(got, "belay: claude 1 · Bash npm test") || !strings.HasSuffix(got, "…") {
				t.Errorf("after 2.1s: %q", got)
			}
			after(3 * time.Second)
			if got := m.Text(); !strings.HasPrefix(got, "belay: claude 4 ·") || strings.Contains(got, "\n") {
				t.Errorf("after 5.1s: %q", got)
			}
			if m.Widest() > cols-1 || m.Widest() < cols-3 {
				t.Errorf("it takes %d of %d columns", m.Widest(), cols)
			}
			stop()
			if got := m.Text(); got != "" {
				t.Errorf("at the end: %q", got)
			}
			after(time.Hour)
			if got := m.Text(); got != "" {
				t.Errorf("later: %q", got)
			}
		})
	}
}

// A quick run shows nothing, not even a sequence.
func TestStatus_QuickRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _, m := onModel(t, 80)
		m.blocked = true // would be an error
		stop := s.Status(working(), nil)
		after(time.Second)
		stop()
		after(time.Minute)
	})
}

// What a command prints, and what belay says, stands where it would without the status line.
func TestStatus_OutputIsWhole(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, out, m := onModel(t, 80)
		stop := s.Status(working(), nil)
		after(5 * time.Second)
		io.WriteString(out, "first\n")
		if got := m.Text(); got != "first\n" {
			t.Errorf("%q", got)
		}
		after(time.Second)
		if got := m.Text(); !strings.HasPrefix(got, "first\nbelay: claude") {
			t.Errorf("%q", got)
		}
		s.Line("a message")
		io.WriteString(out, "half a ")
		after(10 * time.Second)
		if got := m.Text(); got != "first\nbelay: a message\nhalf a" {
			t.Errorf("it was drawn behind half a line: %q", got)
		}
		io.WriteString(out, "line\n")
		after(time.Second)
		stop()
		if got := m.Text(); got != "first\nbelay: a message\nhalf a line\n" {
			t.Errorf("%q", got)
		}
	})
}

// What stands in the line before belay begins stays: printf 'Reviewing: '; belay run …
func TestStatus_BehindHalfALine(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _, m := onModel(t, 80)
		io.WriteString(m, "Reviewing: ")
		stop := s.Status(working(), nil)
		after(5 * time.Second)
		if got := m.Text(); !strings.HasPrefix(got, "Reviewing: belay: claude") || strings.Contains(got, "\n") {
			t.Errorf("%q", got)
		}
		stop()
		io.WriteString(m, "done\n")
		if got := m.Text(); got != "Reviewing: done\n" {
			t.Errorf("%q", got)
		}
	})
}

// A terminal that becomes narrower wraps what stands there. Nothing of it is left.
func TestStatus_Resized(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, out, m := onModel(t, 120)
		io.WriteString(out, "before\n")
		stop := s.Status(working(), nil)
		for _, cols := range []int{200, 50, 30, 80, 15, 120} {
			after(2100 * time.Millisecond)
			m.Resize(cols)
			after(2100 * time.Millisecond)
			if got := strings.Count(m.Text(), "belay"); got != 1 && cols > minStatus || got > 1 {
				t.Errorf("%d columns: %q", cols, m.Text())
			}
			if m.Widest() > cols-1 {
				t.Errorf("it takes %d of %d columns", m.Widest(), cols)
			}
		}
		m.Resize(40)
		io.WriteString(out, "after\n") // before it is redrawn
		if got := m.Text(); got != "before\nafter\n" {
			t.Errorf("%q", got)
		}
		after(2 * time.Second)
		m.Resize(30)
		stop()
		if got := m.Text(); got != "before\nafter\n" || m.Wrapped() > 0 {
			t.Errorf("%q, %d rows were wrapped", got, m.Wrapped())
		}
	})
}

// Ctrl-Z: it is cleared before we stop, and drawn again when we are in front.
func TestStatus_Suspended(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _, m := onModel(t, 80)
		stop := s.Status(working(), nil)
		after(4 * time.Second)
		m.suspended <- syscall.Signal(20) // SIGTSTP, a name that Windows does not have
		synctest.Wait()
		if got := m.Text(); got != "" || m.stops != 1 {
			t.Errorf("%q when we stop", got)
		}
		m.set(func() { m.background = true })
		io.WriteString(m, "$ bg\n$ ")
		after(30 * time.Second)
		if got := m.Text(); got != "$ bg\n$" {
			t.Errorf("in the background: %q", got)
		}
		io.WriteString(m, "fg\nbelay run\n")
		m.set(func() { m.background = false })
		after(2 * time.Second)
		if got := m.Text(); !strings.HasPrefix(got, "$ bg\n$ fg\nbelay run\nbelay: claude") {
			t.Errorf("in front: %q", got)
		}
		stop()
		if got := m.Text(); got != "$ bg\n$ fg\nbelay run\n" {
			t.Errorf("%q", got)
		}
	})
}

// A terminal that takes no output, as after Ctrl-S, holds nothing up.
func TestStatus_Blocked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _, m := onModel(t, 80)
		stop := s.Status(working(), nil)
		after(4 * time.Second)
		m.set(func() { m.blocked = true })
		after(10 * time.Second)
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > time.Second {
			t.Errorf("its end took %v", took)
		}
	})
}

func TestStatus_Plain(t *testing.T) {
	for name, tt := range map[string]struct {
		dumb bool
		want string
	}{
		"a pipe":          {false, "belay: claude is still running (1)\nbelay: claude is still running (2)\n"},
		"a dumb terminal": {true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			synctest.Test(t, func(t *testing.T) {
				s := &Screen{w: &b, dumb: tt.dumb, Prefix: "belay: ", busy: make(chan struct{}, 1)}
				n := 0
				stop := s.Status(nil, func() string { n++; return fmt.Sprintf("claude is still running (%d)", n) })
				after(2*time.Minute + time.Second)
				stop()
			})
			if got := b.String(); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestCountdown_InPlace(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, _, m := onModel(t, 40)
		s.Line("claude failed")
		stop := s.Countdown("retry 1/3 of a command with a long name", time.Now().Add(90*time.Second))
		after(time.Millisecond)
		if got := m.row(); !strings.HasPrefix(got, "belay: retry 1/3 of a command") || m.Widest() > 39 {
			t.Errorf("%q", got)
		}
		stop()
		stop = s.Countdown("retry 1/3", time.Now().Add(90*time.Second))
		after(30*time.Second + time.Millisecond)
		if got := m.row(); !strings.HasPrefix(got, "belay: retry 1/3: 1:00, at ") {
			t.Errorf("%q", got)
		}
		stop()
		if got := m.Text(); got != "belay: claude failed\n" {
			t.Errorf("%q", got)
		}
	})
}

// Whatever is printed and whenever, and however the terminal is resized, at the end there is what there would be without a status line, and
// meanwhile it is there with one row at most at its end.
func TestStatus_LeavesNoTrace(t *testing.T) {
	pieces := []string{"a line\n", "half", " another 漢字 half", "\n", strings.Repeat("long ", 40), "🙂\n", "two\nlines\n", ""}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 18))
		inBubble(t, func(t *testing.T) {
			cols := 30 + random.IntN(170)
			s, out, m := onModel(t, cols)
			want := termtest.New(cols)
			both := func(w io.Writer, text string) {
				io.WriteString(w, text)
				io.WriteString(want, text)
			}
			if random.IntN(2) == 0 {
				both(m, "before: ")
			}
			stop := s.Status(working(), nil)
			for range 30 {
				switch random.IntN(5) {
				case 0, 1:
					both(out, pieces[random.IntN(len(pieces))])
				case 2:
					if s.cursor != cursorInLine { // where belay says something there, it stands behind half a line
						s.Line("a message")
						io.WriteString(want, "belay: a message\n")
					}
				case 3:
					cols := 20 + random.IntN(170)
					m.Resize(cols)
					want.Resize(cols)
				}
				after(time.Duration(random.IntN(2500)) * time.Millisecond)
				got, wanted := m.Text(), want.Text()
				if at := strings.LastIndex(got, "belay: claude"); at >= 0 {
					got = strings.TrimRight(got[:at], " ")
				}
				if got != wanted {
					t.Fatalf("seed %d: %q, want %q", seed, m.Text(), wanted)
				}
			}
			stop()
			if got := m.Text(); got != want.Text() || m.Wrapped() != want.Wrapped() || len(m.Faults()) > 0 {
				t.Fatalf("seed %d: %q, want %q", seed, got, want.Text())
			}
		})
	}
}
