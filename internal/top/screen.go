package top

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// Possible reports whether two streams are a terminal that the screen can be shown on.
func Possible(in io.Reader, out io.Writer) bool {
	kind := os.Getenv("TERM")
	return kind != "" && kind != "dumb" && stdio.IsTerminal(in) && stdio.IsTerminal(out) && inForeground(stdio.FileOf(in))
}

// Show shows the screen until the user quits, one of the signals asks for it or the context ends; the signal is 0 in the first case. The
// source is asked every interval, beside the keys: a slow disk does not hold them up.
func Show(ctx context.Context, in io.Reader, out io.Writer, colored bool, signals <-chan os.Signal, source Source, interval time.Duration) (syscall.Signal, error) {
	profile := colorprofile.ASCII // which has bold and reverse
	if colored {
		profile = colorprofile.ANSI
	}
	s := newScreen(source, interval)
	s.keyboard = stdio.FileOf(in)
	if term.Columns(out) == 0 { // as on a serial line; package tea would draw nothing
		out = struct{ io.Writer }{out}
	}
	p := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(80, 24), tea.WithColorProfile(profile), tea.WithoutSignalHandler())
	continued := make(chan os.Signal, 1)
	notifyContinued(continued)
	defer signal.Stop(continued)
	done := make(chan struct{})
	defer close(done)
	var ended atomic.Int32
	go func() {
		for {
			select {
			case <-done:
				return
			case <-continued:
				p.Send(resumed{})
			case got := <-signals:
				sig, _ := got.(syscall.Signal)
				if s.inBackground() {
					io.WriteString(out, leave)
					os.Exit(128 + int(sig))
				}
				if sig != syscall.SIGINT { // Ctrl-C is a key here
					ended.Store(int32(sig))
				}
				p.Quit()
			}
		}
	}()
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramPanic) {
		panic(err)
	}
	return syscall.Signal(ended.Load()), err
}

// leave gives back the screen, and nothing else: in the background the modes of the terminal are those of another job, and to change
// them would stop us.
const leave = ansi.ResetModifyOtherKeys + "\x1b[<1u" + ansi.ResetModeBracketedPaste + ansi.SetModeTextCursorEnable + ansi.ResetModeAltScreenSaveCursor

// loading is shown until the first look.
const loading = "loading …"

// screen is a [tea.Model].
type screen struct {
	model          *Model
	source         Source
	interval       time.Duration
	columns, lines int
	waiting        int // for the source
	keyboard       *os.File
	away           bool   // another program may have used the terminal
	suspended      bool   // by Ctrl-Z, after which package tea sets up the terminal itself
	shown          string // what is shown

	mu sync.Mutex // one thing at a time is asked of the source
}

func newScreen(source Source, interval time.Duration) *screen {
	return &screen{model: &Model{Snapshot: Snapshot{At: time.Now()}, message: loading}, source: source, interval: interval}
}

// tick says that it is time to look again, resumed that we were stopped.
type (
	tick    struct{}
	resumed struct{}
)

// reclaim is a program that does nothing: after one, package tea sets up the terminal again.
type reclaim struct{}

func (reclaim) Run() error          { return nil }
func (reclaim) SetStdin(io.Reader)  {}
func (reclaim) SetStdout(io.Writer) {}
func (reclaim) SetStderr(io.Writer) {}

// inBackground reports whether another job has the terminal.
func (s *screen) inBackground() bool { return s.keyboard != nil && !inForeground(s.keyboard) }

// reclaim sets up the terminal again if another program has had it since.
func (s *screen) reclaim() tea.Cmd {
	if !s.away || s.inBackground() {
		return nil
	}
	s.away = false
	return tea.Sequence(tea.Exec(reclaim{}, nil), tea.ClearScreen)
}

// finding is what was found, or said by what was done.
type finding struct {
	snapshot Snapshot
	run      string // the id of the one whose lines these are
	lines    []journal.Entry
	said     string
}

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return tea.Batch(s.do(Action{}), s.later()) }

func (s *screen) later() tea.Cmd {
	return tea.Tick(s.interval, func(time.Time) tea.Msg { return tick{} })
}

// maxWaiting is how many actions can wait for a source that hangs. The others are dropped: the user will ask again.
const maxWaiting = 8

// do does something and looks again.
func (s *screen) do(a Action) tea.Cmd {
	if s.waiting >= maxWaiting || a.Kind == Nothing && s.waiting > 0 {
		return nil
	}
	s.waiting++
	run, looked := s.model.Looked()
	return func() tea.Msg {
		s.mu.Lock()
		defer s.mu.Unlock()
		f := finding{}
		if a.Kind != Nothing && a.Kind != Refresh {
			f.said = s.source.Do(a)
		}
		f.snapshot = s.source.Snapshot()
		if looked {
			f.run, f.lines = run.ID, s.source.Lines(run)
		}
		return f
	}
}

// Update implements [tea.Model].
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.columns, s.lines = msg.Width, msg.Height
	case tick:
		s.away = s.away || s.inBackground()
		return s, tea.Batch(s.reclaim(), s.do(Action{}), s.later())
	case resumed:
		if s.suspended { // to set up the terminal twice at once would leave it empty
			s.suspended = false
			return s, tea.ClearScreen
		}
		s.away = true
		return s, s.reclaim()
	case finding:
		s.waiting--
		if s.model.message == loading {
			s.model.Say("")
		}
		s.model.Update(msg.snapshot)
		s.model.SetLines(msg.run, msg.lines)
		if msg.said != "" {
			s.model.Say(msg.said)
		}
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+z" && canStop() {
			s.suspended = true
			return s, tea.Suspend
		}
		switch a := s.model.Press(msg.String()); a.Kind {
		case Nothing:
		case Quit:
			return s, tea.Quit
		default:
			return s, s.do(a)
		}
	}
	return s, nil
}

// View implements [tea.Model]. In the background it stays as it is, so that nothing is drawn.
func (s *screen) View() tea.View {
	if s.lines > 0 && !s.inBackground() {
		s.model.Fit(s.columns, s.lines)
		s.shown = strings.Join(s.model.Rows(s.columns, s.lines), "\n")
	}
	v := tea.NewView(s.shown)
	v.AltScreen = true
	return v
}
